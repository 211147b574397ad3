/* Placement by ways with a start by layout: grids of parts are found as they were drawn, whatever their numbers; no two parts on one
 * core, and what is told is what the ways come to. */
#include "../unit/chips.h"

#include <inttypes.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/occupancy.h"
#include "core/chip/turns.h"
#include "core/placement/arrange.h"
#include "core/placement/ways/ways.h"

enum { PARTS_MAX = 400 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

typedef struct scene {
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_region *region;
  cm_graph *graph;
  uint32_t at[PARTS_MAX];
  cm_way_result result;
} scene;

static void scene_free(scene *s)
{
  cm_graph_free(s->graph);
  cm_region_free(s->region);
  cm_occupancy_free(s->occupancy);
  cm_chip_free(s->chip);
}

static void take_chip(scene *s, const char *shape, uint32_t cores)
{
  char text[400];
  uint32_t found;
  (void)snprintf(text, sizeof text, "{\"name\": \"w\", %s, \"energy_pj\": {\"router\": 1, \"link\": 0.1}}", shape);
  s->chip = chip_parsed(text);
  ck_ok(cm_occupancy_new(s->chip, &s->occupancy, &error));
  ck_ok(cm_region_candidates(s->chip, s->occupancy, cores, 1, &run, &s->region, &found, &error));
}

/* Parts in columns and rows, with shuffled numbers; beside their neighbours, and across where that is given. */
static void take_grid(scene *s, uint32_t columns, uint32_t rows, uint64_t across, uint64_t seed)
{
  uint32_t n = columns * rows, name[PARTS_MAX], neighbour[8 * PARTS_MAX], count = 0;
  uint64_t first[PARTS_MAX + 1] = {0}, weight[8 * PARTS_MAX];
  uint32_t place[PARTS_MAX];
  cm_random random;
  cm_random_init(&random, seed, 0, 0);
  cm_random_permutation(&random, name, n);
  for (uint32_t i = 0; i < n; i++)
    place[name[i]] = i;
  for (uint32_t v = 0; v < n; v++) {
    int x = (int)(place[v] % columns), y = (int)(place[v] / columns);
    for (int dx = -1; dx <= 1; dx++)
      for (int dy = -1; dy <= 1; dy++) {
        uint64_t w = dx == 0 || dy == 0 ? 10 : dx == -dy ? across : 0;
        if ((dx == 0 && dy == 0) || w == 0 || x + dx < 0 || x + dx >= (int)columns || y + dy < 0 || y + dy >= (int)rows)
          continue;
        neighbour[count] = name[(uint32_t)(y + dy) * columns + (uint32_t)(x + dx)];
        weight[count++] = w;
      }
    first[v + 1] = count;
  }
  ck_ok(cm_graph_from_rows(n, first, neighbour, weight, &run, &s->graph, &error));
}

static uint64_t counted(const scene *s)
{
  const cm_graph *g = s->graph;
  uint64_t sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      sum += g->weight[i] * cm_interconnect_units(s->chip->interconnect, cm_router_of(s->chip, s->region->cores[s->at[v]]),
                                                  cm_router_of(s->chip, s->region->cores[s->at[g->neighbour[i]]]));
  return sum / 2;
}

static void place(scene *s, uint64_t seed)
{
  cm_way_options options = {.entries = 500000, .layout = 0.5};
  bool taken[4096] = {false};
  ck_ok(cm_place_by_ways(s->graph, &(cm_place_task){.chip = s->chip, .region = s->region, .seed = seed, .run = &run}, &options,
                         s->at, &s->result, &error));
  for (uint32_t v = 0; v < s->graph->vertex_count; v++) {
    ck_assert_uint_lt(s->at[v], s->region->core_count);
    ck_assert(!taken[s->at[v]]);
    taken[s->at[v]] = true;
  }
  ck_assert_uint_eq(s->result.after, counted(s));
}

#define HEXAGONAL "\"interconnect\": {\"kind\": \"hexagonal\"}"
static const char *const shapes[] = {
  "\"cores\": [30, 30], \"interconnect\": {\"kind\": \"grid\"}",
  "\"cores\": [30, 30], \"torus\": [true, true], " HEXAGONAL,
  "\"cores\": [60, 24], \"cores_per_router\": [2, 1], \"torus\": [true, false], " HEXAGONAL,
};

/* Every edge of a grid takes one hop as it was drawn. */
START_TEST(grids_are_found_as_they_were_drawn)
{
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    scene s = {0};
    take_chip(&s, shapes[k], 400);
    take_grid(&s, 20, 15, 0, k);
    uint64_t drawn = (20 * 14 + 19 * 15) * 10;
    place(&s, 1);
    ck_assert_msg(s.result.after <= drawn * 13 / 10, "%s: %" PRIu64 " of %" PRIu64, shapes[k], s.result.after, drawn);
    scene_free(&s);
  }
}
END_TEST

START_TEST(placements_are_legal_and_cost_what_is_told)
{
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  for (unsigned round = 0; round < test_rounds(12); round++) {
    scene s = {0};
    uint32_t columns = 1 + below(&random, 20), rows = 1 + below(&random, 20);
    take_chip(&s, shapes[round % 3], columns * rows + below(&random, 100));
    take_grid(&s, columns, rows, below(&random, 3) * 5, round);
    place(&s, round);
    scene_free(&s);
  }
}
END_TEST

/* What was placed by other distances, here by none, is improved by those of the ways; what is best stays. */
START_TEST(placements_along_axes_are_improved_by_ways)
{
  static const char *const others[] = {
    HEXAGONAL,
    "\"torus\": [true, false], \"interconnect\": {\"kind\": \"grid\"}, \"dead_links\": [[3, 3, \"east\"], [4, 4, \"south\"]]",
    "\"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [2, 2]}, {\"block\": [2, 4], \"cost\": 3}, {\"block\": [4, 2]}]}",
    "\"interconnect\": {\"kind\": \"all-to-all\"}",
  };
  const cm_arrange_budget budget = {.way_entries = 300000, .way_sweeps = 200};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    char shape[300];
    scene s = {0};
    uint32_t core[PARTS_MAX];
    cm_random random;
    (void)snprintf(shape, sizeof shape, "\"cores\": [16, 16], %s", others[k]);
    take_chip(&s, shape, 200);
    take_grid(&s, 12, 12, 0, k);
    cm_random_init(&random, k, 1, 0);
    cm_random_permutation(&random, s.at, 200);
    ck_ok(cm_interconnect_prepare(s.chip->interconnect, &error));
    const cm_place_task task = {.chip = s.chip, .region = s.region, .seed = 1, .run = &run};
    uint64_t before = counted(&s);
    for (int again = 0; again < 3; again++) {
      bool taken[256] = {false};
      for (uint32_t v = 0; v < 144; v++)
        core[v] = s.region->cores[s.at[v]];
      ck_ok(cm_arrange_again(s.graph, &task, &budget, core, &error));
      for (uint32_t v = 0; v < 144; v++) {
        for (s.at[v] = 0; s.region->cores[s.at[v]] != core[v];)
          ck_assert_uint_lt(++s.at[v], s.region->core_count);
        ck_assert(!taken[s.at[v]]);
        taken[s.at[v]] = true;
      }
      ck_assert_uint_le(counted(&s), again == 0 && k < 3 ? before * 3 / 4 : before);
      before = counted(&s);
    }
    scene_free(&s);
  }
}
END_TEST

START_TEST(layouts_survive_a_lack_of_memory)
{
  scene s = {0};
  take_chip(&s, shapes[1], 60);
  take_grid(&s, 8, 5, 5, 1);
  uint64_t fired = 0;
  for (uint64_t call = 1;; call += 1 + call / test_rounds(200)) {
    cm_memory memory;
    cm_run mine;
    cm_run_init(&mine);
    cm_memory_init(&memory, 0);
    mine.memory = &memory;
    cm_way_options options = {.entries = 50000, .layout = 0.5};
    cm_memory_fail_at(call);
    cm_status status = cm_place_by_ways(s.graph, &(cm_place_task){.chip = s.chip, .region = s.region, .seed = 1, .run = &mine},
                                        &options, s.at, &s.result, &error);
    bool hit = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    ck_assert_int_eq(status, hit ? CM_NO_MEMORY : CM_OK);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!hit)
      break;
    fired++;
  }
  ck_assert_uint_gt(fired, 30);
  scene_free(&s);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ways");
  TCase *tests = tcase_create("ways");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, grids_are_found_as_they_were_drawn);
  tcase_add_test(tests, placements_are_legal_and_cost_what_is_told);
  tcase_add_test(tests, placements_along_axes_are_improved_by_ways);
  tcase_add_test(tests, layouts_survive_a_lack_of_memory);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
