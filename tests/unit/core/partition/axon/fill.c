/* core/partition/axon/closure and core/partition/nets: networks that have nothing to coarsen by, and parts by nets, judged by brute
 * force. */
#include "tests/unit/networks.h"

#include "core/limits/limits.h"
#include "core/partition/axon/axon.h"
#include "core/partition/axon/closure.h"
#include "core/partition/nets/net_fm.h"
#include "core/partition/nets/nets.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* Neurons of three kinds that are reached from other kinds with other probabilities, or, `near`, from their surroundings
 * in a ring. */
static cm_topology kinds(uint32_t n, bool near)
{
  static const uint32_t percent[3][3] = {{10, 4, 20}, {16, 12, 3}, {4, 18, 11}}; /* [source][target] */
  cm_random random;
  cm_random_init(&random, n, 10, 0);
  cm_topology t = network_of_rows(n, (size_t)n * n);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++) {
      uint32_t chance = near ? ((v + n - u) % n < n / 5 ? 50 : 0) : percent[u % 3][v % 3];
      if (v == (u + 1) % n || below(&random, 100) < chance)
        t.pin[t.pin_count++] = v;
    }
    t.net_first[u + 1] = t.pin_count;
    t.net_weight[u] = 1 + 7 * (u % 3);
  }
  return t;
}

/* Sum over axons of weight * parts reached besides the source's. */
static uint64_t connectivity(const cm_topology *t, const uint32_t *part)
{
  uint64_t sum = 0;
  uint32_t *seen = network_array(t->vertex_count, sizeof *seen);
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t p = part[t->pin[i]];
      sum += p != part[cm_topology_source(t, e)] && seen[p] != e + 1 ? t->net_weight[e] : 0;
      seen[p] = e + 1;
    }
  cm_free(seen);
  return sum;
}

/* Only where targets of a neuron share no more sources than chance has them share. */
START_TEST(nothing_is_found_to_belong_together_where_nothing_does)
{
  for (int near = 0; near < 2; near++) {
    cm_topology t = kinds(1500, near);
    cm_hypergraph *g;
    bool lacks;
    ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &g, &error));
    ck_ok(cm_hypergraph_list_inbound(g, &run, &error));
    ck_ok(cm_lacks_clusters(CM_DEMAND_OF(&t), g, &run, &lacks, &error));
    ck_assert(lacks == !near);
    cm_hypergraph_free(g);
    network_free(&t);
  }
}
END_TEST

/* Neurons that stand outside are sources and no targets: chance does not find them either. */
START_TEST(sources_from_outside_are_no_sign_of_clusters)
{
  enum { N = 1500, INSIDE = 300 };
  cm_topology t = kinds(N, false);
  cm_demand demand = cm_demand_of(&t);
  uint32_t size[N] = {0};
  uint64_t kept = 0, at = 0;
  cm_hypergraph *g;
  bool lacks;
  for (uint32_t v = 0; v < INSIDE; v++)
    size[v] = 1;
  for (uint32_t e = 0; e < N; e++) {
    for (; at < t.net_first[e + 1]; at++)
      if (t.pin[at] < INSIDE)
        t.pin[kept++] = t.pin[at];
    t.net_first[e + 1] = kept;
  }
  t.pin_count = kept;
  demand.size = size;
  demand.size_total = INSIDE;
  ck_ok(cm_hypergraph_from_topology(&demand, (cm_hypergraph_kind){0}, &run, &g, &error));
  ck_ok(cm_lacks_clusters(&demand, g, &run, &lacks, &error));
  ck_assert(lacks);
  cm_hypergraph_free(g);
  network_free(&t);
}
END_TEST

/* Parts one after another: the first neuron of each is the one with most sources, and the one goes in next that has the largest share of
 * its sources there, while any fits. */
static void fill_plainly(const cm_topology *t, uint32_t neurons, uint32_t axons, uint32_t *part)
{
  enum { OPEN = UINT32_MAX };
  uint32_t n = t->vertex_count, *shared = network_array(n, sizeof *shared), *sources = network_array(n, sizeof *sources), left = n;
  uint32_t *holder = network_array(n, sizeof *holder); /* of each axon: the last part that took it, from 1 */
  uint8_t *hears = network_array((size_t)n * n, 1);
  for (uint32_t e = 0; e < n; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      hears[(size_t)t->pin[i] * n + e] = 1;
      sources[t->pin[i]]++;
    }
  memset(part, 0xff, n * sizeof *part);
  for (uint32_t p = 0; left > 0; p++) {
    uint32_t held = 0, members = 0;
    memset(shared, 0, n * sizeof *shared);
    for (;;) {
      uint32_t next = OPEN;
      double most = -1;
      for (uint32_t v = 0; v < n; v++) {
        double share = members == 0 ? sources[v] : (double)shared[v] / sources[v];
        if (part[v] == OPEN && share > most && held + sources[v] - shared[v] <= axons) {
          most = share;
          next = v;
        }
      }
      if (next == OPEN || members == neurons)
        break;
      part[next] = p;
      members++;
      left--;
      for (uint32_t e = 0; e < n; e++) {
        if (!hears[(size_t)next * n + e] || holder[e] == p + 1)
          continue;
        holder[e] = p + 1;
        held++;
        for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
          shared[t->pin[i]]++;
      }
    }
  }
  CM_FREE(shared, sources, holder, hears);
}

/* The whole way, for any number of threads, against parts that are filled in turn: the neuron goes in next that shares most of its sources
 * with the part. Those that are taken sixteen at a time may cost a little more. */
START_TEST(networks_without_clusters_are_filled)
{
  enum { N = CM_SANITIZED ? 600 : 1500, PART = 100, AXONS = 700 };
  cm_topology t = kinds(N, false);
  cm_axon_options options = {.limits = {.neurons = PART, .inbound_axons = AXONS}, .parts_max = 1000, .work = 1, .seed = 3};
  uint32_t part[N], again[N], parts, others;
  uint64_t use[N * CM_RESOURCES];
  run.threads = 1;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&options.limits, use, parts).broken_parts, 0);
  run.threads = 3;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, again, &others, &error));
  ck_assert_uint_eq(others, parts);
  ck_assert_mem_eq(again, part, sizeof part);
  fill_plainly(&t, PART, AXONS, again);
  ck_assert_double_le((double)connectivity(&t, part), 1.05 * (double)connectivity(&t, again));
  network_free(&t);
}
END_TEST

static uint64_t over(const cm_topology *t, const uint32_t *part, uint32_t parts, uint64_t most)
{
  uint64_t load[200] = {0}, sum = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    load[part[v]] += cm_topology_size(t, v);
  for (uint32_t p = 0; p < parts; p++)
    sum += load[p] > most ? load[p] - most : 0;
  return sum;
}

/* After any moves the gain cache says what brute force does: for every vertex and part, touched or not. */
START_TEST(gains_by_nets_are_kept_right)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 11, 0);
  cm_topology t = network_directed(&random, 3 + below(&random, 25), 1 + below(&random, 30));
  uint32_t n = t.vertex_count, parts = 1 + below(&random, n < 7 ? n : 7), part[30];
  cm_net_graph *g;
  cm_net_state *s;
  for (uint32_t v = 0; v < n; v++)
    part[v] = below(&random, parts);
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_ok(cm_net_state_new(g, part, parts, &run, &s, &error));
  for (uint32_t i = 0; i < 60; i++) {
    uint32_t v = below(&random, n), to = below(&random, parts), from = part[v];
    uint64_t before = connectivity(&t, part);
    ck_assert_int_eq(cm_net_connectivity(s), (int64_t)before);
    if (from == to)
      continue;
    int64_t gain = cm_net_gain(s, v, to);
    cm_net_move(s, v, to);
    ck_assert_int_eq((int64_t)before - (int64_t)connectivity(&t, part), gain);
  }
  cm_net_state *anew;
  ck_ok(cm_net_state_new(g, part, parts, &run, &anew, &error));
  for (uint32_t v = 0; v < n; v++) {
    ck_assert_int_eq(s->alone[v], anew->alone[v]);
    ck_assert_uint_eq(s->tie_count[v], anew->tie_count[v]);
    for (uint32_t p = 0; p < parts; p++)
      if (p != part[v])
        ck_assert_int_eq(cm_net_gain(s, v, p), cm_net_gain(anew, v, p));
  }
  cm_net_state_free(anew);
  cm_net_state_free(s);
  cm_net_graph_free(g);
  network_free(&t);
}
END_TEST

/* Refinement says what it gained, loses nothing, and ends within limits that it began in; loose rounds too. */
START_TEST(refinement_by_nets_never_loses)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 12, 0);
  cm_topology t = network_directed(&random, 40 + below(&random, 60), 120);
  uint32_t n = t.vertex_count, parts = 2 + below(&random, 6), part[100];
  uint64_t most[8], load[8] = {0};
  cm_net_graph *g;
  cm_net_state *s;
  for (uint32_t v = 0; v < n; v++) {
    part[v] = v % parts;
    load[part[v]] += cm_topology_size(&t, v);
  }
  for (uint32_t p = 0; p < parts; p++)
    most[p] = load[p] + below(&random, 6);
  cm_net_fm_options options = {.most = most, .rounds = 6, .loose_rounds = (uint32_t)_i % 4, .loose = 0.2, .seed = 1};
  int64_t gain, before = (int64_t)connectivity(&t, part);
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_ok(cm_net_state_new(g, part, parts, &run, &s, &error));
  ck_ok(cm_net_fm(s, &options, &run, &gain, &error));
  ck_assert_int_ge(gain, 0);
  ck_assert_int_eq(before - (int64_t)connectivity(&t, part), gain);
  ck_assert_uint_eq(cm_net_excess(s, most), 0);
  cm_net_state_free(s);
  cm_net_graph_free(g);
  network_free(&t);
}
END_TEST

static const cm_nets_options by_nets = {.starts = 3, .attempts = 2, .tries = 2, .rounds = 5, .loose_rounds = 2, .cycles = 2,
                                        .unions = 3, .coarse_vertices = 20, .seed = 7};

/* Tiny networks are partitioned as well as can be, nearly always: searches of single moves may miss what an exchange of
 * several would find. */
START_TEST(parts_by_nets_against_brute_force)
{
  enum { CASES = 40 };
  uint32_t missed = 0;
  for (uint64_t i = 0; i < CASES; i++) {
    cm_random random;
    cm_random_init(&random, i, 13, 0);
    cm_topology t = network_directed(&random, 4 + below(&random, 4), 10);
    uint32_t n = t.vertex_count, parts = 2 + below(&random, 2), part[8], at[8] = {0}, all = 1;
    cm_nets_options options = by_nets;
    uint64_t excess, least = UINT64_MAX;
    options.parts = parts;
    options.most = (t.size_total + parts - 1) / parts + 3;
    for (uint32_t v = 0; v < n; v++)
      all *= parts;
    for (uint32_t code = 0; code < all; code++) {
      uint32_t members[3] = {0}, rest = code;
      for (uint32_t v = 0; v < n; v++, rest /= parts)
        members[at[v] = rest % parts]++;
      bool full = members[0] > 0 && members[1] > 0 && (parts == 2 || members[2] > 0);
      if (full && over(&t, at, parts, options.most) == 0 && connectivity(&t, at) < least)
        least = connectivity(&t, at);
    }
    ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &options, &run, part, &excess, &error));
    ck_assert_uint_eq(excess, over(&t, part, parts, options.most));
    ck_assert_msg(excess > 0 || connectivity(&t, part) >= least, "less than the optimum");
    missed += least != UINT64_MAX && (excess > 0 || connectivity(&t, part) > least);
    network_free(&t);
  }
  ck_assert_uint_le(missed, CASES / 10);
}
END_TEST

/* Exactly as many parts as asked for, none empty, the same for any number of threads; more effort is not worse. */
START_TEST(parts_by_nets_are_as_many_as_asked_for)
{
  enum { N = CM_SANITIZED ? 200 : 600 };
  cm_topology t = kinds(N, true);
  uint32_t part[N], again[N], members[200] = {0};
  uint64_t excess;
  cm_nets_options options = by_nets, less = by_nets;
  options.parts = less.parts = 13;
  options.most = less.most = N; /* parts may be as uneven as they like */
  run.threads = 1;
  ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &options, &run, part, &excess, &error));
  for (uint32_t v = 0; v < N; v++)
    members[part[v]]++;
  for (uint32_t p = 0; p < options.parts; p++)
    ck_assert_uint_gt(members[p], 0);
  options.most = less.most = N / 13 + 2;
  ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &options, &run, part, &excess, &error));
  ck_assert_uint_eq(excess, 0);
  ck_assert_uint_eq(over(&t, part, 13, options.most), 0);
  run.threads = 3;
  ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &options, &run, again, &excess, &error));
  ck_assert_mem_eq(again, part, sizeof part);
  less.cycles = less.unions = 0;
  less.seed = options.seed;
  options.starts = options.attempts = options.tries = options.rounds = 1; /* finds less by itself */
  options.cycles = 0;
  options.below = &less;
  ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &options, &run, part, &excess, &error));
  ck_ok(cm_partition_nets(CM_DEMAND_OF(&t), &less, &run, again, &excess, &error));
  ck_assert_uint_le(connectivity(&t, part), connectivity(&t, again));
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("fill");
  TCase *tests = tcase_create("fill");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, nothing_is_found_to_belong_together_where_nothing_does);
  tcase_add_test(tests, sources_from_outside_are_no_sign_of_clusters);
  tcase_add_test(tests, networks_without_clusters_are_filled);
  tcase_add_loop_test(tests, gains_by_nets_are_kept_right, 0, 60);
  tcase_add_loop_test(tests, refinement_by_nets_never_loses, 0, 20);
  tcase_add_test(tests, parts_by_nets_against_brute_force);
  tcase_add_test(tests, parts_by_nets_are_as_many_as_asked_for);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
