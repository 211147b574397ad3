/* core/solver: when more effort and further attempts end. */
#include "tests/unit/networks.h"

#include <jansson.h>

#include "core/mapping/options.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/stage/attempts_judge.h"

static cm_error error;
static cm_map_options *options;

static void set_up(void)
{
  json_t *json = json_pack("{s:s, s:s}", "preset", "balanced", "objective", "axon");
  ck_ok(cm_map_options_parse(json, &options, &error));
  json_decref(json);
}

static void tear_down(void)
{
  cm_map_options_free(options);
}

/* ---- attempts with fewer neurons a core ---- */

/* How many attempts follow the first one while all break a limit: in `broken` parts the first time, the worst by `excess` of the limit,
 * each of which is `left` times as much after every further attempt. */
static uint32_t attempts_after(double broken, double left_broken, double excess, double left_excess)
{
  enum { CORES = 100000, LIMIT = 100000, MOST = 30 };
  cm_topology t = {.vertex_count = CORES, .size_total = CORES};
  cm_map_input input = {.demand = CM_DEMAND_OF(&t), .options = options};
  cm_engine engine = {0};
  cm_attempts a = {.input = &input, .engine = &engine, .terms = {.cores = CORES}, .largest = 1, .tries_max = MOST};
  uint64_t capacity = UINT64_C(1) << 40;
  for (uint32_t further = 0;; further++) {
    cm_violation violation = {.broken_parts = (uint64_t)broken, .resource = CM_INBOUND_AXONS,
                              .use = (uint64_t)(LIMIT * (1 + excess)), .limit = LIMIT};
    uint32_t parts = 0;
    a.made.attempt_count = further + 1;
    a.widest = capacity;
    if (cm_attempts_next(&a, &violation, &capacity, &parts) != NULL || further == MOST)
      return further;
    broken *= left_broken;
    excess *= left_excess;
  }
}

START_TEST(attempts_end_where_they_come_no_nearer)
{
  ck_assert_uint_eq(attempts_after(1000, 1, 0.5, 1), 3);
  ck_assert_uint_eq(attempts_after(1000, 0.97, 0.5, 1), 3);
  ck_assert_uint_ge(attempts_after(100000, 0.95, 0.5, 1), 20); /* a tenth less in three attempts is enough */
  ck_assert_uint_ge(attempts_after(100000, 0.8, 0.5, 1), 20);
  ck_assert_uint_ge(attempts_after(1000, 1, 0.5, 0.8), 20);
}
END_TEST

/* ---- starts by edges ---- */

/* Neurons that each reach as many to the right. */
static cm_topology ring(uint32_t n, uint32_t reach)
{
  cm_topology t = network_of_rows(n, (size_t)n * reach);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t i = 1; i <= reach; i++)
      t.pin[t.pin_count++] = (v + i) % n;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  network_ascend(&t);
  return t;
}

static uint32_t parts_by_edges(const cm_topology *t, uint64_t core, uint32_t cores)
{
  cm_map_input input = {.demand = CM_DEMAND_OF(t), .options = options};
  cm_engine_task task = {.input = &input, .limits = {.neurons = core}, .parts_max = cores};
  cm_partition *made;
  cm_run run;
  uint64_t most = 0, *held = network_array(cores, sizeof *held);
  cm_run_init(&run);
  ck_ok(cm_engine_edge_start(&task, cm_effort_least(cm_effort_of(options)), &run, &made, &error));
  ck_assert_ptr_nonnull(made);
  uint32_t parts = made->part_count;
  ck_assert_uint_le(parts, cores);
  for (uint32_t v = 0; v < t->vertex_count; v++)
    most = ++held[made->part[v]] > most ? held[made->part[v]] : most;
  ck_assert_uint_le(most, core);
  cm_partition_free(made);
  cm_free(held);
  return parts;
}

/* One part more of many where all would be full, as long as there is a core for it. */
START_TEST(starts_by_edges_leave_room_in_many_parts)
{
  enum { N = 1000, REACH = 10 };
  cm_topology t = ring(N, REACH);
  ck_assert_uint_eq(parts_by_edges(&t, 50, N), 21);
  ck_assert_uint_eq(parts_by_edges(&t, 50, 20), 20);
  ck_assert_uint_eq(parts_by_edges(&t, 52, N), 21); /* 20 would be full to 0.962 */
  ck_assert_uint_eq(parts_by_edges(&t, 53, N), 20); /* full to 0.943 */
  ck_assert_uint_eq(parts_by_edges(&t, 250, N), 4);
  ck_assert_uint_eq(parts_by_edges(&t, 1, N), N);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("attempts");
  TCase *tests = tcase_create("attempts");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, attempts_end_where_they_come_no_nearer);
  tcase_add_test(tests, starts_by_edges_leave_room_in_many_parts);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
