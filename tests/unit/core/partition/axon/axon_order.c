/* core/partition, axon objective: sketches of inbound axons, and orders of neurons by them. */
#include "tests/unit/axons.h"

#include <math.h>

#include "core/partition/axon/bands.h"
#include "core/partition/axon/locality.h"
#include "core/partition/axon/signature.h"
#include "core/partition/axon/sketch.h"

/* A group has all vertices with the least nets of a band in common, and no others; returns how many pairs meet in one. */
static uint32_t check_bands(const cm_sketches *s, uint32_t *met)
{
  cm_bands bands;
  uint32_t n = s->vertex_count, pairs = 0;
  ck_ok(cm_bands_new(s, (CM_SKETCH_KEYS / 2), &run, &bands, &error));
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t v = 0; v < u; v++) {
      bool meet = false;
      for (uint32_t b = 0; b < bands.count; b++) {
        const uint32_t *x = s->key + (size_t)u * CM_SKETCH_KEYS + 2 * b, *y = s->key + (size_t)v * CM_SKETCH_KEYS + 2 * b;
        bool equal = x[0] == y[0] && x[1] == y[1];
        uint32_t begin = bands.group[(size_t)u * bands.count + b], found = 0;
        ck_assert_int_eq(equal, begin == bands.group[(size_t)v * bands.count + b]);
        for (uint32_t i = begin; i < bands.end[(size_t)b * n + begin]; i++)
          found += bands.order[(size_t)b * n + i] == u || bands.order[(size_t)b * n + i] == v;
        ck_assert_uint_eq(found, equal ? 2 : 1);
        meet |= equal;
      }
      pairs += meet;
      *met += meet && u / 4 == v / 4;
    }
  cm_bands_free(&bands);
  return pairs;
}

START_TEST(sketches_estimate_the_overlap_merge_and_find_candidates)
{
  /* 40 targets of 2000 nets; target v has net e when a hash says so, more alike within groups of four. */
  enum { TARGETS = 40, NETS = 2000 };
  cm_random random;
  cm_random_init(&random, 5, 9, 0);
  cm_topology t = {
      .directed = true, .vertex_count = TARGETS, .size_total = TARGETS, .weight_scale = 1, .net_count = NETS};
  static bool has[TARGETS][NETS];
  t.net_first = network_array(NETS + 1, sizeof *t.net_first);
  t.net_source = network_array(NETS, sizeof *t.net_source);
  t.pin = network_array((size_t)TARGETS * NETS, sizeof *t.pin);
  for (uint32_t e = 0; e < NETS; e++) {
    for (uint32_t group = 0; group < TARGETS; group += 4) {
      bool common = below(&random, 4) == 0;
      for (uint32_t v = group; v < group + 4; v++) {
        has[v][e] = common ? below(&random, 10) < 9 : below(&random, 20) == 0;
        if (has[v][e])
          t.pin[t.pin_count++] = v;
      }
    }
    t.net_first[e + 1] = t.pin_count;
    t.net_source[e] = e % TARGETS;
  }
  cm_hypergraph *graph;
  cm_sketches *sketches, *merged;
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &graph, &error));
  ck_ok(cm_sketches_new(graph, 1, &run, &sketches, &error));
  uint32_t by_number[TARGETS * CM_SKETCH_KEYS];
  double error_sum = 0;
  uint32_t pairs = 0;
  for (uint32_t u = 0; u < TARGETS; u++) {
    for (uint32_t v = 0; v < u; v++, pairs++) {
      uint32_t both = 0, either = 0;
      for (uint32_t e = 0; e < NETS; e++) {
        both += has[u][e] && has[v][e];
        either += has[u][e] || has[v][e];
      }
      double estimate = cm_sketch_overlap(sketches, graph->number[u], graph->number[v]);
      ck_assert_double_eq_tol(estimate, (double)both / either, 0.3);
      error_sum += fabs(estimate - (double)both / either);
    }
  }
  ck_assert_double_le(error_sum / pairs, 0.06); /* 64 bins: a standard deviation of at most 1/16 */
  uint32_t map[TARGETS];
  for (uint32_t v = 0; v < TARGETS; v++)
    map[v] = v % 2;
  ck_ok(cm_sketches_merge(sketches, map, 2, &run, &merged, &error));
  for (uint32_t b = 0; b < merged->bins; b++) {
    uint16_t least = UINT16_MAX;
    for (uint32_t v = 0; v < TARGETS; v += 2)
      least = sketches->rank[v * sketches->bins + b] < least ? sketches->rank[v * sketches->bins + b] : least;
    ck_assert_uint_eq(merged->rank[b], least);
  }
  for (uint32_t v = 0; v < TARGETS; v++)
    memcpy(by_number + (size_t)v * CM_SKETCH_KEYS, sketches->key + (size_t)graph->number[v] * CM_SKETCH_KEYS,
           CM_SKETCH_KEYS * sizeof *by_number);
  memcpy(sketches->key, by_number, sizeof by_number);
  uint32_t alike = 0, all = check_bands(sketches, &alike);
  ck_assert_uint_ge(alike, 45); /* of 60 pairs inside groups */
  ck_assert_uint_le(all - alike, 200); /* of 720 others */
  cm_sketches_free(merged);
  cm_sketches_free(sketches);
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

START_TEST(numbering_by_locality_is_a_permutation_that_keeps_groups_together)
{
  cm_random random;
  for (uint64_t round = 0; round < 30; round++) {
    cm_random_init(&random, round, 8, 0);
    cm_topology t = random_axons(&random);
    uint32_t number[MOST], order[MOST];
    bool seen[MOST] = {false};
    ck_ok(cm_number_by_locality(&t, &run, number, &error));
    for (uint32_t v = 0; v < t.vertex_count; v++) {
      ck_assert_uint_lt(number[v], t.vertex_count);
      ck_assert(!seen[number[v]]);
      seen[number[v]] = true;
    }
    uint32_t block = 1 + below(&random, 12);
    cm_shuffle_by_locality(&random, block, order, t.vertex_count);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < t.vertex_count; i++) {
      ck_assert(!seen[order[i]]);
      seen[order[i]] = true;
      ck_assert_uint_eq(order[i] / block, order[i / block * block] / block);
    }
    network_free(&t);
  }
  cm_topology t = planted(8, 64, 40, 0, &random);
  uint32_t number[8 * 64], apart = 0, at[8 * 64];
  ck_ok(cm_number_by_locality(&t, &run, number, &error));
  for (uint32_t v = 0; v < t.vertex_count; v++)
    at[number[v]] = v;
  for (uint32_t i = 1; i < t.vertex_count; i++) {
    bool together = false;
    for (uint64_t j = t.net_first[at[i]]; j < t.net_first[at[i] + 1]; j++)
      for (uint64_t k = t.net_first[at[i - 1]]; k < t.net_first[at[i - 1] + 1]; k++)
        together |= t.pin[j] == t.pin[k];
    apart += !together;
  }
  ck_assert_uint_le(apart, 10); /* by chance it were seven of eight */
  network_free(&t);
}
END_TEST

/* Three kinds of neurons that are reached from other kinds with other probabilities: in the order, neighbours are of one
 * kind, though no two neurons share more sources than chance has them share. */
START_TEST(the_order_by_sources_tells_kinds_apart)
{
  enum { N = 900, KINDS = 3 };
  static const uint32_t percent[KINDS][KINDS] = {{10, 4, 20}, {16, 12, 3}, {4, 18, 11}}; /* [source][target] */
  cm_random random;
  cm_random_init(&random, 1, 10, 0);
  cm_topology t = network_of_rows(N, (size_t)N * N);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if (v == (u + 1) % N || below(&random, 100) < percent[u % KINDS][v % KINDS])
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t order[2][N], changes = 0;
  uint8_t seen[N] = {0};
  const cm_demand demand = cm_demand_of(&t);
  cm_hypergraph *graph;
  cm_run_init(&run);
  ck_ok(cm_hypergraph_from_topology(&demand, (cm_hypergraph_kind){.unordered = true}, &run, &graph, &error));
  ck_ok(cm_hypergraph_list_inbound(graph, &run, &error));
  for (unsigned i = 0; i < 2; i++) {
    run.threads = 1 + i;
    ck_ok(cm_order_by_sources(graph, 5, &run, order[i], &error));
  }
  run.threads = 1;
  ck_assert_mem_eq(order[0], order[1], sizeof order[0]);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_uint_eq(seen[order[0][i]]++, 0);
    changes += i > 0 && order[0][i] % KINDS != order[0][i - 1] % KINDS;
  }
  ck_assert_uint_lt(changes, N / 20); /* at random two thirds */
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("axon order");
  TCase *tests = tcase_create("axon order");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, the_order_by_sources_tells_kinds_apart);
  tcase_add_test(tests, sketches_estimate_the_overlap_merge_and_find_candidates);
  tcase_add_test(tests, numbering_by_locality_is_a_permutation_that_keeps_groups_together);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
