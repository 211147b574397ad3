/* Parts of axons and their cores at once: energies by brute force on small chips, costs and limits from scratch in every
 * phase, only free cores, the same for any number of threads. */
#include "../unit/networks.h"

#include <math.h>

#include "core/mapping/options.h"
#include "core/partition/axon/axon.h"
#include "core/solver/map.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* Each of n neurons with one axon to some of `near` neurons after it, round in a ring, and now and then anywhere. */
static cm_topology ring(cm_random *random, uint32_t n, uint32_t near)
{
  cm_topology t = network_of_rows(n, (size_t)n * n);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t u = 0; u < n; u++)
      if (u == (v + 1) % n || ((u + n - v) % n <= near && below(random, 2)) || below(random, 8 * n) == 0)
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1 + below(random, 9);
  }
  return t;
}

/* What the axons pay, and the inbound axons of every part. price [parts * parts]. */
static double pay(const cm_topology *t, const uint32_t *part, uint32_t parts, const double *price, uint64_t *axons)
{
  double sum = 0;
  uint8_t seen[64];
  memset(axons, 0, parts * sizeof *axons);
  for (uint32_t e = 0; e < t->net_count; e++) {
    memset(seen, 0, sizeof seen);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      seen[part[t->pin[i]]] = 1;
    for (uint32_t p = 0; p < parts; p++) {
      axons[p] += seen[p];
      sum += seen[p] ? (double)t->net_weight[e] * price[part[e] * parts + p] : 0;
    }
  }
  return sum;
}

/* ---- against the optimum ---- */

enum { SMALL = 7, CORES = 6 };

typedef struct puzzle {
  const cm_topology *topology;
  const cm_occupancy *occupancy;
  double price[CORES * CORES];
  uint32_t most;
} puzzle;

/* The least energy of all ways to put neurons v and after on free cores. */
static double least_energy(const puzzle *p, uint32_t v, uint32_t *core, uint32_t *load)
{
  uint64_t axons[CORES];
  if (v == p->topology->vertex_count)
    return pay(p->topology, core, CORES, p->price, axons);
  double least = INFINITY;
  for (uint32_t c = 0; c < CORES; c++) {
    if (p->occupancy->state[c] != CM_CORE_FREE || load[c] == p->most)
      continue;
    core[v] = c;
    load[c]++;
    least = fmin(least, least_energy(p, v + 1, core, load));
    load[c]--;
  }
  return least;
}

static void map_axons(const cm_topology *topology, const cm_chip *chip, const cm_occupancy *occupancy,
                      const char *preset, unsigned threads, cm_mapping **mapping)
{
  json_t *json = json_pack("{s:s, s:s, s:s}", "preset", preset, "mapper", "integrated", "objective", "axon");
  cm_map_options *options;
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_input input = {.demand = CM_DEMAND_OF(topology), .chip = chip, .occupancy = occupancy, .options = options};
  run.threads = threads;
  ck_ok(cm_map(&input, &run, mapping, &error));
  cm_map_options_free(options);
  json_decref(json);
}

START_TEST(energies_are_near_the_optimum_of_small_cases)
{
  cm_random random;
  uint32_t optimal = 0, rounds = 24;
  for (uint64_t round = 0; round < rounds; round++) {
    cm_random_init(&random, round, 21, 0);
    puzzle p = {.most = 2 + below(&random, 2)};
    uint32_t n = 4 + below(&random, SMALL - 3), width = below(&random, 2) ? 3 : 2, core[SMALL], load[CORES] = {0};
    cm_topology t = ring(&random, n, 2);
    char text[300];
    (void)snprintf(text, sizeof text,
                   "{\"name\": \"r\", \"dies\": [1, 1], \"cores\": [%u, %u], \"limits\": {\"neurons\": %u}, "
                   "\"energy_pj\": {\"router\": 2, \"link\": 3}}",
                   width, CORES / width, p.most);
    cm_chip *chip;
    cm_occupancy *occupancy;
    cm_mapping *mapping;
    ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    occupancy->state[below(&random, CORES)] = below(&random, 2) ? CM_CORE_TAKEN : CM_CORE_BROKEN;
    for (uint32_t a = 0; a < CORES; a++)
      for (uint32_t b = 0; b < CORES; b++) {
        int dx = (int)(a % width) - (int)(b % width), dy = (int)(a / width) - (int)(b / width);
        p.price[a * CORES + b] = a == b ? 0 : 5 * (abs(dx) + abs(dy)) + 2;
      }
    p.topology = &t;
    p.occupancy = occupancy;
    map_axons(&t, chip, occupancy, "best", 1, &mapping);
    double least = least_energy(&p, 0, core, load);
    for (uint32_t v = 0; v < n; v++) {
      core[v] = mapping->core[mapping->part[v]];
      ck_assert_int_eq(occupancy->state[core[v]], CM_CORE_FREE);
      ck_assert_uint_le(++load[core[v]], p.most);
    }
    uint64_t axons[CORES];
    double reached = pay(&t, core, CORES, p.price, axons);
    ck_assert_double_eq_tol(reached, mapping->metrics.energy_pj, 1e-6);
    ck_assert_double_ge(reached, least - 1e-6);
    optimal += reached <= least + 1e-6;
    cm_mapping_free(mapping);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
    network_free(&t);
  }
  ck_assert_uint_ge(optimal, 2 * rounds / 3);
}
END_TEST

/* ---- phase by phase ---- */

enum { SIDE = 5, SITES = SIDE * SIDE };

typedef struct witness {
  const cm_topology *topology;
  cm_limits limits;
  cm_prices prices;
  uint32_t axis[SIDE * SIDE], column[SITES], row[SITES];
  double price[SITES * SITES];
  double best;
  uint32_t calls;
} witness;

/* Parts keep the limits at all times, and each time they cost less. */
static void look_at(witness *w, const uint32_t *part, uint32_t parts, const uint32_t *core)
{
  uint64_t axons[SITES], size[SITES] = {0};
  uint32_t at[400];
  for (uint32_t v = 0; v < w->topology->vertex_count; v++) {
    ck_assert_uint_lt(part[v], parts);
    at[v] = core[part[v]];
    size[at[v]]++;
  }
  double cost = pay(w->topology, at, SITES, w->price, axons);
  for (uint32_t p = 0; p < SITES; p++) {
    ck_assert_uint_le(size[p], w->limits.neurons);
    ck_assert_uint_le(axons[p], w->limits.inbound_axons);
  }
  ck_assert(w->calls++ == 0 || cost < w->best);
  w->best = cost;
}

static cm_status place(void *context, const uint32_t *part, uint32_t parts, uint32_t *at, const cm_prices **prices,
                       cm_error *slot)
{
  (void)slot;
  witness *w = context;
  ck_assert_uint_le(parts, SITES);
  for (uint32_t p = 0; p < parts; p++)
    at[p] = p;
  *prices = &w->prices;
  look_at(w, part, parts, at);
  return CM_OK;
}

static cm_status rearrange(void *context, const uint32_t *part, uint32_t *at, cm_error *slot)
{
  (void)slot;
  for (uint32_t p = 0; p < SITES; p++)
    at[p] = p;
  look_at(context, part, SITES, at);
  return CM_OK;
}

START_TEST(every_cycle_keeps_the_limits_and_pays_less)
{
  cm_random random;
  uint32_t better = 0;
  for (uint64_t round = 0; round < 12; round++) {
    enum { NEURONS = 300 };
    cm_random_init(&random, round, 22, 0);
    cm_topology t = ring(&random, NEURONS, 12);
    uint32_t start[NEURONS], part[NEURONS], again[NEURONS], parts, identity[SITES];
    witness w = {.topology = &t, .limits = {.neurons = 16, .inbound_axons = 40 + below(&random, 40)}};
    w.prices = (cm_prices){.parts = SITES, .columns = SIDE, .rows = SIDE, .base = 1 + below(&random, 30), .dx = w.axis,
                           .dy = w.axis, .column = w.column, .row = w.row};
    for (uint32_t a = 0; a < SIDE; a++)
      for (uint32_t b = 0; b < SIDE; b++)
        w.axis[a * SIDE + b] = 64 * (a > b ? a - b : b - a);
    for (uint32_t a = 0; a < SITES; a++) {
      identity[a] = a;
      w.column[a] = a % SIDE;
      w.row[a] = a / SIDE;
      for (uint32_t b = 0; b < SITES; b++)
        w.price[a * SITES + b] =
            a == b ? 0 : w.prices.base + w.axis[a % SIDE * SIDE + b % SIDE] + w.axis[a / SIDE * SIDE + b / SIDE];
    }
    const cm_axon_options first = {.limits = w.limits, .parts_max = SITES, .starts = 2, .start_sweeps = 8, .sweeps = 8, .fine_sweeps = 2, .seed = round};
    run.threads = 1;
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &first, &run, start, &parts, &error));
    cm_axon_places places = {&w, place, rearrange};
    cm_axon_options options = {.limits = w.limits, .parts_max = SITES,
                               .sweeps = 8, .fine_sweeps = 2, .cycles = 6, .work = 100000000,
                               .seed = round, .start = start, .places = &places};
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
    ck_assert_uint_eq(parts, SITES);
    better += w.calls > 1;
    double reached = w.best;
    w.calls = 0;
    look_at(&w, part, parts, identity);
    ck_assert_double_eq(reached, w.best);
    w.calls = 0;
    run.threads = 3;
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &parts, &error));
    ck_assert_mem_eq(part, again, sizeof part);
    network_free(&t);
  }
  ck_assert_uint_ge(better, 8);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("axons on the mesh");
  TCase *tests = tcase_create("axons on the mesh");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_figures_test(tests, energies_are_near_the_optimum_of_small_cases);
  tcase_add_test(tests, every_cycle_keeps_the_limits_and_pays_less);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
