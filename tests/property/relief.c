/* Loads of routers while parts change places: those of the metrics; and placements that are chosen by them: against all
 * placements of small cases, within their word, the same for any number of threads. */
#include "../unit/parts.h"

#include <math.h>

#include "core/mapping/options.h"
#include "core/measure/measure.h"
#include "core/placement/links/links.h"
#include "core/placement/relief/relief.h"
#include "core/solver/map.h"
#include "core/solver/presets.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

enum { PARTS_MOST = 24, CORES_MOST = 64 };

/* Every vertex a part, on cores of a random chip, no two on one. */
typedef struct scene {
  cm_topology topology;
  cm_chip *chip;
  cm_flows *flows;
  uint32_t parts, cores;
  uint32_t part[PARTS_MOST], core[CORES_MOST], at[PARTS_MOST];
} scene;

static scene new_scene(cm_random *random, uint32_t parts, uint32_t side)
{
  scene s = {.parts = parts};
  uint32_t order[4 * CORES_MOST];
  uint32_t dies = 1 + below(random, 2), height = 2 + below(random, side - 1), shared = 1 + below(random, 2);
  s.chip = parts_chip(dies, 1, side, height, shared, below(random, 2));
  uint32_t all = cm_chip_cores(s.chip);
  ck_assert_uint_ge(all, 4);
  s.parts = parts = parts < all ? parts : all;
  s.topology = network_directed(random, parts, 2 * parts);
  ck_assert_uint_le(all, 4 * CORES_MOST);
  cm_random_permutation(random, order, all);
  s.cores = all < CORES_MOST ? all : CORES_MOST;
  for (uint32_t c = 0; c < s.cores; c++)
    s.core[c] = order[c];
  cm_random_permutation(random, order, s.cores);
  for (uint32_t p = 0; p < parts; p++) {
    s.part[p] = p;
    s.at[p] = order[p];
  }
  ck_ok(cm_flows_of_axons(CM_DEMAND_OF(&s.topology), s.part, parts, &run, &s.flows, &error));
  return s;
}

static void scene_free(scene *s)
{
  cm_flows_free(s->flows);
  cm_chip_free(s->chip);
  network_free(&s->topology);
}

static double congestion(const scene *s)
{
  uint32_t core[PARTS_MOST];
  cm_metrics metrics;
  cm_metrics_detail detail;
  for (uint32_t p = 0; p < s->parts; p++)
    core[p] = s->core[s->at[p]];
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&s->topology), s->chip, s->part, s->parts, core, NULL}, &run, &metrics, &detail, &error));
  cm_metrics_detail_free(&detail);
  return metrics.congestion_max * (double)s->topology.weight_scale;
}

START_TEST(loads_are_the_congestion_of_the_metrics)
{
  cm_random random;
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 41, 0);
    scene s = new_scene(&random, 4 + below(&random, 9), 4 + below(&random, 3));
    cm_loads *loads;
    cm_region region = {.cores = s.core, .core_count = s.cores};
    cm_place_task task = {.chip = s.chip, .region = &region, .run = &run};
    ck_ok(cm_loads_new(s.flows, &task, &loads, &error));
    cm_loads_fill(loads, s.at);
    double truth = congestion(&s);
    ck_assert_double_eq_tol(cm_loads_highest(loads), truth, 1e-6 * (1 + truth));
    for (int k = 0; k < 5; k++) { /* moves of two parts, by what they book */
      uint32_t u = below(&random, s.parts), v = (u + 1 + below(&random, s.parts - 1)) % s.parts, held = s.at[u];
      cm_loads_book(loads, s.at, u, UINT32_MAX, -1);
      cm_loads_book(loads, s.at, v, u, -1);
      s.at[u] = s.at[v];
      s.at[v] = held;
      cm_loads_book(loads, s.at, u, UINT32_MAX, 1);
      cm_loads_book(loads, s.at, v, u, 1);
    }
    truth = congestion(&s);
    ck_assert_double_eq_tol(cm_loads_highest(loads), truth, 1e-6 * (1 + truth));
    cm_loads_free(loads);
    scene_free(&s);
  }
}
END_TEST

START_TEST(cores_too_far_apart_are_left_alone)
{
  cm_chip *chip;
  cm_flows *flows;
  cm_loads *loads;
  ck_ok(cm_chip_mesh(1000, 1000, &chip, &error));
  ck_ok(cm_flows_new(2, 0, &run, &flows, &error));
  uint32_t core[] = {0, 999999};
  cm_region region = {.cores = core, .core_count = 2};
  ck_ok(cm_loads_new(flows, &(cm_place_task){.chip = chip, .region = &region, .run = &run}, &loads, &error));
  ck_assert_ptr_null(loads);
  cm_flows_free(flows);
  cm_chip_free(chip);
}
END_TEST

/* ---- against all placements ---- */

typedef struct best {
  uint64_t least;
  double score; /* the best of those whose cost is within the tolerance */
  uint32_t at[PARTS_MOST]; /* of the least cost */
} best;

static void try_all(const cm_graph *g, const cm_axes *axes, cm_loads *loads, uint32_t part, uint32_t *at, uint32_t used,
                    bool scored, best *b)
{
  if (part == g->vertex_count) {
    uint64_t cost = cm_axes_cost(g, axes, at);
    if (!scored && cost < b->least) {
      b->least = cost;
      memcpy(b->at, at, part * sizeof *at);
    }
    if (!scored || (double)cost > cm_relief_dearer * (double)b->least)
      return;
    cm_loads_fill(loads, at);
    b->score = fmin(b->score, cm_relief_score((double)cost, cm_loads_highest(loads)));
    return;
  }
  for (uint32_t c = 0; c < axes->count; c++)
    if (!(used >> c & 1)) {
      at[part] = c;
      try_all(g, axes, loads, part + 1, at, used | 1u << c, scored, b);
    }
}

START_TEST(the_choice_is_the_best_of_small_cases)
{
  cm_random random;
  uint32_t optimal = 0, relieved = 0, rounds = 60;
  for (uint64_t round = 0; round < rounds; round++) {
    enum { PARTS = 5, CORES = 7 };
    cm_random_init(&random, round, 42, 0);
    scene s = new_scene(&random, PARTS, 3);
    uint32_t at[PARTS];
    cm_graph *graph;
    cm_axes *axes;
    cm_loads *loads;
    s.cores = s.cores < CORES ? s.cores : CORES;
    ck_ok(cm_graph_of_flows(s.flows, &run, &graph, &error));
    ck_ok(cm_axes_new(s.chip, s.core, s.cores, &run, &axes, &error));
    cm_region region = {.cores = s.core, .core_count = s.cores};
    cm_place_task task = {.chip = s.chip, .region = &region, .axes = axes, .seed = round, .run = &run};
    ck_ok(cm_loads_new(s.flows, &task, &loads, &error));
    best b = {.least = UINT64_MAX, .score = INFINITY};
    try_all(graph, axes, loads, 0, at, 0, false, &b);
    try_all(graph, axes, loads, 0, at, 0, true, &b);
    cm_relief_options options = {.loads = loads, .work = 4e5};
    cm_relief_result result;
    ck_ok(cm_relieve(graph, &task, &options, b.at, &result, &error));
    ck_assert_uint_eq(result.least, b.least);
    ck_assert_uint_eq(result.cost, cm_axes_cost(graph, axes, b.at));
    ck_assert_double_le((double)result.cost, cm_relief_dearer * (double)b.least + 1e-6);
    cm_loads_fill(loads, b.at);
    ck_assert_double_eq_tol(result.highest, cm_loads_highest(loads), 1e-6 * (1 + result.highest));
    ck_assert_double_le(result.highest, result.before * (1 + 1e-9));
    double score = cm_relief_score((double)result.cost, result.highest);
    ck_assert_double_ge(score, b.score - 1e-9);
    optimal += score <= b.score + 1e-9;
    relieved += result.highest < result.before * 0.999;
    cm_loads_free(loads);
    cm_axes_free(axes);
    cm_graph_free(graph);
    scene_free(&s);
  }
  ck_assert_uint_ge(optimal, 9 * rounds / 10);
  ck_assert_uint_ge(relieved, rounds / 15);
}
END_TEST

/* ---- whole jobs ---- */

static cm_mapping *map_on(const cm_topology *t, const cm_chip *chip, unsigned threads)
{
  json_t *json = json_pack("{s:s, s:s, s:i}", "preset", "balanced", "mapper", "two-phase", "max_part_size", 1);
  cm_map_options *options;
  cm_mapping *mapping;
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_input input = {.demand = CM_DEMAND_OF(t), .chip = chip, .options = options};
  run.threads = threads;
  ck_ok(cm_map(&input, &run, &mapping, &error));
  cm_map_options_free(options);
  json_decref(json);
  return mapping;
}

START_TEST(a_job_says_what_it_relieved)
{
  cm_random random;
  cm_chip *chip;
  ck_ok(cm_chip_mesh(6, 6, &chip, &error));
  double before = 0, after = 0;
  for (uint64_t round = 0; round < (CM_SANITIZED ? 1 : 6); round++) {
    cm_random_init(&random, round, 43, 0);
    cm_topology t = network_directed(&random, 22, 40);
    cm_free(t.size);
    t.size = NULL;
    t.size_total = t.vertex_count;
    cm_mapping *one = map_on(&t, chip, 1), *three = map_on(&t, chip, 3);
    ck_assert_mem_eq(one->core, three->core, one->part_count * sizeof *one->core);
    const json_t *told = json_object_get(json_object_get(one->report, "placement"), "congestion_refinement");
    double busiest = json_number_value(json_object_get(told, "congestion_max"));
    ck_assert_double_eq_tol(busiest, one->metrics.congestion_max, 1e-6 * (1 + busiest));
    ck_assert_double_le(json_number_value(json_object_get(told, "energy_ratio")), cm_relief_dearer);
    before += json_number_value(json_object_get(told, "congestion_max_before"));
    after += busiest;
    cm_mapping_free(one);
    cm_mapping_free(three);
    network_free(&t);
  }
  ck_assert(CM_SANITIZED ? after <= before : after < before);
  cm_chip_free(chip);
}
END_TEST

/* Time that the busiest link holds packets, by the metrics. */
static double held(const scene *s, const uint32_t *core)
{
  cm_metrics metrics;
  cm_metrics_detail d;
  double most = 0;
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&s->topology), s->chip, s->part, s->parts, core, NULL}, &run, &metrics, &d, &error));
  for (uint32_t r = 0; r < cm_chip_routers_x(s->chip) * cm_chip_routers_y(s->chip); r++)
    for (int k = 0; k < CM_DIRECTIONS; k++)
      most = fmax(most, cm_link_load_at(&d, r % cm_chip_routers_x(s->chip), r / cm_chip_routers_x(s->chip), (cm_direction)k) *
                          cm_chip_link_ns(s->chip, (size_t)r * CM_DIRECTIONS + (size_t)k));
  cm_metrics_detail_free(&d);
  return most * (double)s->topology.weight_scale;
}

START_TEST(no_link_holds_packets_longer_than_before)
{
  double before = 0, after = 0;
  for (uint64_t round = 0; round < 12; round++) {
    cm_random random;
    cm_random_init(&random, round, 53, 0);
    scene s = new_scene(&random, 6 + below(&random, 9), 4 + below(&random, 3));
    uint32_t core[PARTS_MOST], again[PARTS_MOST];
    cm_region region = {.cores = s.core, .core_count = s.cores};
    cm_links_result made, same;
    for (uint32_t p = 0; p < s.parts; p++)
      core[p] = again[p] = s.core[s.at[p]];
    double first = held(&s, core);
    ck_ok(cm_place_by_links(s.flows, &(cm_place_task){.chip = s.chip, .region = &region, .seed = round, .run = &run},
                            &cm_efforts[CM_PRESET_FAST].place.links, core, &made, &error));
    ck_assert(made.done);
    ck_assert_double_eq_tol(made.before, first, 1e-9 * (1 + first));
    ck_assert_double_eq_tol(made.after, held(&s, core), 1e-9 * (1 + first));
    ck_assert_double_le(made.after, made.before);
    for (uint32_t p = 0; p < s.parts; p++) {
      bool listed = false;
      for (uint32_t c = 0; c < s.cores; c++)
        listed |= s.core[c] == core[p];
      ck_assert(listed);
      for (uint32_t q = 0; q < p; q++)
        ck_assert_uint_ne(core[p], core[q]);
    }
    if (round == 0) {
      ck_ok(cm_place_by_links(s.flows, &(cm_place_task){.chip = s.chip, .region = &region, .seed = round, .run = &run},
                              &cm_efforts[CM_PRESET_FAST].place.links, again, &same, &error));
      ck_assert_mem_eq(core, again, s.parts * sizeof *core);
    }
    before += made.before;
    after += made.after;
    scene_free(&s);
  }
  ck_assert_double_lt(after, 0.8 * before);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("relief");
  TCase *tests = tcase_create("relief");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, loads_are_the_congestion_of_the_metrics);
  tcase_add_test(tests, no_link_holds_packets_longer_than_before);
  tcase_add_test(tests, cores_too_far_apart_are_left_alone);
  tcase_add_test(tests, the_choice_is_the_best_of_small_cases);
  tcase_add_test(tests, a_job_says_what_it_relieved);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
