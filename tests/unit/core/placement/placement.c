/* core/placement: the source's steps s8 and s9 on hand-computed and random cases. */
#include "tests/unit/networks.h"

#include <math.h>

#include "base/random.h"
#include "core/placement/placement.h"

enum { MOST = 64, WIDE = 29 };

static cm_error error;
static cm_run run;
static cm_graph graph;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
  graph = (cm_graph){.first = network_array(MOST + 1, sizeof *graph.first),
                     .neighbour = network_array(MOST * MOST, sizeof *graph.neighbour),
                     .weight = network_array(MOST * MOST, sizeof *graph.weight),
                     .size = network_array(MOST, sizeof *graph.size)};
}

static void tear_down(void)
{
  CM_FREE(graph.first, graph.neighbour, graph.weight, graph.size);
}

/* Fills the static graph from a dense matrix. */
static void fill(uint32_t n, uint64_t dense[MOST][MOST])
{
  graph.vertex_count = n;
  graph.entry_count = 0;
  for (uint32_t v = 0; v < n; v++) {
    graph.size[v] = 1;
    for (uint32_t u = 0; u < n; u++) {
      if (dense[v][u] == 0)
        continue;
      graph.neighbour[graph.entry_count] = u;
      graph.weight[graph.entry_count++] = dense[v][u];
    }
    graph.first[v + 1] = graph.entry_count;
  }
}

static void connect(uint64_t dense[MOST][MOST], uint32_t a, uint32_t b, uint64_t w)
{
  dense[a][b] = dense[b][a] = w;
}

START_TEST(bisection_keeps_what_talks_most_in_one_half)
{
  /* 0-1 and 2-3 talk much, 1-2 little: on 2 x 2 cores each heavy pair must share a column. */
  uint64_t dense[MOST][MOST] = {{0}};
  connect(dense, 0, 1, 100);
  connect(dense, 2, 3, 100);
  connect(dense, 1, 2, 1);
  fill(4, dense);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(2, 2, &chip, &error));
  uint32_t cores[] = {0, 1, 2, 3}, core[4];
  cm_region region = {.width = 2, .height = 2, .rectangle = true, .core_count = 4, .cores = cores};
  ck_ok(
    cm_place_by_bisection(&graph, &(cm_place_task){.chip = chip, .region = &region, .seed = 1, .run = &run}, 8, core, &error));
  ck_assert_uint_eq(core[0] % 2, core[1] % 2);
  ck_assert_uint_eq(core[2] % 2, core[3] % 2);
  ck_assert_uint_ne(core[0] % 2, core[2] % 2);
  cm_chip_free(chip);
}
END_TEST

START_TEST(bisection_uses_each_core_of_a_ragged_region_once)
{
  cm_random random;
  static uint64_t dense[MOST][MOST];
  for (uint64_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 1, 0);
    cm_chip *chip;
    uint32_t width = 1 + (uint32_t)cm_random_below(&random, 9), height = 1 + (uint32_t)cm_random_below(&random, 7);
    ck_ok(cm_chip_mesh(width + 2, height + 3, &chip, &error));
    uint32_t cores[MOST], core[MOST], count = 0, seen[256] = {0};
    for (uint32_t y = 1; y <= height; y++)
      for (uint32_t x = 2; x < width + 2; x++)
        if (cm_random_below(&random, 3) > 0)
          cores[count++] = y * chip->width + x;
    memset(dense, 0, sizeof dense);
    for (uint32_t a = 0; a < count; a++)
      for (uint32_t b = a + 1; b < count; b++)
        if (cm_random_below(&random, 100) < 20)
          connect(dense, a, b, 1 + cm_random_below(&random, 9));
    fill(count, dense);
    cm_region region = {.x0 = 2, .y0 = 1, .width = width, .height = height, .core_count = count, .cores = cores};
    ck_ok(cm_place_by_bisection(&graph, &(cm_place_task){.chip = chip, .region = &region, .seed = round, .run = &run}, 4, core,
                                &error));
    cm_force_result result;
    for (int step = 0; step < 2; step++) {
      memset(seen, 0, sizeof seen);
      for (uint32_t p = 0; p < count; p++)
        seen[core[p]]++;
      for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(seen[cores[i]], 1);
      ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run},
                              &(cm_force_options){0.05, 1000, 0}, core, &result, &error));
    }
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(a_path_out_of_order_relaxes_by_one_swap)
{
  /* A path of weights 5 and 7 that stands 0 2 1 on a line: forces 5 * 2 = 10, 5 * 2 + 7 = 17 and 7. In order they are 5, 2 and 7, and
   * no swap is left that lowers them; 5 + 7 hops. */
  uint64_t dense[MOST][MOST] = {{0}};
  connect(dense, 0, 1, 5);
  connect(dense, 1, 2, 7);
  fill(3, dense);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(3, 1, &chip, &error));
  uint32_t cores[] = {0, 1, 2}, core[] = {0, 2, 1};
  cm_region region = {.width = 3, .height = 1, .rectangle = true, .core_count = 3, .cores = cores};
  cm_force_result result;
  ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run},
                          &(cm_force_options){0.05, 1000, 0}, core, &result, &error));
  ck_assert_double_eq(result.force_before, 34);
  ck_assert_double_eq(result.force_after, 14);
  ck_assert_uint_eq(result.swaps, 1);
  ck_assert_uint_eq(cm_placement_traffic(&graph, chip, core), 12);
  cm_chip_free(chip);
}
END_TEST

START_TEST(forces_pull_the_short_way_round_a_torus)
{
  /* A ring of six in its best place on a ring of cores: every part is pulled by 1 to either side. On a row the two at the ends are
   * pulled by 1 + 5 inwards. A ring that stands 0 1 2 3 5 4 is put in order again by one swap. */
  uint64_t dense[MOST][MOST] = {{0}};
  for (uint32_t p = 0; p < 6; p++)
    connect(dense, p, (p + 1) % 6, 1);
  fill(6, dense);
  for (uint32_t way = 0; way < 2; way++) {
    cm_chip *chip;
    ck_ok(cm_chip_mesh(way == 0 ? 6 : 1, way == 0 ? 1 : 6, &chip, &error));
    uint32_t cores[] = {0, 1, 2, 3, 4, 5}, core[] = {0, 1, 2, 3, 4, 5};
    cm_region region = {.width = chip->width, .height = chip->height, .rectangle = true, .core_count = 6, .cores = cores};
    cm_place_task task = {.chip = chip, .region = &region, .run = &run};
    cm_force_result result;
    ck_ok(cm_place_by_force(&graph, &task, &(cm_force_options){1, 0, 0}, core, &result, &error));
    ck_assert_double_eq(result.force_before, 12);
    chip->torus_x = way == 0;
    chip->torus_y = way == 1;
    ck_ok(cm_place_by_force(&graph, &task, &(cm_force_options){1, 1000, 0}, core, &result, &error));
    ck_assert_double_eq(result.force_before, 0);
    ck_assert_uint_eq(result.swaps, 0);
    core[4] = 5;
    core[5] = 4;
    ck_ok(cm_place_by_force(&graph, &task, &(cm_force_options){1, 1000, 0}, core, &result, &error));
    ck_assert_double_gt(result.force_before, 0);
    ck_assert_double_eq(result.force_after, 0);
    ck_assert_uint_eq(cm_placement_traffic(&graph, chip, core), 6);
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(force_swaps_the_pair_that_relaxes_most)
{
  /* A chain 0-1-2 on one row, standing 0 2 1. Forces: 2, -3, 1. Part 1 is pulled hardest, to the west; swapping with 2
   * changes the forces by -3, with 0 by 0: it swaps with 2 and the chain is straight, forces 1, 0, -1. */
  uint64_t dense[MOST][MOST] = {{0}};
  connect(dense, 0, 1, 1);
  connect(dense, 1, 2, 1);
  fill(3, dense);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(3, 1, &chip, &error));
  uint32_t cores[] = {0, 1, 2}, core[] = {0, 2, 1};
  cm_region region = {.width = 3, .height = 1, .rectangle = true, .core_count = 3, .cores = cores};
  cm_force_result result;
  ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run},
                          &(cm_force_options){0.05, 1000, 0}, core, &result, &error));
  ck_assert_uint_eq(core[0], 0);
  ck_assert_uint_eq(core[1], 1);
  ck_assert_uint_eq(core[2], 2);
  ck_assert_uint_eq(result.swaps, 1);
  ck_assert_double_eq(result.force_before, 6);
  ck_assert_double_eq(result.force_after, 2);
  ck_assert_uint_eq(cm_placement_traffic(&graph, chip, core), 2);
  cm_chip_free(chip);
}
END_TEST

/* Of the square mesh that parts are scattered over; of 8 x 8 they fill it. */
static uint32_t side = 8;

/* From the dense matrix. */
static void force_of(uint64_t dense[MOST][MOST], const uint32_t *core, uint32_t u, double *x, double *y)
{
  *x = *y = 0;
  for (uint32_t v = 0; v < MOST; v++) {
    *x += (double)dense[u][v] * ((double)(core[v] % side) - (double)(core[u] % side));
    *y += (double)dense[u][v] * ((double)(core[v] / side) - (double)(core[u] / side));
  }
}

static double force_length(uint64_t dense[MOST][MOST], const uint32_t *core, uint32_t u)
{
  double x, y;
  force_of(dense, core, u, &x, &y);
  return sqrt(x * x + y * y);
}

static void scatter(cm_random *random, uint64_t dense[MOST][MOST], uint32_t *core)
{
  memset(dense, 0, MOST * sizeof *dense);
  for (uint32_t a = 0; a < MOST; a++)
    for (uint32_t b = a + 1; b < MOST; b++)
      if (cm_random_below(random, 100) < 6)
        connect(dense, a, b, 1 + cm_random_below(random, 9));
  fill(MOST, dense);
  uint32_t all[WIDE * WIDE];
  cm_random_permutation(random, all, side * side);
  memcpy(core, all, MOST * sizeof *core);
}

static double change_by_swap(uint64_t dense[MOST][MOST], uint32_t *core, uint32_t u, uint32_t v)
{
  double before = force_length(dense, core, u) + force_length(dense, core, v);
  uint32_t kept = core[u];
  core[u] = core[v];
  core[v] = kept;
  double after = force_length(dense, core, u) + force_length(dense, core, v);
  core[v] = core[u];
  core[u] = kept;
  return after - before;
}

/* Boxes of one square of cores that is looked at as a whole, and of many, most of which are left out. */
START_TEST(the_swap_made_is_the_best_of_the_quadrant_that_the_force_points_to)
{
  static uint64_t dense[MOST][MOST];
  uint32_t swapped = 0, off_ray = 0;
  for (uint64_t round = 0; round < 100; round++) {
    side = round % 2 == 0 ? 8 : WIDE;
    cm_random random;
    cm_random_init(&random, round, 3, 0);
    uint32_t cores[MOST], core[MOST], before[MOST];
    scatter(&random, dense, core);
    for (uint32_t i = 0; i < MOST; i++)
      cores[i] = i;
    memcpy(before, core, sizeof before);
    cm_chip *chip;
    ck_ok(cm_chip_mesh(side, side, &chip, &error));
    cm_region region = {.width = side, .height = side, .core_count = MOST, .cores = cores};
    cm_force_result result;
    ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run},
                            &(cm_force_options){1.0 / MOST, 1, 0}, core, &result, &error));
    cm_chip_free(chip);
    uint32_t u = 0; /* the part walked: the largest force */
    for (uint32_t v = 1; v < MOST; v++)
      if (force_length(dense, before, v) > force_length(dense, before, u))
        u = v;
    double x, y, least = 0;
    force_of(dense, before, u, &x, &y);
    for (uint32_t v = 0; v < MOST; v++) {
      double dx = (double)(before[v] % side) - (double)(before[u] % side), dy = (double)(before[v] / side) - (double)(before[u] / side);
      bool inside = v != u && (x > 0 ? dx >= 0 : x < 0 ? dx <= 0 : dx == 0) && (y > 0 ? dy >= 0 : y < 0 ? dy <= 0 : dy == 0);
      if (inside)
        least = fmin(least, change_by_swap(dense, before, u, v));
    }
    if (result.swaps == 0) {
      ck_assert_double_ge(least, -1e-9);
      continue;
    }
    uint32_t v = 0;
    while (core[v] != before[u])
      v++;
    ck_assert_uint_eq(core[u], before[v]);
    ck_assert_double_eq_tol(change_by_swap(dense, before, u, v), least, 1e-9);
    swapped++;
    double dx = (double)(before[v] % side) - (double)(before[u] % side), dy = (double)(before[v] / side) - (double)(before[u] / side);
    off_ray += fabs(dx * y - dy * x) > fmax(fabs(x), fabs(y));
  }
  ck_assert_uint_gt(swapped, 50);
  ck_assert_uint_gt(off_ray, 10); /* a search along one ray would not have found them */
}
END_TEST

START_TEST(forces_are_kept_exactly_through_swaps)
{
  cm_random random;
  static uint64_t dense[MOST][MOST];
  uint64_t swaps = 0;
  for (uint64_t round = 0; round < 20; round++) {
    cm_random_init(&random, round, 2, 0);
    side = round % 2 == 0 ? 8 : WIDE;
    cm_chip *chip;
    ck_ok(cm_chip_mesh(side, side, &chip, &error));
    uint32_t cores[MOST], core[MOST];
    for (uint32_t i = 0; i < MOST; i++)
      cores[i] = i;
    scatter(&random, dense, core);
    cm_region region = {.width = side, .height = side, .core_count = MOST, .cores = cores};
    cm_force_result result;
    ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run},
                            &(cm_force_options){0.05, 1000, 0}, core, &result, &error));
    double sum = 0;
    for (uint32_t u = 0; u < MOST; u++)
      sum += force_length(dense, core, u);
    ck_assert_double_eq_tol(result.force_after, sum, 1e-6);
    ck_assert_double_lt(result.force_after, result.force_before);
    swaps += result.swaps;
    cm_chip_free(chip);
  }
  ck_assert_uint_gt(swaps, 20);
}
END_TEST

/* Looks end a search between rounds. */
START_TEST(force_ends_where_it_has_looked_enough)
{
  cm_random random;
  static uint64_t dense[MOST][MOST];
  uint32_t cores[MOST], core[MOST], trial[MOST];
  cm_chip *chip;
  cm_random_init(&random, 1, 4, 0);
  side = 8;
  for (uint32_t i = 0; i < MOST; i++)
    cores[i] = i;
  scatter(&random, dense, core);
  ck_ok(cm_chip_mesh(side, side, &chip, &error));
  cm_region region = {.width = side, .height = side, .core_count = MOST, .cores = cores};
  const cm_force_options options[] = {{0.05, 1000, 0}, {0.05, 1000, 1}, {0.05, 1, 0}};
  cm_force_result result[3];
  for (int i = 0; i < 3; i++) {
    memcpy(trial, core, sizeof trial);
    ck_ok(cm_place_by_force(&graph, &(cm_place_task){.chip = chip, .region = &region, .run = &run}, &options[i], trial,
                            &result[i], &error));
  }
  ck_assert_uint_gt(result[0].rounds, 3);
  ck_assert_uint_eq(result[1].swaps, result[2].swaps);
  ck_assert_double_eq(result[1].force_after, result[2].force_after);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("placement");
  TCase *tests = tcase_create("placement");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, bisection_keeps_what_talks_most_in_one_half);
  tcase_add_test(tests, bisection_uses_each_core_of_a_ragged_region_once);
  tcase_add_test(tests, force_ends_where_it_has_looked_enough);
  tcase_add_test(tests, a_path_out_of_order_relaxes_by_one_swap);
  tcase_add_test(tests, forces_pull_the_short_way_round_a_torus);
  tcase_add_test(tests, force_swaps_the_pair_that_relaxes_most);
  tcase_add_test(tests, the_swap_made_is_the_best_of_the_quadrant_that_the_force_points_to);
  tcase_add_test(tests, forces_are_kept_exactly_through_swaps);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
