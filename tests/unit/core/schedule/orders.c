/* The order search: key nodes and counts against all paths and all permutations, best orders against trying everything,
 * never worse than what was given, the same for any number of threads. */
#include <stdatomic.h>

#include "core/schedule/orders.h"
#include "core/schedule/target_command.h"
#include "tests/unit/workloads.h"

static cm_error error;

enum { NODES_MAX = 64 };

/* ---- truth ---- */

static void ways_through(const cm_dag *dag, uint32_t v, uint64_t on_way, uint64_t *common)
{
  on_way |= UINT64_C(1) << v;
  if (dag->out_first[v] == dag->out_first[v + 1])
    *common &= on_way;
  for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++)
    ways_through(dag, dag->out[i], on_way, common);
}

/* Nodes on every way from a source to a sink: all ways are gone. */
static uint64_t true_keys(const cm_dag *dag)
{
  uint64_t common = UINT64_MAX;
  for (uint32_t v = 0; v < dag->node_count; v++)
    if (dag->in_first[v] == dag->in_first[v + 1])
      ways_through(dag, v, 0, &common);
  return common;
}

/* All orders of the nodes in `mask`, by what is done so far. */
static uint64_t true_count(const cm_dag *dag, uint64_t mask, uint64_t done)
{
  uint64_t count = 0;
  if ((mask & ~done) == 0)
    return 1;
  for (uint32_t v = 0; v < dag->node_count; v++) {
    bool ready = (mask & ~done) >> v & 1;
    for (uint64_t i = dag->in_first[v]; i < dag->in_first[v + 1] && ready; i++)
      ready = !((mask & ~done) >> dag->in[i] & 1);
    if (ready)
      count += true_count(dag, mask, done | UINT64_C(1) << v);
  }
  return count;
}

/* A cost model with two units that run side by side: even nodes on one, odd on the other, each in the order given. */
typedef struct model {
  const cm_dag *dag;
  const uint64_t *latency;
  atomic_uint_fast64_t calls, whole;
  uint64_t fail_at;
} model;

static cm_status simulate(void *context, uint32_t subgraph, const uint32_t *order, uint32_t count, uint64_t *score,
                          cm_error *slot)
{
  model *m = context;
  uint64_t finish[NODES_MAX] = {0}, unit[2] = {0};
  if (atomic_fetch_add(&m->calls, 1) + 1 == m->fail_at)
    return cm_fail(slot, CM_IO, "the board does not answer");
  if (subgraph == CM_WHOLE_GRAPH)
    atomic_fetch_add(&m->whole, 1);
  *score = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t v = order[k];
    uint64_t start = unit[v % 2];
    for (uint64_t i = m->dag->in_first[v]; i < m->dag->in_first[v + 1]; i++)
      start = finish[m->dag->in[i]] > start ? finish[m->dag->in[i]] : start;
    unit[v % 2] = finish[v] = start + m->latency[v];
    *score = finish[v] > *score ? finish[v] : *score;
  }
  return CM_OK;
}

static uint64_t true_best(const model *m, uint64_t done, uint32_t count, uint32_t *order)
{
  uint64_t best = UINT64_MAX, score;
  if (count == m->dag->node_count) {
    model copy = {.dag = m->dag, .latency = m->latency};
    ck_ok(simulate(&copy, 0, order, count, &score, &error));
    return score;
  }
  for (uint32_t v = 0; v < m->dag->node_count; v++) {
    bool ready = !(done >> v & 1);
    for (uint64_t i = m->dag->in_first[v]; i < m->dag->in_first[v + 1] && ready; i++)
      ready = done >> m->dag->in[i] & 1;
    if (ready) {
      order[count] = v;
      score = true_best(m, done | UINT64_C(1) << v, count + 1, order);
      best = score < best ? score : best;
    }
  }
  return best;
}

/* ---- graphs ---- */

/* Blocks of parallel chains between single nodes, as networks have them; numbered in a random way. */
static cm_dag *blocks(cm_random *random, uint32_t count, uint32_t nodes_max)
{
  cm_arc arcs[4 * NODES_MAX];
  uint64_t arc_count = 0;
  uint32_t name[NODES_MAX], next = 1, gate = 0;
  cm_dag *dag;
  for (uint32_t b = 0; b < count && next + 8 < nodes_max; b++) {
    uint32_t chains = 1 + (uint32_t)cm_random_below(random, 3), end = next++;
    for (uint32_t c = 0; c < chains; c++) {
      uint32_t last = gate, length = (uint32_t)cm_random_below(random, 3);
      for (uint32_t k = 0; k < length; k++) {
        arcs[arc_count++] = (cm_arc){last, next, 0};
        last = next++;
      }
      arcs[arc_count++] = (cm_arc){last, end, 0};
    }
    gate = end;
  }
  cm_random_permutation(random, name, next);
  for (uint64_t i = 0; i < arc_count; i++)
    arcs[i] = (cm_arc){name[arcs[i].from], name[arcs[i].to], 0};
  ck_ok(cm_dag_new(NULL, next, arcs, arc_count, &dag, &error));
  return dag;
}

static void latencies(cm_random *random, uint32_t count, uint64_t *latency)
{
  for (uint32_t v = 0; v < count; v++)
    latency[v] = 1 + cm_random_below(random, 9);
}

static cm_order_result search(model *m, const uint32_t *given, const cm_order_options *options, unsigned threads,
                              uint64_t seed)
{
  cm_run run;
  cm_order_result result;
  bool is;
  cm_run_init(&run);
  run.threads = threads;
  run.seed = seed;
  ck_ok(cm_orders_search(&(cm_order_task){m->dag, m->latency, given, simulate, m}, options, &run, &result, &error));
  ck_ok(cm_dag_is_order(m->dag, result.order, NULL, &is, &error));
  ck_assert(is);
  ck_assert_uint_le(result.score, result.given_score);
  return result;
}

/* ---- tests ---- */

START_TEST(key_nodes_are_on_every_way)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 0, 0);
  cm_dag *dag = _i % 2 == 0 ? random_dag(&random, 1 + (uint32_t)cm_random_below(&random, 12), 25, 0)
                            : blocks(&random, 1 + (uint32_t)cm_random_below(&random, 5), 40);
  cm_subgraphs s;
  ck_ok(cm_subgraphs_find(dag, NULL, 1, NULL, &s, &error));
  uint64_t keys = 0, truth = true_keys(dag);
  for (uint32_t k = 0; k < s.key_count; k++)
    keys |= UINT64_C(1) << s.key[k];
  ck_assert_uint_eq(keys, truth);
  cm_subgraphs_free(&s);
  cm_dag_free(dag);
}
END_TEST

START_TEST(subgraphs_hold_every_node_once_and_have_two_orders_each)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 1, 0);
  cm_dag *dag = blocks(&random, 1 + (uint32_t)cm_random_below(&random, 8), NODES_MAX);
  uint32_t nodes_min = 1 + (uint32_t)cm_random_below(&random, 8), n = dag->node_count;
  cm_subgraphs s;
  bool is;
  ck_ok(cm_subgraphs_find(dag, NULL, nodes_min, NULL, &s, &error));
  ck_ok(cm_dag_is_order(dag, s.node, NULL, &is, &error));
  ck_assert(is);
  ck_assert_uint_eq(s.first[0], 0);
  ck_assert_uint_eq(s.first[s.count], n);
  for (uint32_t g = 0; g < s.count; g++) {
    uint32_t count = s.first[g + 1] - s.first[g];
    uint64_t orders, mask = 0;
    ck_ok(cm_orders_count(dag, s.node + s.first[g], count, 100000, NULL, &orders, &error));
    for (uint32_t k = s.first[g]; k < s.first[g + 1]; k++)
      mask |= UINT64_C(1) << s.node[k];
    uint64_t truth = count < 18 ? true_count(dag, mask, 0) : orders;
    ck_assert_uint_eq(orders, truth > 100000 ? 100001 : truth);
    if (s.count > 1) {
      ck_assert_uint_ge(orders, 2);
      ck_assert_uint_ge(count, nodes_min);
    }
  }
  cm_subgraphs_free(&s);
  cm_dag_free(dag);
}
END_TEST

START_TEST(few_orders_are_all_scored_and_the_best_is_found)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 2, 0);
  uint64_t latency[NODES_MAX];
  uint32_t order[NODES_MAX];
  cm_dag *dag = random_dag(&random, 1 + (uint32_t)cm_random_below(&random, 7), 30, 0);
  latencies(&random, dag->node_count, latency);
  model m = {.dag = dag, .latency = latency};
  cm_order_options options = cm_order_defaults();
  options.enumerate_max = 100000;
  options.nodes_min = NODES_MAX; /* one subgraph: its best is the best */
  cm_order_result r = search(&m, NULL, &options, 1, 1);
  ck_assert_uint_eq(r.subgraphs.count, 1);
  ck_assert(r.outcome[0].exhausted);
  ck_assert_uint_eq(r.outcome[0].orders, true_count(dag, (UINT64_C(1) << dag->node_count) - 1, 0));
  ck_assert_uint_eq(r.score, true_best(&m, 0, 0, order));
  cm_order_result_free(&r);
  options.enumerate_max = 0; /* the same by tree search and descent: enough tries to find it */
  options.scores = options.scores_total = 1000;
  r = search(&m, NULL, &options, 1, 1);
  ck_assert_uint_eq(r.score, true_best(&m, 0, 0, order));
  cm_order_result_free(&r);
  cm_dag_free(dag);
}
END_TEST

START_TEST(budgets_are_kept_and_threads_change_nothing)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 3, 0);
  uint64_t latency[NODES_MAX];
  cm_dag *dag = blocks(&random, 8, NODES_MAX);
  latencies(&random, dag->node_count, latency);
  for (int method = CM_ORDER_AUTO; method <= CM_ORDER_GIVEN; method++) {
    cm_order_options options = {(cm_order_method)method, 6, 10, 50, 90};
    model one = {.dag = dag, .latency = latency}, many = one;
    cm_order_result a = search(&one, NULL, &options, 1, 5), b = search(&many, NULL, &options, 3, 5);
    ck_assert_mem_eq(a.order, b.order, dag->node_count * sizeof *a.order);
    ck_assert_uint_eq(atomic_load(&one.calls), atomic_load(&many.calls));
    uint64_t scored = 0, drawn = 0;
    for (uint32_t g = 0; g < a.subgraphs.count; g++) {
      const cm_order_outcome *o = &a.outcome[g];
      scored += o->scored;
      ck_assert_uint_le(o->best_score, o->given_score);
      if (o->orders <= options.enumerate_max)
        ck_assert_uint_le(o->scored, o->orders + 2);
      else {
        ck_assert_uint_le(o->scored, options.scores + 2);
        drawn += o->scored - (method == CM_ORDER_GIVEN ? 1 : 2);
      }
    }
    ck_assert_uint_le(drawn, options.scores_total);
    ck_assert_uint_eq(atomic_load(&one.calls), scored + atomic_load(&one.whole));
    ck_assert_uint_le(atomic_load(&one.whole), 2);
    if (method == CM_ORDER_GIVEN)
      ck_assert_mem_eq(a.order, dag->order, dag->node_count * sizeof *a.order);
    cm_order_result_free(&a);
    cm_order_result_free(&b);
  }
  cm_dag_free(dag);
}
END_TEST

START_TEST(a_bad_order_a_failing_score_and_a_late_start)
{
  cm_random random;
  cm_random_init(&random, 1, 4, 0);
  uint64_t latency[NODES_MAX];
  cm_dag *dag = blocks(&random, 6, NODES_MAX);
  latencies(&random, dag->node_count, latency);
  cm_order_options options = cm_order_defaults();
  model m = {.dag = dag, .latency = latency, .fail_at = 20};
  cm_run run;
  cm_order_result r;
  uint32_t backwards[NODES_MAX];
  cm_run_init(&run);
  ck_fails(cm_orders_search(&(cm_order_task){dag, latency, NULL, simulate, &m}, &options, &run, &r, &error), CM_IO);
  for (uint32_t k = 0; k < dag->node_count; k++)
    backwards[k] = dag->order[dag->node_count - 1 - k];
  m.fail_at = 0;
  ck_fails(cm_orders_search(&(cm_order_task){dag, latency, backwards, simulate, &m}, &options, &run, &r, &error), CM_BAD_OPTION);
  run.deadline = 1e-9; /* long past: the given order, or what the first try found */
  ck_ok(cm_orders_search(&(cm_order_task){dag, latency, NULL, simulate, &m}, &options, &run, &r, &error));
  ck_assert_uint_le(r.score, r.given_score);
  cm_order_result_free(&r);
  cm_dag_free(dag);
  ck_ok(cm_dag_new(NULL, 0, NULL, 0, &dag, &error)); /* nothing to order */
  run.deadline = 0;
  m.dag = dag;
  ck_ok(cm_orders_search(&(cm_order_task){dag, latency, NULL, simulate, &m}, &options, &run, &r, &error));
  ck_assert_uint_eq(r.subgraphs.count, 0);
  cm_order_result_free(&r);
  cm_dag_free(dag);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  cm_random random;
  cm_random_init(&random, 1, 5, 0);
  uint64_t latency[NODES_MAX];
  cm_dag *dag = blocks(&random, 4, NODES_MAX);
  latencies(&random, dag->node_count, latency);
  cm_order_options options = cm_order_defaults();
  model m = {.dag = dag, .latency = latency};
  options.enumerate_max = 2;
  cm_memory memory;
  cm_run run;
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  for (uint64_t n = 1, fired = 1; fired; n++) {
    cm_order_result r = {0};
    cm_memory_fail_at(n);
    cm_status status = cm_orders_search(&(cm_order_task){dag, latency, dag->order, simulate, &m}, &options, &run, &r, &error);
    fired = cm_memory_fault_fired() != 0;
    cm_memory_fail_at(0);
    ck_assert_int_eq(status, fired ? CM_NO_MEMORY : CM_OK);
    cm_order_result_free(&r);
    ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
  }
  cm_dag_free(dag);
}
END_TEST

static const struct {
  const char *command;
  double seconds;
  cm_status status;
  uint64_t nanoseconds;
} commands[] = {
  {"cat \"$1\"", 10, CM_OK, 1234},
  {"echo running; echo; echo 77.5", 10, CM_OK, 77},
  {"seq 10000", 10, CM_OK, 10000}, /* more than is kept */
  {"echo fast", 10, CM_IO, 0},
  {"echo -5", 10, CM_IO, 0},
  {"echo 5 ns", 10, CM_IO, 0},
  {"true", 10, CM_IO, 0},
  {"echo 5; exit 3", 10, CM_IO, 0},
  {"kill -9 $$", 10, CM_IO, 0},
  {"no-such-command-here 2>&-", 10, CM_IO, 0},
  {"sleep 60", 0.1, CM_TIME_LIMIT, 0},
  {"sleep 60 & wait", 0.1, CM_TIME_LIMIT, 0}, /* children go too: else the pipe stays open */
};

START_TEST(a_command_may_measure)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX + 16];
  uint64_t nanoseconds = 0;
  cm_run run;
  cm_run_init(&run);
  test_folder(folder);
  (void)snprintf(path, sizeof path, "%s/a program", folder);
  test_write(path, "1234\n", 5);
  cm_status status = cm_measure(commands[_i].command, path, commands[_i].seconds, &run, &nanoseconds, &error);
  ck_assert_msg(status == commands[_i].status, "%s: %s", commands[_i].command, error.detail);
  ck_assert_uint_eq(nanoseconds, commands[_i].nanoseconds);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("orders");
  TCase *c = tcase_create("orders");
  suite_add_tcase(suite, c);
  tcase_add_loop_test(c, key_nodes_are_on_every_way, 0, 80);
  tcase_add_loop_test(c, subgraphs_hold_every_node_once_and_have_two_orders_each, 0, 40);
  tcase_add_loop_test(c, few_orders_are_all_scored_and_the_best_is_found, 0, 40);
  tcase_add_loop_test(c, budgets_are_kept_and_threads_change_nothing, 0, 10);
  tcase_add_test(c, a_bad_order_a_failing_score_and_a_late_start);
  tcase_add_test(c, every_allocation_may_fail);
  tcase_add_loop_test(c, a_command_may_measure, 0, sizeof commands / sizeof *commands);
  return test_main(suite);
}
