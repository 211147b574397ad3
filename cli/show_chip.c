/* coremap show: chips, and occupancies of them. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "core/chip/occupancy.h"

static void show_limit(const char *name, uint64_t limit)
{
  if (limit != 0)
    printf("  %-16s %llu per core\n", name, (unsigned long long)limit);
}

static void show_limits(const cm_limits *limits)
{
  show_limit("neurons", limits->neurons);
  show_limit("synapses", limits->synapses);
  show_limit("inbound axons", limits->inbound_axons);
  show_limit("outbound axons", limits->outbound_axons);
  show_limit("target cores", limits->target_cores);
  show_limit("bits of memory", limits->memory_bits);
  show_limit("populations", limits->populations);
}

/* What one neuron may take in and reach. */
static void show_neuron_limits(const cm_chip *chip)
{
  if (chip->limits.fan_in != 0)
    printf("  %-16s %llu per neuron%s\n", "fan-in", (unsigned long long)chip->limits.fan_in,
           chip->relays ? ", further ones through relays" : "");
  if (chip->limits.neuron_target_cores != 0)
    printf("  %-16s %llu per neuron, further ones by copies of it\n", "target cores",
           (unsigned long long)chip->limits.neuron_target_cores);
}

static void show_network_on_chip(const cm_chip *chip)
{
  json_t *stated = cm_chip_json(chip);
  const char *kind = json_string_value(json_object_get(json_object_get(stated, "interconnect"), "kind"));
  bool torus = chip->torus_x || chip->torus_y;
  printf("  %-16s %s%s\n", "interconnect", kind != NULL ? kind : torus ? "torus" : "mesh", kind != NULL && torus ? ", torus" : "");
  json_decref(stated);
  if (chip->table_entries != 0)
    printf("  %-16s %u entries per router\n", "routing table", chip->table_entries);
}

static void show_classes(const cm_chip *chip)
{
  for (uint32_t k = 0; k < chip->class_count; k++) {
    const cm_core_class *c = &chip->classes[k];
    uint32_t cores = 0;
    for (uint32_t i = 0; i < cm_chip_cores(chip); i++)
      cores += chip->class_of[i] == k + 1;
    printf("  class %s: %u cores, takes", c->name, cores);
    for (uint32_t i = 0; i < c->label_count; i++)
      printf("%s %s", i == 0 ? "" : ",", c->label[i]);
    puts(c->label_count == 0 ? " any label" : "");
    if (c->own_limits)
      show_limits(&c->limits);
  }
}

int cli_show_chip(const cm_chip *chip, bool json, cm_error *error)
{
  if (json) {
    char *text;
    if (cm_chip_print(chip, &text, error) != CM_OK)
      return cli_fail(error);
    puts(text);
    free(text);
    return EXIT_DONE;
  }
  printf("chip %s: %s\n", chip->name, chip->description);
  printf("  %-16s %u x %u (%u x %u dies of %u x %u), %u x %u behind a router\n", "cores", chip->width, chip->height,
         chip->dies_x, chip->dies_y, chip->die_width, chip->die_height, chip->router_x, chip->router_y);
  show_limits(&chip->limits);
  show_neuron_limits(chip);
  show_network_on_chip(chip);
  printf("  %-16s router %g pJ, link east-west %g, north-south %g, between dies %g\n", "energy", chip->energy_pj.router,
         chip->energy_pj.east_west, chip->energy_pj.north_south, chip->energy_pj.die_to_die);
  printf("  %-16s router %g ns, link east-west %g, north-south %g, between dies %g\n", "latency",
         chip->latency_ns.router, chip->latency_ns.east_west, chip->latency_ns.north_south,
         chip->latency_ns.die_to_die);
  if (chip->dead_core_count + chip->dead_link_count > 0)
    printf("  %-16s %u cores, %u links\n", "dead", chip->dead_core_count, chip->dead_link_count);
  show_classes(chip);
  return EXIT_DONE;
}

int cli_show_occupancy(const char *path, const cm_chip *chip, bool json, cm_error *error)
{
  cm_occupancy *occupancy;
  cm_fragmentation f;
  char *text = NULL;
  cm_status status = cli_occupancy(path, chip, &occupancy, error);
  if (status != CM_OK)
    return cli_fail(error);
  status = json ? cm_occupancy_print(occupancy, chip, &text, error) : cm_fragmentation_of(occupancy, &f, error);
  uint32_t broken = 0, cores = cm_chip_cores(chip);
  for (uint32_t c = 0; c < cores; c++)
    broken += occupancy->state[c] == CM_CORE_BROKEN;
  cm_occupancy_free(occupancy);
  if (status != CM_OK)
    return cli_fail(error);
  if (json)
    fputs(text, stdout);
  else {
    printf("occupancy of %s\n", chip->name);
    printf("  %-16s %u of %u, %u taken, %u broken\n", "free", f.free, cores, cores - f.free - broken, broken);
    printf("  %-16s %.1f %%: %u piece%s, the largest of %u cores, the largest free rectangle of %llu\n",
           "fragmentation", 100 * f.value, f.pieces, f.pieces == 1 ? "" : "s", f.largest_piece,
           (unsigned long long)f.largest_rectangle);
  }
  free(text);
  return EXIT_DONE;
}

int cli_list_chips(cm_error *error)
{
  for (const char *const *name = cm_chip_presets(); *name != NULL; name++) {
    cm_chip *chip;
    if (cm_chip_open(*name, &chip, error) != CM_OK)
      return cli_fail(error);
    printf("%-12s %4u x %-4u %s\n", *name, chip->width, chip->height, chip->description);
    cm_chip_free(chip);
  }
  return EXIT_DONE;
}
