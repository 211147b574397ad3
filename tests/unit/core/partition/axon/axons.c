/* core/partition, axon objective: planted partitions, parts within the limits for any number of threads, flows by brute force. */
#include "tests/unit/axons.h"

#include "base/threads.h"
#include "core/limits/limits.h"
#include "core/partition/axon/axon_levels.h"
#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/dense.h"
#include "core/partition/flows.h"

enum { PARTS = 6 };

START_TEST(planted_groups_are_found_within_the_limits)
{
  cm_random random;
  cm_random_init(&random, 1, 2, 0);
  cm_topology t = planted(8, 64, 12, 10, &random);
  cm_axon_options options = effort(64, 80);
  uint32_t *part = network_array(t.vertex_count, sizeof *part), parts;
  run.threads = 2;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, 8);
  uint64_t spread = 0;
  for (uint32_t e = 0; e < t.net_count; e++)
    for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
      spread += part[t.pin[i]] != part[e];
  ck_assert_uint_le(spread, 70); /* the strays alone: a tenth of 512, less those that stay at home */
  /* One attempt and one cycle, and neither. */
  for (options.cycles = 1, options.attempts = 0; options.cycles < 2; options.cycles--) {
    uint32_t *other = network_array(t.vertex_count, sizeof *other), others;
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, other, &others, &error));
    ck_assert_uint_eq(others, 8);
    cm_free(other);
  }
  options = effort(64, 80);
  /* The same for any number of threads. */
  uint32_t *again = network_array(t.vertex_count, sizeof *again), parts_again;
  run.threads = 1;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &parts_again, &error));
  ck_assert_uint_eq(parts_again, parts);
  ck_assert_int_eq(memcmp(part, again, t.vertex_count * sizeof *part), 0);
  CM_FREE(part, again);
  network_free(&t);
}
END_TEST

/* Every neuron of a ring of 600 reaches the 300 around it, and parts of 40 at most hold the axons of 360: each axon
 * reaches nine parts. One part of everything would save more than it pays by a penalty that is linear. Runs of 40
 * neurons are 15 parts, each of which is reached from outside by 300 neurons and from inside by 40. */
START_TEST(parts_do_not_collapse_where_axons_reach_many)
{
  enum { N = 600, REACHED = 300 };
  cm_topology t = network_of_rows(N, (size_t)N * N);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if ((v + N - u + REACHED / 2) % N < REACHED)
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t part[N], parts;
  uint64_t connectivity = 0;
  cm_axon_options options = effort(40, 345);
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  for (uint32_t e = 0; e < N; e++) {
    uint8_t reached[N] = {0};
    for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
      connectivity += part[t.pin[i]] != part[e] && reached[part[t.pin[i]]]++ == 0;
  }
  ck_assert_uint_le(parts, 20);
  ck_assert_uint_le(connectivity, 15 * 300 * 115 / 100);
  network_free(&t);
}
END_TEST

enum { RING = 8192, REACH = 8, AROUND = 512 };

/* A ring in which every neuron reaches 8 of the 512 around it: neighbours share one or two of a hundred sources. */
static cm_topology scattered(void)
{
  cm_random random;
  cm_random_init(&random, 4, 4, 4);
  cm_topology t = {
      .directed = true, .vertex_count = RING, .net_count = RING, .size_total = RING, .weight_scale = 1};
  t.net_first = network_array(RING + 1, sizeof *t.net_first);
  t.net_weight = network_array(RING, sizeof *t.net_weight);
  t.pin = network_array((size_t)RING * REACH, sizeof *t.pin);
  for (uint32_t v = 0; v < RING; v++) {
    bool taken[AROUND] = {false};
    for (uint32_t left = REACH; left > 0; left--)
      taken[below(&random, AROUND)] = true;
    for (uint32_t u = 0; u < AROUND; u++)
      if (taken[u])
        t.pin[t.pin_count++] = (v + u) % RING;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  network_ascend(&t);
  return t;
}

/* The distinct targets of a net of level 0 on level l. */
static uint64_t count_targets(const cm_axon_levels *levels, uint32_t e, uint32_t l)
{
  static bool seen[RING];
  const cm_hypergraph *g = levels->graph[0];
  uint64_t count = 0;
  memset(seen, 0, sizeof seen);
  for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
    uint32_t v = cm_targets_next(&t);
    for (uint32_t k = 0; k < l; k++)
      v = levels->map[k][v];
    ck_assert_uint_lt(v, levels->graph[l]->vertex_count);
    count += !seen[v];
    seen[v] = true;
  }
  return count;
}

START_TEST(levels_merge_targets_alike_for_any_number_of_threads)
{
  cm_topology t = scattered();
  cm_axon_options options = effort(RING / 4, 0); /* the coarsest level is to have 80 */
  const cm_demand demand = cm_demand_of(&t);
  cm_axon_levels levels[2];
  for (unsigned threads = 1; threads <= 2; threads++) {
    cm_axon_levels *made = &levels[threads - 1];
    run.threads = threads;
    ck_ok(cm_axon_levels_begin(&demand, false, &run, made, &error));
    ck_ok(cm_axon_levels_build(made, &options, 1, NULL, &run, &error));
    ck_assert_uint_ge(made->count, 2);
    for (uint32_t l = 1; l < made->count; l++) {
      const cm_hypergraph *g = made->graph[l];
      ck_assert_uint_eq(g->vertex_count, levels[0].graph[l]->vertex_count);
      for (uint32_t e = 0; e < RING; e += 61)
        ck_assert_uint_eq(g->net_targets[e], count_targets(made, e, l));
    }
  }
  for (unsigned i = 0; i < 2; i++)
    cm_axon_levels_drop(&levels[i], 0);
  network_free(&t);
}
END_TEST

/* Rounds are long enough here for several threads to share them. */
START_TEST(parts_are_the_same_for_any_number_of_threads)
{
  cm_topology t = scattered();
  cm_axon_options options = effort(600, 4000);
  uint32_t *part = network_array(RING, sizeof *part), *again = network_array(RING, sizeof *again), parts, others;
  options.start_sweeps = options.sweeps = 8;
  options.attempts = options.cycles = 1;
  run.threads = 1;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  for (run.threads = CM_SANITIZED ? 8 : 2; run.threads <= 8; run.threads *= 2) {
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &others, &error));
    ck_assert_uint_eq(others, parts);
    ck_assert_mem_eq(again, part, RING * sizeof *part);
  }
  /* Also where targets are packed meanwhile: they are as they were afterwards. */
  uint32_t *pin = network_array(t.pin_count, sizeof *pin);
  memcpy(pin, t.pin, t.pin_count * sizeof *pin);
  options.sole_reader = true;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &others, &error));
  ck_assert_mem_eq(again, part, RING * sizeof *part);
  ck_assert_mem_eq(t.pin, pin, t.pin_count * sizeof *pin);
  options.sole_reader = false;
  cm_free(pin);
  /* Also cut in pieces for eleven and played by one, by which the test sees that there is something to share. */
  cm_rounds_log log = {.run = &run};
  uint64_t rounds = 0, tasks = 0;
  run.threads = 11;
  cm_threads_record(&log);
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &others, &error));
  cm_threads_record(NULL);
  for (size_t i = 0; i < run.phase_count; i++) {
    rounds += log.phase[i].rounds;
    tasks += log.phase[i].tasks;
  }
  ck_assert_mem_eq(again, part, RING * sizeof *part);
  ck_assert_uint_gt(rounds, 200);
  ck_assert_uint_gt(tasks, 8 * rounds);
  run.threads = 1;
  CM_FREE(part, again);
  network_free(&t);
}
END_TEST

START_TEST(the_axon_limit_splits_further_and_lack_of_cores_is_said)
{
  cm_random random;
  cm_random_init(&random, 2, 2, 0);
  cm_topology t = planted(4, 128, 20, 30, &random);
  cm_axon_options options = effort(512, 100);
  uint32_t *part = network_array(t.vertex_count, sizeof *part), parts;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_assert_uint_ge(parts, 6); /* 512 neurons with one axon each are more than 5 times 100 */
  cm_hypergraph *graph;
  cm_axon_state *state;
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &graph, &error));
  uint32_t *numbered = network_array(t.vertex_count, sizeof *numbered);
  for (uint32_t v = 0; v < t.vertex_count; v++)
    numbered[graph->number[v]] = part[v];
  ck_ok(cm_axon_state_new(graph, &(cm_axon_state_options){.limits = &options.limits, .part = numbered, .parts = parts}, &run,
                          &state, &error));
  for (uint32_t p = 0; p < parts; p++) {
    ck_assert(!cm_axon_over(state, p));
    ck_assert_uint_gt(state->vertices[p], 0);
  }
  cm_axon_state_free(state);
  cm_hypergraph_free(graph);
  cm_free(numbered);
  options.parts_max = 3;
  ck_fails(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error), CM_NO_ROOM);
  cm_free(part);
  network_free(&t);
}
END_TEST

/* Eight rings of 41 neurons, one of which reaches all of them: seven have an axon too many, and half a part is room for
 * all of these. */
START_TEST(a_little_too_much_in_many_parts_costs_one_part_more)
{
  enum { RINGS = 8, SIZE = 41, N = RINGS * SIZE };
  cm_topology t = network_of_rows(N, 2 * N);
  t.net_weight = network_array(N, sizeof *t.net_weight);
  uint32_t part[N];
  for (uint32_t v = 0; v < N; v++) {
    for (uint32_t u = 0; v == 0 && u < N; u++)
      t.pin[t.pin_count++] = u;
    if (v != 0)
      t.pin[t.pin_count++] = v / SIZE * SIZE + (v + 1 - v / SIZE * SIZE) % SIZE;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  cm_hypergraph *graph;
  cm_axon_state *state;
  cm_limits limits = {.neurons = 100, .inbound_axons = SIZE};
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &graph, &error));
  ck_ok(cm_hypergraph_list_inbound(graph, &run, &error));
  for (uint32_t v = 0; v < N; v++)
    part[graph->number[v]] = v / SIZE;
  ck_ok(cm_axon_state_new(graph,
                          &(cm_axon_state_options){.limits = &limits, .part = part, .parts = RINGS, .parts_max = 2 * RINGS}, &run,
                          &state, &error));
  ck_assert_uint_eq(cm_count_overfull(state), RINGS - 1);
  ck_assert_double_eq_tol(cm_total_excess(state), (RINGS - 1) / (double)SIZE, 1e-9);
  ck_ok(cm_repair(state, &error));
  ck_assert_uint_eq(cm_count_overfull(state), 0);
  ck_assert_uint_eq(state->part_count, RINGS + 1);
  cm_axon_state_free(state);
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

START_TEST(neurons_without_inbound_axons_and_loose_pieces_are_packed)
{
  /* 500 inputs that each reach one of 20 outputs, and 200 neurons without any synapse. */
  uint32_t n = 720;
  cm_topology t = {
      .directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1, .net_count = 500, .pin_count = 500};
  t.net_first = network_array(501, sizeof *t.net_first);
  t.net_source = network_array(500, sizeof *t.net_source);
  t.net_weight = network_array(500, sizeof *t.net_weight);
  t.pin = network_array(500, sizeof *t.pin);
  for (uint32_t e = 0; e < 500; e++) {
    t.net_first[e + 1] = e + 1;
    t.net_source[e] = e;
    t.net_weight[e] = 1;
    t.pin[e] = 500 + e % 20;
  }
  cm_axon_options options = effort(100, 200);
  uint32_t *part = network_array(n, sizeof *part), parts;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_assert_uint_le(parts, 10); /* 8 is the bound */
  cm_free(part);
  network_free(&t);
}
END_TEST

START_TEST(flows_count_each_axon_once_per_part)
{
  cm_random random;
  for (uint64_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 3, 0);
    cm_topology t = random_axons(&random);
    uint32_t part[MOST];
    uint64_t truth[PARTS][PARTS] = {{0}};
    for (uint32_t v = 0; v < t.vertex_count; v++)
      part[v] = below(&random, PARTS);
    for (uint32_t e = 0; e < t.net_count; e++) {
      bool seen[PARTS] = {false};
      for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
        seen[part[t.pin[i]]] = true;
      for (uint32_t p = 0; p < PARTS; p++) {
        uint32_t home = part[t.net_source[e]];
        truth[home][p] += seen[p] && p != home ? t.net_weight[e] : 0;
        truth[p][home] += seen[p] && p != home ? t.net_weight[e] : 0;
      }
    }
    cm_graph *graph;
    run.threads = 1 + below(&random, 10); /* more than there are parts at times */
    ck_ok(cm_graph_of_axons(CM_DEMAND_OF(&t), part, PARTS, &run, &graph, &error));
    for (uint32_t p = 0; p < PARTS; p++) {
      uint64_t found[PARTS] = {0};
      for (uint64_t i = graph->first[p]; i < graph->first[p + 1]; i++)
        found[graph->neighbour[i]] = graph->weight[i];
      for (uint32_t q = 0; q < PARTS; q++)
        ck_assert_uint_eq(found[q], truth[p][q]);
    }
    cm_graph_free(graph);
    network_free(&t);
  }
}
END_TEST

START_TEST(inputs_are_counted_by_any_number_of_threads)
{
  cm_random random;
  cm_random_init(&random, 5, 4, 0);
  cm_topology t = planted(3, 50, 40, 50, &random);
  uint32_t truth[150] = {0}, synapses[150], axons[150];
  for (uint64_t i = 0; i < t.pin_count; i++)
    truth[t.pin[i]]++;
  for (run.threads = 1; run.threads <= 9; run.threads++) {
    ck_ok(cm_count_inputs(CM_DEMAND_OF(&t), &run, synapses, axons, &error));
    ck_assert_mem_eq(synapses, truth, sizeof truth);
    ck_assert_mem_eq(axons, truth, sizeof truth); /* one net a source */
  }
  network_free(&t);
}
END_TEST

/* Filled one after another, parts keep every limit that the method knows, also where sources repeat, neurons are their
 * own sources, and limits are as tight as one neuron needs. */
START_TEST(dense_parts_keep_limits)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 9, 0);
  cm_topology t = network_directed(&random, 30 + below(&random, 170), 150);
  uint32_t n = t.vertex_count, part[200], again[200], parts, parts_again;
  uint64_t alone[200 * CM_RESOURCES], use[200 * CM_RESOURCES], most[CM_RESOURCES] = {0};
  cm_run_init(&run);
  for (uint32_t v = 0; v < n; v++)
    part[v] = v;
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, n, &run, alone, &error));
  for (uint32_t i = 0; i < n * CM_RESOURCES; i++)
    most[i % CM_RESOURCES] = alone[i] > most[i % CM_RESOURCES] ? alone[i] : most[i % CM_RESOURCES];
  cm_axon_options options = {.limits = {.neurons = most[CM_NEURONS] + below(&random, 20),
                                        .synapses = _i % 3 == 0 ? 0 : most[CM_SYNAPSES] + below(&random, 200),
                                        .inbound_axons = most[CM_INBOUND_AXONS] + below(&random, 20)},
                             .parts_max = UINT32_MAX,
                             .seed = (uint64_t)_i};
  ck_ok(cm_partition_dense(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&options.limits, use, parts).broken_parts, 0);
  for (uint32_t p = 0; p < parts; p++)
    ck_assert_uint_gt(use[p * CM_RESOURCES + CM_NEURONS], 0);
  run.threads = 3;
  options.parts_max = parts - 1; /* how many it takes is for the caller to judge */
  options.sole_reader = true;
  ck_ok(cm_partition_dense(CM_DEMAND_OF(&t), &options, &run, again, &parts_again, &error));
  ck_assert_uint_eq(parts_again, parts);
  ck_assert_mem_eq(again, part, n * sizeof *part);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("axons");
  TCase *tests = tcase_create("axons");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_loop_test(tests, dense_parts_keep_limits, 0, 20);
  tcase_add_test(tests, planted_groups_are_found_within_the_limits);
  tcase_add_figures_test(tests, parts_do_not_collapse_where_axons_reach_many);
  tcase_add_test(tests, levels_merge_targets_alike_for_any_number_of_threads);
  tcase_add_test(tests, parts_are_the_same_for_any_number_of_threads);
  tcase_add_test(tests, the_axon_limit_splits_further_and_lack_of_cores_is_said);
  tcase_add_test(tests, a_little_too_much_in_many_parts_costs_one_part_more);
  tcase_add_test(tests, neurons_without_inbound_axons_and_loose_pieces_are_packed);
  tcase_add_test(tests, flows_count_each_axon_once_per_part);
  tcase_add_test(tests, inputs_are_counted_by_any_number_of_threads);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
