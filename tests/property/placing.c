/* The placement engine on random graphs, chips and occupancies: the optimum where all placements can be tried, costs
 * recomputed from scratch, no core that is not free, the same for any number of threads. */
#include "../unit/chips.h"

#include "core/placement/qap/grid_symmetry.h"
#include "core/placement/qap/qap.h"
#include "core/solver/presets.h"

enum { MOST = 40, CORES = 400 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
}

/* ---- random inputs ---- */

static cm_graph *random_graph(cm_random *random, uint32_t n, uint64_t factor)
{
  static uint64_t first[MOST + 1], weight[MOST * MOST];
  static uint32_t neighbour[MOST * MOST];
  uint32_t chance = 5 + below(random, 90);
  uint64_t dense[MOST][MOST] = {{0}}, entries = 0;
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t v = 0; v < u; v++)
      if (below(random, 100) < chance)
        dense[u][v] = dense[v][u] = factor * (1 + below(random, 30));
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++)
      if (dense[u][v] != 0) {
        neighbour[entries] = v;
        weight[entries++] = dense[u][v];
      }
    first[u + 1] = entries;
  }
  cm_graph *graph;
  ck_ok(cm_graph_from_rows(n, first, neighbour, weight, &run, &graph, &error));
  return graph;
}

static void each_once(const uint32_t *at, uint32_t parts, uint32_t cores)
{
  uint8_t used[CORES] = {0};
  for (uint32_t p = 0; p < parts; p++) {
    ck_assert_uint_lt(at[p], cores);
    ck_assert_uint_eq(used[at[p]]++, 0);
  }
}

/* ---- the engine ---- */

START_TEST(axes_tell_the_distances_of_the_chip)
{
  cm_random random;
  uint32_t core[CORES];
  for (uint64_t round = 0; round < test_rounds(200); round++) {
    cm_random_init(&random, round, 1, 0);
    cm_chip *chip = chip_random(&random, 8, false);
    uint32_t count = chip_random_cores(&random, chip, core);
    cm_axes *axes;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    bool uniform = chip->energy_pj.east_west == chip->energy_pj.north_south;
    for (uint32_t a = 0; a < count; a++)
      for (uint32_t b = 0; b < count; b++) {
        cm_hops there = cm_chip_hops(chip, core[a], core[b]), back = cm_chip_hops(chip, core[b], core[a]);
        double pj = 0.5 * (3 * (there.east_west + back.east_west) + 4.2 * (there.north_south + back.north_south) +
                           20 * (there.die_to_die + back.die_to_die));
        if (uniform)
          ck_assert_uint_eq(cm_axes_distance(axes, a, b), cm_chip_distance(chip, core[a], core[b]));
        else /* 64ths of 3 pJ, each kind of hop rounded once, each axis once */
          ck_assert_double_eq_tol(cm_axes_distance(axes, a, b) * 3 / 64.0, pj,
                                  0.03 * (1 + cm_chip_distance(chip, core[a], core[b])));
      }
    cm_axes_free(axes);
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(symmetries_move_no_core_nearer_or_farther)
{
  cm_random random;
  uint32_t core[CORES], most = 0;
  for (uint64_t round = 0; round < test_rounds(200); round++) {
    cm_random_init(&random, round, 2, 0);
    cm_chip *chip = chip_random(&random, 5, false);
    uint32_t count = chip_random_cores(&random, chip, core);
    cm_axes *axes;
    cm_symmetries symmetries;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    ck_ok(cm_symmetries_new(axes, &run, &symmetries, &error));
    ck_assert_uint_ge(symmetries.count, 1);
    most = symmetries.count > most ? symmetries.count : most;
    for (uint32_t s = 0; s < symmetries.count; s++) {
      each_once(symmetries.to[s], count, count);
      for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
          ck_assert_uint_eq(cm_axes_distance(axes, a, b),
                            cm_axes_distance(axes, symmetries.to[s][a], symmetries.to[s][b]));
    }
    cm_symmetries_free(&symmetries);
    cm_axes_free(axes);
    cm_chip_free(chip);
  }
  ck_assert_uint_eq(most, 8);
}
END_TEST

/* The least cost over all placements of the parts from `part` on. */
static uint64_t least_cost(const cm_graph *g, const cm_axes *axes, uint32_t part, uint32_t *at, uint32_t used)
{
  if (part == g->vertex_count)
    return cm_axes_cost(g, axes, at);
  uint64_t least = UINT64_MAX;
  for (uint32_t c = 0; c < axes->count; c++) {
    if (used >> c & 1)
      continue;
    at[part] = c;
    uint64_t cost = least_cost(g, axes, part + 1, at, used | 1u << c);
    least = cost < least ? cost : least;
  }
  return least;
}

/* Every other part talks 2^40 times as much to every other part: lighter weights would be rounded to nothing. */
static void make_uneven(cm_graph *g)
{
  for (uint32_t u = 0; u < g->vertex_count; u++)
    for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
      if (u % 2 == 0 && g->neighbour[i] % 2 == 0)
        g->weight[i] <<= 40;
}

START_TEST(annealing_finds_the_optimum_of_small_cases)
{
  cm_random random;
  uint32_t core[CORES], at[MOST], other[MOST];
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 3, 0);
    cm_chip *chip = chip_random(&random, 4, false);
    uint32_t count = chip_random_cores(&random, chip, core);
    count = count > 6 ? 6 : count;
    uint32_t parts = count - below(&random, count < 3 ? 1 : 3);
    /* every third time weights that are rounded to 32 bits, every third time some that need 64 */
    cm_graph *graph = random_graph(&random, parts, round % 3 == 0 ? UINT64_C(1) << 40 : 1);
    if (round % 3 == 1)
      make_uneven(graph);
    cm_axes *axes;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    cm_qap_options options = {.population = 8, .sweeps = 200, .children = 8, .child_sweeps = 50, .seed = round};
    uint64_t cost;
    ck_ok(cm_place_by_annealing(graph, axes, &options, &run, at, &error));
    cost = cm_axes_cost(graph, axes, at);
    each_once(at, parts, count);
    ck_assert_uint_eq(cost, cm_axes_cost(graph, axes, at));
    ck_assert_uint_eq(cost, least_cost(graph, axes, 0, other, 0));
    cm_graph_free(graph);
    cm_axes_free(axes);
    cm_chip_free(chip);
  }
}
END_TEST

/* nug12 of QAPLIB: flows; 3 rows of 4; the proved optimum is 578, each edge counted twice. */
static const uint8_t nug12[12][12] = {{0, 5, 2, 4, 1, 0, 0, 6, 2, 1, 1, 1},   {5, 0, 3, 0, 2, 2, 2, 0, 4, 5, 0, 0},
                                      {2, 3, 0, 0, 0, 0, 0, 5, 5, 2, 2, 2},   {4, 0, 0, 0, 5, 2, 2, 10, 0, 0, 5, 5},
                                      {1, 2, 0, 5, 0, 10, 0, 0, 0, 5, 1, 1},  {0, 2, 0, 2, 10, 0, 5, 1, 1, 5, 4, 0},
                                      {0, 2, 0, 2, 0, 5, 0, 10, 5, 2, 3, 3},  {6, 0, 5, 10, 0, 1, 10, 0, 0, 0, 5, 0},
                                      {2, 4, 5, 0, 0, 1, 5, 0, 0, 0, 10, 10}, {1, 5, 2, 0, 5, 5, 2, 0, 0, 0, 5, 0},
                                      {1, 0, 2, 5, 1, 4, 3, 5, 10, 5, 0, 2},  {1, 0, 2, 5, 1, 0, 3, 0, 10, 0, 2, 0}};

START_TEST(annealing_finds_the_published_optimum_on_any_number_of_threads)
{
  uint64_t first[13] = {0}, weight[144], entries = 0, cost;
  uint32_t neighbour[144], core[12], at[3][12];
  for (uint32_t u = 0; u < 12; u++) {
    core[u] = u;
    for (uint32_t v = 0; v < 12; v++)
      if (nug12[u][v] != 0) {
        neighbour[entries] = v;
        weight[entries++] = nug12[u][v];
      }
    first[u + 1] = entries;
  }
  cm_graph *graph;
  cm_chip *chip;
  cm_axes *axes;
  ck_ok(cm_graph_from_rows(12, first, neighbour, weight, &run, &graph, &error));
  ck_ok(cm_chip_mesh(4, 3, &chip, &error));
  ck_ok(cm_axes_new(chip, core, 12, &run, &axes, &error));
  for (unsigned threads = 1; threads <= 3; threads++) {
    run.threads = threads;
    cm_qap_options options = {.population = 6, .sweeps = 100, .children = 20, .child_sweeps = 50, .seed = 4};
    ck_ok(cm_place_by_annealing(graph, axes, &options, &run, at[threads - 1], &error));
    cost = cm_axes_cost(graph, axes, at[threads - 1]);
    ck_assert_uint_eq(2 * cost, 578);
    ck_assert_mem_eq(at[threads - 1], at[0], sizeof at[0]);
  }
  cm_axes_free(axes);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

/* The edges of QAPLIB's tho40: 40 on 5 rows of 8. */
static cm_graph *tho40(void)
{
  static uint64_t first[41], weight[1600];
  static uint32_t neighbour[1600];
  uint64_t entries = 0;
  unsigned value;
  FILE *stream = fopen(test_data("qap/tho40.dat"), "r");
  ck_assert_ptr_nonnull(stream);
  ck_assert_int_eq(fscanf(stream, "%u", &value), 1);
  ck_assert_uint_eq(value, 40);
  for (uint32_t i = 0; i < 1600; i++) /* distances */
    ck_assert_int_eq(fscanf(stream, "%u", &value), 1);
  for (uint32_t u = 0; u < 40; u++) {
    for (uint32_t v = 0; v < 40; v++) {
      ck_assert_int_eq(fscanf(stream, "%u", &value), 1);
      if (value == 0)
        continue;
      neighbour[entries] = v;
      weight[entries++] = value;
    }
    first[u + 1] = entries;
  }
  ck_assert_int_eq(fclose(stream), 0);
  cm_graph *graph;
  ck_ok(cm_graph_from_rows(40, first, neighbour, weight, &run, &graph, &error));
  return graph;
}

/* Most populations end in one of two valleys that share eight places of forty with the best known. */
START_TEST(populations_that_end_make_room_for_others)
{
  uint32_t core[40], at[40];
  uint64_t cost;
  cm_chip *chip;
  cm_axes *axes;
  cm_graph *graph = tho40();
  for (uint32_t c = 0; c < 40; c++)
    core[c] = c;
  ck_ok(cm_chip_mesh(8, 5, &chip, &error));
  ck_ok(cm_axes_new(chip, core, 40, &run, &axes, &error));
  cm_qap_options options = cm_qap_divide(30000, 8, 40, 1);
  ck_ok(cm_place_by_annealing(graph, axes, &options, &run, at, &error));
  cost = cm_axes_cost(graph, axes, at);
  ck_assert_uint_eq(2 * cost, 240516);
  options.children = 60; /* one population */
  ck_ok(cm_place_by_annealing(graph, axes, &options, &run, at, &error));
  cost = cm_axes_cost(graph, axes, at);
  ck_assert_uint_gt(2 * cost, 240516);
  cm_axes_free(axes);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

START_TEST(work_is_divided_without_rest_among_short_annealings)
{
  static const double work[] = {1, 100, 3000, 1e5, 1e7};
  for (uint32_t cores = 1; cores <= 512; cores = cores * 2 + 3)
    for (uint32_t population = 1; population <= 16; population *= 2)
      for (uint32_t w = 0; w < 5; w++) {
        cm_qap_options o = cm_qap_divide(work[w], population, cores, 7);
        ck_assert_uint_eq(o.population, population);
        ck_assert_uint_eq(o.seed, 7);
        double first = (double)population * o.sweeps, rest = (double)o.children * o.child_sweeps;
        ck_assert_double_le(first, population == 1 ? work[w] : 0.4 * work[w] + population);
        ck_assert_double_le(rest, fmax(work[w] - first, 0));
        ck_assert_double_gt(first + rest, work[w] - fmax(o.child_sweeps, 1));
        ck_assert(population == 1 || o.sweeps <= 21 || o.sweeps <= 1 + 0.05 * cores * cores);
      }
}
END_TEST

START_TEST(every_effort_places_on_free_cores_and_never_worse_than_the_curve)
{
  cm_random random;
  uint32_t core[MOST];
  for (uint64_t round = 0; round < test_rounds(90); round++) {
    cm_random_init(&random, round, 5, 0);
    cm_chip *chip = chip_random(&random, 8, false);
    cm_occupancy *occupancy;
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (below(&random, 3) == 0)
        occupancy->state[c] = below(&random, 2) ? CM_CORE_TAKEN : CM_CORE_BROKEN;
    uint32_t room = cm_occupancy_free_count(occupancy), parts = below(&random, (room < MOST ? room : MOST - 1) + 1);
    cm_graph *graph = random_graph(&random, parts, 1);
    cm_region *region;
    cm_arrange_result result;
    ck_ok(cm_region_choose(chip, occupancy, parts, &run, &region, &error));
    cm_arrange_options options = {.budget = &cm_efforts[round % 2 ? CM_PRESET_BALANCED : CM_PRESET_FAST].place.arrange};
    ck_ok(cm_arrange(graph, &(cm_place_task){.chip = chip, .region = region, .seed = round, .run = &run}, &options, core, &result,
                     &error));
    for (uint32_t p = 0; p < parts; p++)
      ck_assert_int_eq(occupancy->state[core[p]], CM_CORE_FREE);
    each_once(core, parts, cm_chip_cores(chip));
    ck_assert_uint_le(result.refined, result.curve);
    if (cm_chip_distance(chip, 0, 0) == 0 && chip->energy_pj.east_west == chip->energy_pj.north_south) {
      uint64_t sum = 0;
      for (uint32_t u = 0; u < parts; u++)
        for (uint64_t i = graph->first[u]; i < graph->first[u + 1]; i++)
          sum += graph->weight[i] * cm_chip_distance(chip, core[u], core[graph->neighbour[i]]);
      ck_assert_uint_eq(result.refined, sum / 2);
    }
    cm_region_free(region);
    cm_graph_free(graph);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("placing");
  TCase *tests = tcase_create("placing");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, axes_tell_the_distances_of_the_chip);
  tcase_add_test(tests, symmetries_move_no_core_nearer_or_farther);
  tcase_add_test(tests, annealing_finds_the_optimum_of_small_cases);
  tcase_add_test(tests, annealing_finds_the_published_optimum_on_any_number_of_threads);
  tcase_add_figures_test(tests, populations_that_end_make_room_for_others);
  tcase_add_test(tests, work_is_divided_without_rest_among_short_annealings);
  tcase_add_test(tests, every_effort_places_on_free_cores_and_never_worse_than_the_curve);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
