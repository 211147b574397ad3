/* SANA-FE (Boyle et al., IEEE TCAD 2025; https://github.com/SLAM-Lab/SANA-FE): architecture, network and mapping in one YAML
 * file, which its simulator takes for both of its arguments. Tiles are routers, numbered column by column as it does. What the
 * chip charges (docs/explanation/step-time.md) goes to the units of SANA-FE's cores. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/chip/turns.h"
#include "core/measure/step_time.h"
#include "core/output/exports/sanafe_pacing.h"
#include "core/output/exports/sanafe_running.h"
#include "core/output/exports/writers.h"

typedef struct writer {
  const cm_mapped *m;
  cm_groups groups;
  cm_sanafe_running running;
  cm_sanafe_pacing pacing;
  uint32_t *sources; /* [parts] units of inputs that are taken */
  uint32_t sources_max;
  FILE *out;
} writer;

/* A group's name: letters, digits and '_', distinct by its number where the network names it. */
static void put_group(const writer *w, uint32_t p)
{
  const cm_topology *t = w->m->demand->network;
  if (t->population_count == 0) {
    (void)fputs("neurons", w->out);
    return;
  }
  (void)fprintf(w->out, "p%" PRIu32 "_", p);
  for (const char *c = t->population[p].name; *c != '\0'; c++)
    (void)fputc(isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_', w->out);
}

static uint32_t population_of(const writer *w, uint32_t neuron)
{
  return w->m->demand->network->population_count > 0 ? w->m->demand->network->population_of[neuron] : 0;
}

static bool is_input(const writer *w, uint32_t neuron)
{
  const cm_topology *t = w->m->demand->network;
  if (w->running.semantics != NULL)
    return t->dynamics->model[neuron] == CM_NEURON_INPUT;
  return t->population_count > 0 && strcmp(t->population[t->population_of[neuron]].kind, CM_INPUT_KIND) == 0;
}

/* ---- architecture ---- */

static void put_unit(FILE *out, const char *unit, const char *name, const char *model)
{
  (void)fprintf(out, "          %s:\n            - name: %s\n              attributes:\n", unit, name);
  if (model != NULL)
    (void)fprintf(out, "                model: %s\n", model);
}

static void put_cost(FILE *out, const char *what, double pj, double ns)
{
  (void)fprintf(out, "                energy_%s: %.9ge-12\n                latency_%s: %.9ge-9\n", what, pj, what, ns);
}

/* Of a unit before which its core waits. */
static void put_soma_costs(FILE *out, const cm_charge_cost *charge, double wait_ns)
{
  put_cost(out, "access_neuron", charge[CM_CHARGE_NEURON].pj, charge[CM_CHARGE_NEURON].ns + wait_ns);
  put_cost(out, "update_neuron", 0, 0);
  put_cost(out, "spike_out", charge[CM_CHARGE_SPIKE].pj, charge[CM_CHARGE_SPIKE].ns);
}

/* SANA-FE looks the barrier up by its own tiles, the routers; where the chip's tiles are others, it is what this mapping takes. */
static void put_barrier(const writer *w, uint32_t tiles)
{
  const cm_chip *chip = w->m->chip;
  const cm_barrier *b = &chip->costs.barrier;
  if (b->points == 0 || b->tile_x != chip->router_x || b->tile_y != chip->router_y) {
    (void)fprintf(w->out, "    sync_model: fixed\n    latency_sync: %.9ge-9\n", cm_barrier_ns(b, tiles));
    return;
  }
  (void)fputs("    sync_model: table\n    latency_sync: {", w->out);
  for (uint32_t i = 0; i < b->points; i++)
    (void)fprintf(w->out, "%s%" PRIu32 ": %.9ge-9", i == 0 ? "" : ", ", b->tiles[i], b->ns[i]);
  (void)fputs("}\n", w->out);
}

static void put_architecture(const writer *w, uint32_t tiles)
{
  static const struct {
    const char *name;
    bool across;
  } hops[] = {{"north", false}, {"east", true}, {"south", false}, {"west", true}};
  const cm_chip *chip = w->m->chip;
  const cm_charge_cost *charge = chip->costs.charge;
  FILE *out = w->out;
  uint32_t x = cm_chip_routers_x(chip), y = cm_chip_routers_y(chip);
  (void)fprintf(out, "architecture:\n  name: chip\n  attributes:\n    topology: mesh\n    width: %" PRIu32 "\n    height: %" PRIu32
                "\n    link_buffer_size: 16\n", x, y);
  put_barrier(w, tiles);
  (void)fprintf(out, "  tile:\n    - name: tile[0..%" PRIu32 "]\n      attributes:\n", x * y - 1);
  for (size_t i = 0; i < sizeof hops / sizeof *hops; i++)
    (void)fprintf(out, "        energy_%s_hop: %.9ge-12\n        latency_%s_hop: %.9ge-9\n", hops[i].name,
                  chip->energy_pj.router + (hops[i].across ? chip->energy_pj.east_west : chip->energy_pj.north_south), hops[i].name,
                  chip->latency_ns.router + (hops[i].across ? chip->latency_ns.east_west : chip->latency_ns.north_south));
  (void)fprintf(out, "      core:\n        - name: core[0..%" PRIu32 "]\n          attributes:\n            buffer_position: soma\n"
                "            max_neurons_supported: %" PRIu64 "\n",
                chip->router_x * chip->router_y - 1,
                chip->limits.neurons > 0 ? chip->limits.neurons : (uint64_t)w->m->demand->network->vertex_count);
  put_unit(out, "axon_in", "axon_in", NULL);
  put_cost(out, "message_in", charge[CM_CHARGE_PACKET_RECEIVED].pj, charge[CM_CHARGE_PACKET_RECEIVED].ns);
  put_unit(out, "synapse", "synapse", "current_based");
  put_cost(out, "process_spike", charge[CM_CHARGE_SYNAPSE].pj, charge[CM_CHARGE_SYNAPSE].ns);
  put_unit(out, "dendrite", "dendrite", "accumulator");
  put_cost(out, "update", 0, 0);
  put_unit(out, "soma", "lif", "leaky_integrate_fire");
  put_soma_costs(out, charge, 0);
  for (uint32_t wait = 1; w->pacing.wait_ns > 0 && wait < CM_SANAFE_WAITS; wait++) {
    (void)fprintf(out, "            - name: lif_%" PRIu32 "\n              attributes:\n                model: leaky_integrate_fire\n", wait);
    put_soma_costs(out, charge, wait * w->pacing.wait_ns);
  }
  if (w->sources_max > 0) /* each has one spike train */
    (void)fprintf(out, "            - name: source[0..%" PRIu32 "]\n              attributes:\n                model: input\n", w->sources_max - 1);
  else
    (void)fputs("            - name: source\n              attributes:\n                model: input\n", out);
  put_soma_costs(out, charge, 0);
  put_unit(out, "axon_out", "axon_out", NULL);
  put_cost(out, "message_out", charge[CM_CHARGE_PACKET_SENT].pj, charge[CM_CHARGE_PACKET_SENT].ns);
}

/* ---- network ---- */

static void put_neuron(const writer *w, uint32_t v)
{
  put_group(w, population_of(w, v));
  (void)fprintf(w->out, ".%" PRIu32, w->groups.at[v] - w->groups.first[population_of(w, v)]);
}

/* Runs of neurons of a group that have the same attributes. */
static void put_neurons(const writer *w, uint32_t p)
{
  const uint32_t first = w->groups.first[p];
  for (uint32_t i = first, end; i < w->groups.first[p + 1]; i = end) {
    for (end = i + 1; end < w->groups.first[p + 1] && cm_sanafe_alike(&w->running, w->groups.neuron[i], w->groups.neuron[end]); end++) {}
    (void)fprintf(w->out, "        - %" PRIu32, i - first);
    if (end - i > 1)
      (void)fprintf(w->out, "..%" PRIu32, end - 1 - first);
    (void)fputs(": ", w->out);
    cm_sanafe_put_neuron(&w->running, w->groups.neuron[i], w->out);
    (void)fputc('\n', w->out);
  }
}

/* Synapses beside the first of two neurons, and those of biases. */
static void put_more_synapses(const writer *w)
{
  const cm_topology *t = w->m->demand->network;
  const cm_dynamics *d = w->running.semantics != NULL ? t->dynamics : NULL;
  uint32_t e = 0;
  for (uint64_t k = 0; d != NULL && k < d->parallel_count; k++) {
    while (t->net_first[e + 1] <= d->parallel[k].pin)
      e++;
    (void)fputs("    - ", w->out);
    put_neuron(w, cm_topology_source(t, e));
    (void)fputs(" -> ", w->out);
    put_neuron(w, t->pin[d->parallel[k].pin]);
    (void)fprintf(w->out, ": [weight: %.9g]\n", cm_sanafe_scaled(&w->running, t->pin[d->parallel[k].pin], (double)d->parallel[k].weight));
  }
  for (uint32_t v = 0; w->running.biased && v < t->vertex_count; v++)
    if (cm_sanafe_bias(&w->running, v) != 0) {
      (void)fputs("    - bias.0 -> ", w->out);
      put_neuron(w, v);
      (void)fprintf(w->out, ": [weight: %.9g]\n", cm_sanafe_bias(&w->running, v));
    }
}

static cm_status put_network(const writer *w, cm_run *run, cm_error *error)
{
  const cm_topology *t = w->m->demand->network;
  (void)fputs("network:\n  name: network\n  groups:\n", w->out);
  for (uint32_t p = 0; p < w->groups.count; p++) {
    uint32_t count = w->groups.first[p + 1] - w->groups.first[p];
    if (count == 0)
      continue;
    (void)fputs("    - name: ", w->out);
    put_group(w, p);
    (void)fputs(w->running.semantics != NULL ? "\n      attributes: [log_spikes: true]\n      neurons:\n" : "\n      attributes: []\n      neurons:\n", w->out);
    put_neurons(w, p);
  }
  if (w->running.biased)
    (void)fputs("    - name: bias\n      attributes: []\n      neurons:\n        - 0: [rate: 1]\n", w->out);
  (void)fputs(t->pin_count > 0 ? "  edges:\n" : "  edges: []\n", w->out);
  for (uint32_t e = 0; e < t->net_count; e++) {
    CM_TRY_IF(e % 1024 == 0, cm_run_progress(run, (double)e / t->net_count, -1, 0, 0, error));
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      (void)fputs("    - ", w->out);
      put_neuron(w, cm_topology_source(t, e));
      (void)fputs(" -> ", w->out);
      put_neuron(w, t->pin[i]);
      (void)fprintf(w->out, ": [weight: %.9g]\n", cm_sanafe_weight(&w->running, e, i));
    }
  }
  put_more_synapses(w);
  return CM_OK;
}

/* ---- mapping ---- */

static void put_core(const writer *w, uint32_t part)
{
  const cm_chip *chip = w->m->chip;
  const uint32_t x = cm_chip_routers_x(chip), y = cm_chip_routers_y(chip), core = w->m->core[part], router = cm_router_of(chip, core);
  (void)fprintf(w->out, ": [core: %" PRIu32 ".%" PRIu32 ", soma: ", router % x * y + router / x, cm_core_behind(chip, core));
}

/* An input's own unit of its core, the next that is free. */
static void put_source(writer *w, uint32_t part)
{
  put_core(w, part);
  (void)fprintf(w->out, "\"source[%" PRIu32 "]\"]\n", w->sources[part]++);
}

/* In the order in which cores take them. */
static void put_paced(writer *w)
{
  for (uint32_t i = 0; i < w->m->demand->network->vertex_count; i++) {
    const uint32_t v = w->pacing.order[i], wait = w->pacing.wait[v];
    (void)fputs("  - ", w->out);
    put_neuron(w, v);
    if (is_input(w, v)) {
      put_source(w, w->m->part[v]);
      continue;
    }
    put_core(w, w->m->part[v]);
    (void)fprintf(w->out, wait > 0 ? "lif_%" PRIu32 "]\n" : "lif]\n", wait);
  }
}

/* By groups, as they are numbered. */
static void put_groups(writer *w)
{
  for (uint32_t p = 0; p < w->groups.count; p++)
    for (uint32_t i = w->groups.first[p], end; i < w->groups.first[p + 1]; i = end) {
      uint32_t part = w->m->part[w->groups.neuron[i]], base = w->groups.first[p];
      const bool input = is_input(w, w->groups.neuron[i]);
      for (end = i + 1; !input && end < w->groups.first[p + 1] && w->m->part[w->groups.neuron[end]] == part && !is_input(w, w->groups.neuron[end]); end++) {}
      (void)fputs("  - ", w->out);
      put_group(w, p);
      (void)fprintf(w->out, ".%" PRIu32, i - base);
      if (input) {
        put_source(w, part);
        continue;
      }
      if (end - i > 1)
        (void)fprintf(w->out, "..%" PRIu32, end - 1 - base);
      put_core(w, part);
      (void)fputs("lif]\n", w->out);
    }
}

static void put_mapping(writer *w)
{
  (void)fputs("mappings:\n", w->out);
  if (w->pacing.order != NULL)
    put_paced(w);
  else
    put_groups(w);
  if (w->running.biased) {
    (void)fputs("  - bias.0", w->out);
    put_source(w, 0);
  }
}

/* How many units of inputs a core needs; leaves the counts at 0. */
static cm_status count_sources(writer *w, cm_run *run, cm_error *error)
{
  const cm_mapped *m = w->m;
  CM_TRY(CM_NEW(run->memory, w->sources, m->parts, error));
  w->sources[0] += w->running.biased;
  for (uint32_t v = 0; v < m->demand->network->vertex_count; v++)
    w->sources[m->part[v]] += is_input(w, v);
  for (uint32_t p = 0; p < m->parts; p++)
    w->sources_max = w->sources[p] > w->sources_max ? w->sources[p] : w->sources_max;
  memset(w->sources, 0, m->parts * sizeof *w->sources);
  return CM_OK;
}

cm_status cm_export_sanafe(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  writer w = {.m = mapped, .out = stream};
  if (!mapped->demand->network->directed)
    return cm_fail(error, CM_CONFLICT, "SANA-FE simulates synapses with a direction, and this network's edges have none");
  const cm_barrier *barrier = &mapped->chip->costs.barrier;
  if (barrier->spike_ns > 0 || barrier->packet_ns > 0)
    return cm_fail(error, CM_CONFLICT, "SANA-FE has no price for all cores' spikes or packets one after another, as chip %s has (/costs/barrier, spike and packet)", mapped->chip->name);
  uint32_t tiles = 0;
  CM_TRY_IF(mapped->chip->costs.barrier.points > 0, cm_tiles_in_use(mapped->chip, mapped->core, mapped->parts, run->memory, &tiles, error));
  CM_TRY(cm_groups_of(mapped->demand->network, run, &w.groups, error));
  cm_status status = cm_sanafe_running_make(mapped->demand->network, run, &w.running, error);
  CM_THEN(status, cm_sanafe_pacing_make(mapped, run, &w.pacing, error));
  CM_THEN(status, count_sources(&w, run, error));
  if (status == CM_OK) {
    put_architecture(&w, tiles);
    status = put_network(&w, run, error);
  }
  if (status == CM_OK)
    put_mapping(&w);
  cm_free(w.sources);
  cm_sanafe_pacing_free(&w.pacing);
  cm_sanafe_running_free(&w.running);
  cm_groups_free(&w.groups);
  return status;
}
