/* The integrated mapper: grids of cells, tables of what moves change, its optimum in small cases, limits on any cores. */
#include "../unit/chips.h"

#include "core/placement/mesh/mesh.h"
#include "core/placement/mesh/mesh_anneal.h"

enum { MOST = 40, CORES = 400 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
}

static cm_csr_graph *random_compact(cm_random *random, uint32_t n)
{
  cm_topology t = network_undirected(random, n, 2 + below(random, 30));
  cm_csr_graph *graph;
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &graph, &error));
  network_free(&t);
  return graph;
}

START_TEST(grids_divide_the_cores_among_their_cells)
{
  cm_random random;
  uint32_t core[CORES];
  for (uint64_t round = 0; round < test_rounds(100); round++) {
    cm_random_init(&random, round, 6, 0);
    cm_chip *chip = chip_random(&random, 9, false);
    uint32_t count = chip_random_cores(&random, chip, core);
    cm_axes *axes;
    cm_mesh_grid *grid;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    ck_ok(cm_mesh_grid_new(axes, &run, &grid, &error));
    while (!cm_mesh_grid_done(grid, axes)) {
      cm_mesh_grid *finer;
      uint32_t *parent;
      ck_ok(cm_mesh_grid_split(grid, axes, &run, &finer, &parent, &error));
      ck_assert_uint_gt(finer->columns * finer->rows, grid->columns * grid->rows);
      uint32_t sum[CORES] = {0};
      for (uint32_t c = 0; c < finer->columns * finer->rows; c++)
        sum[parent[c]] += finer->cores[c];
      ck_assert_mem_eq(sum, grid->cores, grid->columns * grid->rows * sizeof *sum);
      cm_mesh_grid_free(grid);
      cm_free(parent);
      grid = finer;
    }
    for (uint32_t a = 0; a < count; a++) {
      uint32_t cell_a = axes->row[a] * grid->columns + axes->column[a];
      ck_assert_uint_eq(grid->cores[cell_a], 1);
      ck_assert_int_eq(cm_mesh_distance(grid, cell_a, axes->row[0] * grid->columns + axes->column[0]),
                       (int)cm_axes_distance(axes, a, 0));
    }
    cm_mesh_grid_free(grid);
    cm_axes_free(axes);
    cm_chip_free(chip);
  }
}
END_TEST

/* The grid of all cores of a mesh. */
static cm_mesh_grid *whole_grid(uint32_t width, uint32_t height, cm_axes **axes)
{
  cm_chip *chip;
  cm_mesh_grid *grid;
  uint32_t core[CORES];
  for (uint32_t c = 0; c < width * height; c++)
    core[c] = c;
  ck_ok(cm_chip_mesh(width, height, &chip, &error));
  ck_ok(cm_axes_new(chip, core, width * height, &run, axes, &error));
  ck_ok(cm_mesh_grid_new(*axes, &run, &grid, &error));
  while (!cm_mesh_grid_done(grid, *axes)) {
    cm_mesh_grid *finer;
    uint32_t *parent;
    ck_ok(cm_mesh_grid_split(grid, *axes, &run, &finer, &parent, &error));
    cm_free(parent);
    cm_mesh_grid_free(grid);
    grid = finer;
  }
  cm_chip_free(chip);
  return grid;
}

/* Multiplies all weights by a factor; the largest sum of a vertex' weights. */
static uint64_t weigh(cm_csr_graph *graph, uint32_t factor)
{
  uint64_t heaviest = 0;
  if (graph->weight == NULL) {
    ck_ok(CM_NEW(run.memory, graph->weight, graph->entry_count, &error));
    for (uint64_t i = 0; i < graph->entry_count; i++)
      graph->weight[i] = 1;
  }
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    uint64_t sum = 0;
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      sum += graph->weight[i] *= factor;
    heaviest = sum > heaviest ? sum : heaviest;
  }
  return heaviest;
}

START_TEST(tables_tell_what_every_move_changes)
{
  cm_random random;
  bool seen[3] = {false};
  for (uint64_t round = 0; round < 60; round++) {
    cm_random_init(&random, round, 7, 0);
    uint32_t width = 1 + below(&random, 6), height = 1 + below(&random, 6), cells = width * height,
             n = 1 + below(&random, MOST);
    cm_csr_graph *graph = random_compact(&random, n);
    cm_axes *axes;
    cm_mesh_grid *grid = whole_grid(width, height, &axes);
    uint64_t most[36];
    uint32_t cell[MOST];
    uint64_t heaviest = weigh(graph, 1), fits = INT16_MAX / (width + height - 1);
    for (uint32_t c = 0; c < cells; c++)
      most[c] = n;
    for (uint32_t v = 0; v < n; v++)
      cell[v] = below(&random, cells);
    if (heaviest > 0 && heaviest <= fits) /* as heavy as 16 bits can hold, or too heavy */
      heaviest = weigh(graph, (uint32_t)(fits / heaviest + round % 2));
    cm_mesh_state *state;
    ck_ok(cm_mesh_state_new(graph, grid, cell, most, &run, &state, &error));
    ck_assert_int_eq(state->narrow != NULL, cm_mesh_tabled(state) && heaviest <= fits);
    seen[cm_mesh_tabled(state) ? 1 + (state->narrow != NULL) : 0] = true;
    for (uint32_t move = 0; move < 100; move++) {
      uint32_t v = below(&random, n), to = below(&random, cells);
      uint64_t before = cm_mesh_total(graph, grid, cell);
      int64_t change = cm_mesh_cost(state, v, to);
      const int32_t *row = cm_mesh_row(state, v), *by_row = row + state->rows_at;
      int32_t here = row[cell[v] % width] + by_row[cell[v] / width];
      ck_assert_int_eq(row[to % width] + by_row[to / width] - here, change);
      ck_assert_int_eq(cm_mesh_inside(state, v), here == 0);
      cm_mesh_move(state, v, to);
      ck_assert_int_eq((int64_t)cm_mesh_total(graph, grid, cell) - (int64_t)before, change);
    }
    uint64_t load[36] = {0};
    for (uint32_t v = 0; v < n; v++)
      load[cell[v]] += graph->size[v];
    ck_assert_mem_eq(load, state->load, cells * sizeof *load);
    cm_mesh_state_free(state);
    cm_mesh_grid_free(grid);
    cm_axes_free(axes);
    cm_csr_graph_free(graph);
  }
  ck_assert(seen[0] && seen[1] && seen[2]); /* no table, 32 bits, 16 bits */
}
END_TEST

START_TEST(rebalancing_fits_whatever_can_fit_and_annealing_keeps_it)
{
  cm_random random;
  float chance[CM_CHANCES];
  cm_mesh_chances(chance);
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 8, 0);
    uint32_t width = 1 + below(&random, 6), height = 1 + below(&random, 6), cells = width * height,
             n = 1 + below(&random, MOST);
    cm_csr_graph *graph = random_compact(&random, n);
    cm_axes *axes;
    cm_mesh_grid *grid = whole_grid(width, height, &axes);
    uint64_t most[36] = {0}, room = 0;
    uint32_t cell[MOST] = {0};
    while (room < n) { /* exactly enough, spread at random, some cells without any */
      most[below(&random, cells)]++;
      room++;
    }
    cm_mesh_state *state;
    ck_ok(cm_mesh_state_new(graph, grid, cell, most, &run, &state, &error));
    ck_ok(cm_mesh_rebalance(state, &error));
    cm_mesh_schedule schedule = {cm_mesh_typical(state), 0.01, 20, 0, chance};
    ck_ok(cm_mesh_anneal(state, &schedule, &random, &error));
    ck_ok(cm_mesh_settle(state, 5, &error));
    for (uint32_t c = 0; c < cells; c++)
      ck_assert_uint_le(state->load[c], most[c]);
    cm_mesh_state_free(state);
    cm_mesh_grid_free(grid);
    cm_axes_free(axes);
    cm_csr_graph_free(graph);
  }
}
END_TEST

static cm_mesh_options small_effort(uint64_t most, uint64_t seed)
{
  return (cm_mesh_options){.most = most, .starts = 2, .descents = 2, .visits = 1e6, .sweeps_max = 200, .cycles = 2, .seed = seed};
}

/* The least cost over all assignments of the vertices from v on that keep the limit. */
static uint64_t least_assignment(const cm_csr_graph *g, const cm_axes *axes, uint32_t v, uint32_t *at, uint32_t *load,
                                 uint32_t most)
{
  if (v == g->vertex_count) {
    uint64_t sum = 0;
    for (uint32_t u = 0; u < g->vertex_count; u++)
      for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
        sum += cm_csr_graph_weight(g, i) * cm_axes_distance(axes, at[u], at[g->neighbour[i]]);
    return sum / 2;
  }
  uint64_t least = UINT64_MAX;
  for (uint32_t c = 0; c < axes->count; c++) {
    if (load[c] == most)
      continue;
    at[v] = c;
    load[c]++;
    uint64_t cost = least_assignment(g, axes, v + 1, at, load, most);
    load[c]--;
    least = cost < least ? cost : least;
  }
  return least;
}

START_TEST(the_mesh_mapper_finds_the_optimum_of_small_cases)
{
  cm_random random;
  uint32_t core[CORES], at[MOST], other[MOST], load[4] = {0};
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 9, 0);
    cm_chip *chip = chip_random(&random, 3, false);
    uint32_t count = chip_random_cores(&random, chip, core), n = 1 + below(&random, 7);
    count = count > 4 ? 4 : count;
    uint32_t most = (n + count - 1) / count;
    cm_csr_graph *graph = random_compact(&random, n);
    cm_axes *axes;
    uint64_t cost;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    cm_mesh_options options = small_effort(most, round);
    options.starts = 16;
    options.sweeps_max = 2000;
    ck_ok(cm_map_on_mesh(graph, axes, &options, &run, at, &cost, &error));
    ck_assert_uint_eq(cost, least_assignment(graph, axes, 0, other, load, most));
    cm_axes_free(axes);
    cm_csr_graph_free(graph);
    cm_chip_free(chip);
  }
}
END_TEST

/* Rings that fit pairwise into the cores, each with its members far apart in number. */
START_TEST(the_mesh_mapper_keeps_rings_whole_that_fit)
{
  enum { RINGS = 32, LENGTH = 16, SIDE = 4, N = RINGS * LENGTH };
  uint64_t first[N + 1];
  uint32_t neighbour[2 * N], size[N], at[N];
  for (uint32_t v = 0; v < N; v++) {
    first[v] = 2 * v;
    neighbour[2 * v] = (v + RINGS) % N;
    neighbour[2 * v + 1] = (v + N - RINGS) % N;
    size[v] = 1;
  }
  first[N] = 2 * N;
  cm_csr_graph graph = {.vertex_count = N, .entry_count = 2 * N, .first = first, .neighbour = neighbour, .size = size,
                      .size_total = N, .size_max = 1, .weight_total = N, .weight_unit = 1};
  cm_axes *axes;
  uint64_t cost;
  cm_mesh_grid_free(whole_grid(SIDE, SIDE, &axes));
  cm_mesh_options options = small_effort(2 * LENGTH, 1);
  ck_ok(cm_map_on_mesh(&graph, axes, &options, &run, at, &cost, &error));
  ck_assert_uint_eq(cost, 0);
  cm_axes_free(axes);
}
END_TEST

START_TEST(the_mesh_mapper_keeps_the_limit_on_any_cores_and_threads)
{
  cm_random random;
  enum { VERTICES = 300 };
  uint32_t core[CORES], at[VERTICES], again[VERTICES];
  for (uint64_t round = 0; round < test_rounds(40); round++) {
    cm_random_init(&random, round, 10, 0);
    cm_chip *chip = chip_random(&random, 8, false);
    uint32_t count = chip_random_cores(&random, chip, core), n = 1 + below(&random, VERTICES);
    uint64_t most = (n + count - 1) / count + below(&random, 2), cost, second;
    cm_csr_graph *graph = random_compact(&random, n);
    cm_axes *axes;
    ck_ok(cm_axes_new(chip, core, count, &run, &axes, &error));
    cm_mesh_options options = small_effort(most, round);
    options.visits = 2e4;
    run.threads = 2;
    ck_ok(cm_map_on_mesh(graph, axes, &options, &run, at, &cost, &error));
    uint64_t sum = 0, load[CORES] = {0};
    for (uint32_t v = 0; v < n; v++) {
      ck_assert_uint_lt(at[v], count);
      load[at[v]] += graph->size[v];
      for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
        sum += cm_csr_graph_weight(graph, i) * cm_axes_distance(axes, at[v], at[graph->neighbour[i]]);
    }
    ck_assert_uint_eq(cost, sum / 2);
    for (uint32_t c = 0; c < count; c++)
      ck_assert_uint_le(load[c], most);
    run.threads = 1 + below(&random, 4);
    ck_ok(cm_map_on_mesh(graph, axes, &options, &run, again, &second, &error));
    ck_assert_uint_eq(cost, second);
    ck_assert_mem_eq(at, again, n * sizeof *at);
    if (n > count) { /* one place too few in all: refused */
      options.most = (n - 1) / count;
      if (options.most > 0)
        ck_fails(cm_map_on_mesh(graph, axes, &options, &run, again, &second, &error), CM_LIMIT_BROKEN);
    }
    cm_axes_free(axes);
    cm_csr_graph_free(graph);
    cm_chip_free(chip);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("mesh");
  TCase *tests = tcase_create("mesh");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, grids_divide_the_cores_among_their_cells);
  tcase_add_test(tests, tables_tell_what_every_move_changes);
  tcase_add_test(tests, rebalancing_fits_whatever_can_fit_and_annealing_keeps_it);
  tcase_add_test(tests, the_mesh_mapper_finds_the_optimum_of_small_cases);
  tcase_add_test(tests, the_mesh_mapper_keeps_rings_whole_that_fit);
  tcase_add_test(tests, the_mesh_mapper_keeps_the_limit_on_any_cores_and_threads);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
