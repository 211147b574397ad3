/* coremap show: mappings. */
#include <jansson.h>

#include "cli/show.h"

/* "name value" lines of an object's plain members. */
static void show_members(const char *title, const json_t *object)
{
  const char *name;
  json_t *value;
  cli_printf(stdout, "  %s\n", title);
  json_object_foreach((json_t *)object, name, value)
  {
    if (json_is_number(value))
      cli_printf(stdout, "    %-24s %.10g\n", name, json_number_value(value));
    else if (json_is_string(value))
      cli_printf(stdout, "    %-24s %s\n", name, json_string_value(value));
  }
}

int cli_show_mapping(const char *path, bool as_json, const char *plot, cm_error *error)
{
  char *text;
  if (library_status(coremap_mapping_about(path, &text, &cli_why), &cli_why, error) != CM_OK)
    return cli_fail(error);
  if (plot != NULL && library_status(coremap_pareto_draw(text, plot, &cli_why), &cli_why, error) != CM_OK) {
    coremap_text_free(text);
    return cli_fail(error);
  }
  json_t *summary = library_json(text);
  if (as_json)
    (void)cli_write_json(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(15), stdout);
  else {
    const json_t *network = json_object_get(summary, "network"), *chip = json_object_get(summary, "chip");
    cli_printf(stdout, "mapping of %" JSON_INTEGER_FORMAT " neurons to %" JSON_INTEGER_FORMAT " cores of %s\n",
           json_integer_value(json_object_get(network, "neurons")),
           json_integer_value(json_object_get(summary, "parts")), json_string_value(json_object_get(chip, "name")));
    show_members("region", json_object_get(summary, "region"));
    show_members("options", json_object_get(summary, "options"));
    show_members("metrics", json_object_get(summary, "metrics"));
    cli_print_scenarios(json_object_get(summary, "scenarios"));
    cli_print_steps(json_object_get(summary, "report"));
  }
  json_decref(summary);
  return EXIT_DONE;
}

/* ---- what it is made of ---- */

/* "x,y" of a core, "x,y east" or "from-to" of a link. */
static cm_phrase place_of(const json_t *row)
{
  return json_object_get(row, "from") != NULL ? cm_say("%.0f-%.0f", cli_number(row, "from"), cli_number(row, "to"))
                                              : cm_say("%.0f,%.0f%s%.20s", cli_number(row, "x"), cli_number(row, "y"),
                                                       json_object_get(row, "direction") != NULL ? " " : "", cli_text(row, "direction"));
}

/* A neuron, its name if it has one, and its place. */
static void show_neuron(const json_t *row)
{
  const char *name = cli_text(row, "name");
  cli_printf(stdout, "neuron %.0f%s%s on %s", cli_number(row, "neuron"), *name != '\0' ? " " : "", name, place_of(row).text);
}

static void show_sinks(const char *title, const json_t *rows)
{
  const json_t *row, *axon;
  size_t i, k;
  json_array_foreach(rows, i, row) {
    cli_printf(stdout, "%-6s %-14s %-7s %12.10g packets, %s\n", title, place_of(row).text, cli_text(row, "port"), cli_number(row, "load"),
               cli_count(cli_number(row, "axon_count"), "axon").text);
    json_array_foreach(json_object_get(row, "axons"), k, axon) {
      cli_printf(stdout, "%9s", "");
      show_neuron(axon);
      cli_printf(stdout, " %12.10g\n", cli_number(axon, "packets"));
    }
  }
}

static void show_links(const json_t *told)
{
  show_sinks("link", json_object_get(told, "links"));
  show_sinks("port", json_object_get(told, "ports"));
}

static void show_neurons(const json_t *told)
{
  const json_t *one, *target;
  size_t i, k;
  if (cli_number(told, "count") == 0)
    cli_puts("no such neuron");
  json_array_foreach(json_object_get(told, "neurons"), i, one) {
    show_neuron(one);
    cli_printf(stdout, " part %.0f, fan-in %.0f, fan-out %.0f\n", cli_number(one, "part"), cli_number(one, "fan_in"), cli_number(one, "fan_out"));
    json_array_foreach(json_object_get(one, "targets"), k, target)
      cli_printf(stdout, "  on %-10s %s, %.10g packets\n", place_of(target).text, cli_count(cli_number(target, "synapses"), "synapse").text,
                 cli_number(target, "packets"));
  }
}

static void show_way(const char *title, const json_t *flows, const char *end)
{
  const json_t *flow;
  size_t i;
  cli_printf(stdout, "%s %.10g packets, %s\n", title, cli_number(flows, "packets"), cli_count(cli_number(flows, "count"), "core").text);
  json_array_foreach(json_object_get(flows, "flows"), i, flow) {
    const json_t *core = json_object_get(flow, end);
    cli_printf(stdout, "  %.0f,%-8.0f %12.10g packets of %s\n", json_number_value(json_array_get(core, 0)), json_number_value(json_array_get(core, 1)),
               cli_number(flow, "packets"), cli_count(cli_number(flow, "axons"), "axon").text);
  }
}

static void show_flows(const json_t *told)
{
  cli_printf(stdout, "%s\n", cli_count(cli_number(told, "neurons"), "neuron").text);
  show_way("out", json_object_get(told, "out"), "to");
  show_way("in", json_object_get(told, "in"), "from");
}

/* Links or targets of a tree. */
static void show_branches(const char *title, const json_t *rows)
{
  const json_t *row;
  size_t i;
  json_array_foreach(rows, i, row)
    cli_printf(stdout, "  %s %-14s %12.10g packets\n", title, place_of(row).text, cli_number(row, "packets"));
}

static void show_tree(const json_t *told)
{
  const json_t *table;
  size_t i;
  show_neuron(told);
  if (cli_number(told, "axons") > 1)
    cli_printf(stdout, ", axon %.0f of 0 to %.0f", cli_number(told, "axon"), cli_number(told, "axons") - 1);
  cli_printf(stdout, ": %s to %s on other cores\n", cli_count(cli_number(told, "link_count"), "link").text,
             cli_count(cli_number(told, "target_count"), "target").text);
  show_branches("link", json_object_get(told, "links"));
  show_branches("to  ", json_object_get(told, "targets"));
  json_array_foreach(json_object_get(told, "routers"), i, table)
    cli_printf(stdout, "  router %-12.0f %12.0f table entries\n", cli_number(table, "router"), cli_number(table, "entries"));
}

static const struct {
  const char *question; /* what is asked for follows */
  void (*show)(const json_t *told);
} kinds[] = {[CLI_ASK_LINKS] = {"links?axons=5&limit=", show_links}, [CLI_ASK_NEURON] = {"neurons?find=", show_neurons},
             [CLI_ASK_CORE] = {"flows?core=", show_flows}, [CLI_ASK_TREE] = {"tree?neuron=", show_tree}};

/* What the library answers; NULL: *error says why not. */
static json_t *ask(const cli_mapping_question *q, const char *question, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  cli_run cli;
  char *text = NULL;
  size_t size;
  json_t *told = NULL;
  cli_run_begin_silent(&cli);
  cm_status status = cli_network(q->network, q->format, false, &cli.run, &network, error);
  CM_THEN(status, library_status(coremap_mapping_open(q->mapping, network, NULL, library_on_run, &cli.run, &mapping, &cli_why), &cli_why, error));
  CM_THEN(status, library_status(coremap_mapping_text(mapping, question, &text, &size, &cli_why), &cli_why, error));
  if (status == CM_OK && (told = library_json(text)) == NULL)
    (void)cm_whole(false, "an answer", error);
  cli_run_end(&cli);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  return told;
}

int cli_ask_mapping(const cli_mapping_question *q, cm_error *error)
{
  char question[4096] = ""; /* longer names are cut, and found by their beginning */
  size_t used = (size_t)snprintf(question, sizeof question, "%s", kinds[q->kind].question);
  for (const char *p = q->value; *p != '\0' && used + 8 < sizeof question; p++) /* whatever a name has in it */
    used += (size_t)(q->kind == CLI_ASK_TREE && *p == ',' ? snprintf(question + used, sizeof question - used, "&axon=")
                                                         : snprintf(question + used, sizeof question - used, "%%%02X", (unsigned)(unsigned char)*p));
  json_t *told = ask(q, question, error);
  if (told == NULL)
    return cli_fail(error);
  if (q->json)
    cli_print_json(told);
  else
    kinds[q->kind].show(told);
  json_decref(told);
  return EXIT_DONE;
}
