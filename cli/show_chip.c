/* coremap show: chips, and occupancies of them. */
#include <jansson.h>

#include "base/json.h"
#include "cli/show.h"

static void show_limits(const json_t *limits)
{
  static const char *const shown[][2] = {{"neurons", "neurons"}, {"synapses", "synapses"}, {"inbound_axons", "inbound axons"},
                                         {"outbound_axons", "outbound axons"}, {"target_cores", "target cores"}, {"source_cores", "source cores"},
                                         {"memory_bits", "bits of memory"}, {"populations", "populations"}};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    if (cli_number(limits, shown[i][0]) != 0)
      cli_printf(stdout, "  %-16s %" JSON_INTEGER_FORMAT " per core\n", shown[i][1], json_integer_value(json_object_get(limits, shown[i][0])));
}

/* What one neuron may take in and reach. */
static void show_neuron_limits(const json_t *chip)
{
  const json_t *limits = json_object_get(chip, "neuron_limits");
  if (cli_number(limits, "fan_in") != 0)
    cli_printf(stdout, "  %-16s %.0f per neuron%s\n", "fan-in", cli_number(limits, "fan_in"),
           json_is_true(json_object_get(chip, "relays")) ? ", further ones through relays" : "");
  if (cli_number(limits, "target_cores") != 0)
    cli_printf(stdout, "  %-16s %.0f per neuron, further ones by copies of it\n", "target cores", cli_number(limits, "target_cores"));
  if (cli_number(limits, "near_synapses") != 0)
    cli_printf(stdout, "  %-16s %.0f per neuron, to other cores of its cluster\n", "near synapses", cli_number(limits, "near_synapses"));
  if (cli_number(limits, "far_synapses") != 0)
    cli_printf(stdout, "  %-16s %.0f per neuron, beyond its cluster\n", "far synapses", cli_number(limits, "far_synapses"));
}

static void show_network_on_chip(const json_t *chip)
{
  const json_t *around = json_object_get(chip, "torus");
  const char *kind = cli_text(chip, "interconnect");
  const bool torus = json_is_true(json_array_get(around, 0)) || json_is_true(json_array_get(around, 1)), mesh = strcmp(kind, "mesh") == 0;
  cli_printf(stdout, "  %-16s %s%s\n", "interconnect", mesh && torus ? "torus" : kind, !mesh && torus ? ", torus" : "");
  if (cli_number(chip, "table_entries") != 0)
    cli_printf(stdout, "  %-16s %s per router\n", "routing table", cli_count(cli_number(chip, "table_entries"), "entry").text);
}

/* What the cores of a router or die share, and links carry, as the chip's file says it. */
static void show_shared(const json_t *file)
{
  static const char *const of[][2] = {{"router_limits", "per router"}, {"die_limits", "per die"}, {"circuits", "circuits"}};
  const char *name;
  json_t *value;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    json_object_foreach(json_object_get(file, of[i][0]), name, value)
      cli_printf(stdout, "  %-16s %" JSON_INTEGER_FORMAT " %s\n", name, json_integer_value(value), of[i][1]);
}

static void show_classes(const json_t *classes)
{
  const json_t *c, *label;
  size_t k, i;
  json_array_foreach(classes, k, c) {
    const json_t *labels = json_object_get(c, "labels");
    cli_printf(stdout, "  class %s: %s, takes", cli_text(c, "name"), cli_count(cli_number(c, "cores"), "core").text);
    json_array_foreach(labels, i, label)
      cli_printf(stdout, "%s %s", i == 0 ? "" : ",", json_string_value(label));
    cli_printf(stdout, "%s%s\n", json_array_size(labels) == 0 ? " any label" : "", json_is_true(json_object_get(c, "pinned_only")) ? ", of pinned neurons only" : "");
    show_limits(json_object_get(c, "limits"));
  }
}

static void show_costs(const char *title, const char *unit, const json_t *costs)
{
  cli_printf(stdout, "  %-16s router %g %s, link east-west %g, north-south %g, between dies %g\n", title, cli_number(costs, "router"), unit,
         cli_number(costs, "east_west"), cli_number(costs, "north_south"), cli_number(costs, "die_to_die"));
}

static double nth(const json_t *chip, const char *name, size_t i)
{
  return json_number_value(json_array_get(json_object_get(chip, name), i));
}

static void show_chip(const json_t *chip, const json_t *file)
{
  cli_printf(stdout, "chip %s: %s\n", cli_text(chip, "name"), cli_text(chip, "description"));
  cli_printf(stdout, "  %-16s %.0f x %.0f (%.0f x %.0f dies of %.0f x %.0f), %.0f x %.0f behind a router\n", "cores", nth(chip, "cores", 0),
         nth(chip, "cores", 1), nth(chip, "dies", 0), nth(chip, "dies", 1), nth(chip, "die_cores", 0), nth(chip, "die_cores", 1),
         nth(chip, "router_cores", 0), nth(chip, "router_cores", 1));
  show_limits(json_object_get(chip, "limits"));
  show_neuron_limits(chip);
  show_shared(file);
  show_network_on_chip(chip);
  show_costs("energy", "pJ", json_object_get(chip, "energy_pj"));
  show_costs("latency", "ns", json_object_get(chip, "latency_ns"));
  if (cli_number(chip, "dead_cores") + cli_number(chip, "dead_links") > 0)
    cli_printf(stdout, "  %-16s %s, %s\n", "dead", cli_count(cli_number(chip, "dead_cores"), "core").text,
           cli_count(cli_number(chip, "dead_links"), "link").text);
  show_classes(json_object_get(chip, "classes"));
}

/* What the library says of a chip; NULL: *error says why not. */
static json_t *about(const coremap_chip *chip, cm_error *error)
{
  char *text;
  return library_status(coremap_chip_about(chip, &text, &cli_why), &cli_why, error) == CM_OK ? library_json(text) : NULL;
}

int cli_show_chip(const char *name, bool json, cm_error *error)
{
  coremap_chip *chip;
  if (cli_chip(name, NULL, NULL, &chip, error) != CM_OK)
    return cli_fail(error);
  char *text = coremap_chip_json(chip);
  json_t *told = json ? NULL : about(chip, error), *file = json || text == NULL ? NULL : cm_json_loadb(text, strlen(text), 0, NULL);
  coremap_chip_free(chip);
  if (text == NULL)
    (void)cm_whole(false, "the chip", error);
  if (json ? text == NULL : told == NULL || file == NULL)
    return cli_fail(error);
  if (json)
    cli_puts(text);
  else
    show_chip(told, file);
  coremap_text_free(text);
  json_decref(file);
  json_decref(told);
  return EXIT_DONE;
}

static void show_occupancy(const json_t *chip)
{
  const json_t *o = json_object_get(chip, "occupancy");
  cli_printf(stdout, "occupancy of %s\n", cli_text(chip, "name"));
  cli_printf(stdout, "  %-16s %.0f of %.0f, %.0f taken, %.0f broken\n", "free", cli_number(o, "free"), nth(chip, "cores", 0) * nth(chip, "cores", 1),
         cli_number(o, "taken"), cli_number(o, "broken"));
  cli_printf(stdout, "  %-16s %.1f %%: %s, the largest of %s, the largest free rectangle of %.0f\n", "fragmentation",
             100 * cli_number(o, "fragmentation"), cli_count(cli_number(o, "pieces"), "piece").text,
             cli_count(cli_number(o, "largest_piece"), "core").text, cli_number(o, "largest_rectangle"));
}

int cli_show_occupancy(const char *path, const char *name, bool json, cm_error *error)
{
  coremap_chip *chip;
  char *text = NULL;
  json_t *told = NULL;
  if (cli_chip(name, NULL, path, &chip, error) != CM_OK)
    return cli_fail(error);
  cm_status status = CM_OK;
  if (json)
    status = library_status(coremap_chip_occupancy(chip, &text, &cli_why), &cli_why, error);
  else if ((told = about(chip, error)) == NULL)
    status = error->status;
  coremap_chip_free(chip);
  if (status != CM_OK)
    return cli_fail(error);
  if (json)
    cli_printf(stdout, "%s", text);
  else
    show_occupancy(told);
  coremap_text_free(text);
  json_decref(told);
  return EXIT_DONE;
}

int cli_list_chips(cm_error *error)
{
  const char *name;
  for (uint32_t i = 0; (name = coremap_chip_preset(i)) != NULL; i++) {
    coremap_chip *chip;
    if (cli_chip(name, NULL, NULL, &chip, error) != CM_OK)
      return cli_fail(error);
    json_t *told = about(chip, error);
    coremap_chip_free(chip);
    if (told == NULL)
      return cli_fail(error);
    cli_printf(stdout, "%-12s %4.0f x %-4.0f %s\n", name, nth(told, "cores", 0), nth(told, "cores", 1), cli_text(told, "description"));
    json_decref(told);
  }
  return EXIT_DONE;
}
