/* Placement of many parts by blocks: what exchanges claim to gain against costs recomputed from scratch, no core used
 * twice or unasked on any chip and occupancy, a planted layout found again, the same for any number of threads. */
#include "../unit/networks.h"

#include "core/placement/blocks.h"
#include "core/placement/exchange.h"
#include "core/placement/qap/qap.h"
#include "core/solver/presets.h"

enum { MOST = 1200 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
}

static cm_chip *random_chip(cm_random *random, uint32_t most_side)
{
  static const char *const energy[] = {"{\"router\": 1, \"link\": 0.1}",
                                       "{\"router\": 0, \"east_west\": 3, \"north_south\": 4.2, \"die_to_die\": 20}"};
  char text[400];
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"r\", \"dies\": [%u, 1], \"cores\": [%u, %u], \"cores_per_router\": [%u, 1], \"torus\": "
                 "[%s, %s], \"energy_pj\": %s}",
                 1 + below(random, 2), 2 * (1 + below(random, most_side)), 1 + below(random, most_side),
                 1 + below(random, 2), below(random, 3) ? "false" : "true", below(random, 3) ? "false" : "true",
                 energy[below(random, 2)]);
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

/* Each vertex with some near it in number and some anywhere. */
static cm_graph *random_graph(cm_random *random, uint32_t n, uint64_t factor)
{
  static uint64_t first[MOST + 1], weight[MOST * 16];
  static uint32_t neighbour[MOST * 16];
  static uint32_t pair[MOST * 4][2];
  uint32_t pairs = 0;
  uint64_t w[MOST * 4];
  memset(first, 0, sizeof first);
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t k = 0; k < 4 && n > 1; k++) {
      uint32_t u = below(random, 5) ? (v + 1 + below(random, 6)) % n : below(random, n);
      if (u == v)
        continue;
      w[pairs] = factor * (1 + below(random, 20));
      pair[pairs][0] = u;
      pair[pairs++][1] = v;
    }
  for (uint32_t p = 0; p < pairs; p++)
    for (int side = 0; side < 2; side++)
      first[pair[p][side] + 1]++;
  for (uint32_t v = 0; v < n; v++)
    first[v + 1] += first[v];
  static uint64_t next[MOST];
  memcpy(next, first, n * sizeof *next);
  for (uint32_t p = 0; p < pairs; p++)
    for (int side = 0; side < 2; side++) {
      uint64_t i = next[pair[p][side]]++;
      neighbour[i] = pair[p][!side];
      weight[i] = w[p];
    }
  cm_graph *graph;
  ck_ok(cm_graph_from_rows(n, first, neighbour, weight, &run, &graph, &error));
  return graph;
}

/* A graph's rows as the exchanges want them. */
static cm_csr_graph view_of(const cm_graph *g, uint32_t *weight)
{
  for (uint64_t i = 0; i < g->entry_count; i++)
    weight[i] = (uint32_t)g->weight[i];
  return (cm_csr_graph){.vertex_count = g->vertex_count, .entry_count = g->entry_count, .first = g->first,
                      .neighbour = g->neighbour, .weight = weight, .size = g->size};
}

START_TEST(exchanges_gain_what_the_cost_falls_by)
{
  static uint32_t core[MOST], cell[MOST], at[MOST], weight[MOST * 16];
  uint64_t better = 0;
  for (uint64_t round = 0; round < 60; round++) {
    cm_random random;
    cm_random_init(&random, round, 1, 0);
    cm_chip *chip = random_chip(&random, 12);
    uint32_t count = 0, pinned;
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (below(&random, 4) > 0)
        core[count++] = c;
    cm_graph *graph = random_graph(&random, count, 1);
    cm_csr_graph view = view_of(graph, weight);
    cm_axes *axes;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    size_t box = (size_t)axes->columns * axes->rows;
    memset(at, 0xff, sizeof at);
    ck_assert_uint_le(box, MOST);
    for (uint32_t c = 0; c < count; c++)
      at[axes->row[c] * axes->columns + axes->column[c]] = c;
    cm_cells cells = {axes, count, axes->column, axes->row, at, 1 + below(&random, 2), 0};
    cm_random_permutation(&random, cell, count);
    pinned = count > 2 ? below(&random, 3) : 0;
    uint32_t kept[2] = {0};
    for (uint32_t v = 0; v < count; v++)
      if (cell[v] >= count - pinned)
        kept[cell[v] - (count - pinned)] = v;
    uint64_t before = cm_axes_cost(graph, axes, cell);
    int64_t gain;
    cells.pinned = pinned;
    cm_exchange_schedule schedule = {below(&random, 2) ? 3 : 0.1, 0.05, 1 + below(&random, 6), &random, &gain};
    ck_ok(cm_anneal_by_exchange(&view, &cells, &schedule, &run, cell, &error));
    static uint8_t used[MOST];
    memset(used, 0, sizeof used);
    for (uint32_t v = 0; v < count; v++) {
      ck_assert_uint_lt(cell[v], count);
      ck_assert_uint_eq(used[cell[v]]++, 0);
    }
    for (uint32_t p = 0; p < pinned; p++)
      ck_assert_uint_eq(cell[kept[p]], count - pinned + p);
    ck_assert_int_eq((int64_t)before - (int64_t)cm_axes_cost(graph, axes, cell), gain);
    better += gain > 0;
    cm_axes_free(axes);
    cm_graph_free(graph);
    cm_chip_free(chip);
  }
  ck_assert_uint_gt(better, 40);
}
END_TEST

START_TEST(blocks_use_each_core_of_a_region_at_most_once)
{
  static uint32_t at[2][MOST];
  for (uint64_t round = 0; round < test_rounds(40); round++) {
    cm_random random;
    cm_random_init(&random, round, 2, 0);
    cm_chip *chip = random_chip(&random, 17);
    cm_occupancy *occupancy;
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (below(&random, 5) == 0)
        occupancy->state[c] = CM_CORE_TAKEN;
    uint32_t room = cm_occupancy_free_count(occupancy), parts = below(&random, room + 1);
    cm_graph *graph = random_graph(&random, parts, round % 4 == 0 ? UINT64_C(1) << 36 : 1);
    cm_region *region;
    cm_axes *axes;
    ck_ok(cm_region_choose(chip, occupancy, parts, &run, &region, &error));
    ck_ok(cm_axes_new(chip, region->cores, region->core_count, &run, &axes, &error));
    cm_blocks_result result = {0};
    for (unsigned threads = 1; threads <= 2; threads++) {
      cm_blocks_options options = {.sweeps = 2, .entries = round % 5 == 1 ? 5e4 : 0, .cycles = (uint32_t)(round % 3)};
      run.threads = threads == 1 ? 1 : 3;
      ck_ok(cm_place_by_blocks(graph, &(cm_place_task){.chip = chip, .region = region, .axes = axes, .seed = round, .run = &run},
                               &options, at[threads - 1], &result, &error));
    }
    ck_assert_mem_eq(at[0], at[1], parts * sizeof at[0][0]);
    static uint8_t used[MOST * 2];
    memset(used, 0, sizeof used);
    for (uint32_t p = 0; p < parts; p++) {
      ck_assert_uint_lt(at[0][p], region->core_count);
      ck_assert_uint_eq(used[at[0][p]]++, 0);
    }
    ck_assert_uint_eq(result.cost, cm_axes_cost(graph, axes, at[0]));
    cm_axes_free(axes);
    cm_region_free(region);
    cm_graph_free(graph);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
}
END_TEST

/* A grid of vertices with shuffled numbers. */
static cm_graph *shuffled_grid(uint32_t side, uint64_t seed)
{
  uint32_t n = side * side, *name = network_array(n, sizeof *name), *neighbour = network_array(4 * (size_t)n, sizeof *name);
  uint64_t *first = network_array((size_t)n + 1, sizeof *first), *weight = network_array(4 * (size_t)n, sizeof *weight);
  uint32_t *place = network_array(n, sizeof *place);
  cm_random random;
  cm_random_init(&random, seed, 3, 0);
  cm_random_permutation(&random, name, n);
  for (uint32_t i = 0; i < n; i++)
    place[name[i]] = i;
  uint64_t end = 0;
  for (uint32_t v = 0; v < n; v++) {
    uint32_t x = place[v] % side, y = place[v] / side;
    uint32_t beside[4] = {x > 0 ? place[v] - 1 : n, x + 1 < side ? place[v] + 1 : n, y > 0 ? place[v] - side : n,
                          y + 1 < side ? place[v] + side : n};
    for (int k = 0; k < 4; k++)
      if (beside[k] < n) {
        neighbour[end] = name[beside[k]];
        weight[end++] = 1;
      }
    first[v + 1] = end;
  }
  cm_graph *graph;
  ck_ok(cm_graph_from_rows(n, first, neighbour, weight, &run, &graph, &error));
  CM_FREE(name, neighbour, first, weight, place);
  return graph;
}

/* A grid of 48 x 48 on as many cores: 1 a link would be perfect, 32 is what a random placement has. */
START_TEST(a_planted_grid_comes_out_nearly_flat)
{
  enum { SIDE = 48, N = SIDE * SIDE };
  static uint32_t core[N];
  static const double most[] = {[CM_PRESET_FAST] = 2.6, [CM_PRESET_BALANCED] = 1.7};
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_region *region;
  cm_graph *graph = shuffled_grid(SIDE, 1);
  ck_ok(cm_chip_mesh(SIDE, SIDE, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  ck_ok(cm_region_choose(chip, occupancy, N, &run, &region, &error));
  for (cm_preset preset = CM_PRESET_FAST; preset <= CM_PRESET_BALANCED; preset++) {
    cm_arrange_result result;
    cm_arrange_options options = {.budget = &cm_efforts[preset].place.arrange};
    ck_ok(cm_arrange(graph, &(cm_place_task){.chip = chip, .region = region, .seed = 1, .run = &run}, &options, core, &result,
                     &error));
    ck_assert_double_lt((double)result.refined / (2.0 * SIDE * (SIDE - 1)), most[preset]);
    ck_assert_uint_le(result.refined, result.curve);
  }
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

/* So many parts that what a descent looks at is bounded: 128 is what a random placement has. */
START_TEST(a_large_grid_comes_out_soon_and_short)
{
  enum { SIDE = 192, N = SIDE * SIDE };
  static uint32_t core[N];
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_region *region;
  cm_graph *graph = shuffled_grid(SIDE, 1);
  cm_arrange_result result;
  cm_arrange_options options = {.budget = &cm_efforts[CM_PRESET_FAST].place.arrange};
  ck_ok(cm_chip_mesh(SIDE, SIDE, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  ck_ok(cm_region_choose(chip, occupancy, N, &run, &region, &error));
  ck_ok(
    cm_arrange(graph, &(cm_place_task){.chip = chip, .region = region, .seed = 1, .run = &run}, &options, core, &result, &error));
  ck_assert_double_lt((double)result.refined / (2.0 * SIDE * (SIDE - 1)), 4);
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("blocks");
  TCase *tests = tcase_create("all");
  tcase_add_checked_fixture(tests, set_up, NULL);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, exchanges_gain_what_the_cost_falls_by);
  tcase_add_test(tests, blocks_use_each_core_of_a_region_at_most_once);
  tcase_add_figures_test(tests, a_planted_grid_comes_out_nearly_flat);
  tcase_add_figures_test(tests, a_large_grid_comes_out_soon_and_short);
  return test_main(suite);
}
