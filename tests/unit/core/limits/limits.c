/* What the limits of a core allow, against every partition of small random networks, and on crafted ones with known
 * answers. */
#include "tests/unit/truth.h"

#include "core/limits/bound.h"
#include "core/limits/copies.h"
#include "core/partition/part_usage.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

START_TEST(no_partition_has_fewer_parts)
{
  cm_random random;
  uint32_t feasible = 0, tight = 0, argument[4] = {0}, resource[CM_RESOURCES] = {0};
  for (uint64_t round = 0; round < 3000; round++) {
    cm_random_init(&random, round, 5, 0);
    uint32_t n = 2 + below(&random, SMALL - 1);
    cm_topology t =
        round % 4 != 0 ? network_directed(&random, n, 1 + below(&random, n + 3)) : network_undirected(&random, n, 40);
    cm_limits limits = random_limits(&random, &t);
    cm_bound bound;
    if (cm_check_neurons(CM_DEMAND_OF(&t), &limits, &run, &error) == CM_OK) {
      truth best = least_parts(&t, &limits);
      ck_ok(cm_bound_parts(CM_DEMAND_OF(&t), &limits, &run, &bound, &error));
      if (best.parts != 0) {
        ck_assert_uint_ge(best.parts, bound.parts);
        if (bound.widest_cores > 0)
          ck_assert_uint_ge(best.least_reach[bound.widest], bound.widest_cores);
        feasible++;
        tight += best.parts == bound.parts;
        argument[bound.argument] += best.parts == bound.parts;
        if (bound.argument != CM_ARGUMENT_NONE)
          resource[bound.resource]++;
      }
    }
    network_free(&t);
  }
  /* Wide enough to meet every argument, and strong enough to be worth printing. */
  ck_assert_uint_gt(feasible, 1000);
  ck_assert_uint_gt(4 * tight, 3 * feasible);
  for (int a = 0; a < 4; a++)
    ck_assert_uint_gt(argument[a], 5);
  for (cm_resource r = CM_NEURONS; r <= CM_INBOUND_AXONS; r++)
    ck_assert_msg(resource[r] > 5, "%s decides %u times", cm_resource_name(r), resource[r]);
}
END_TEST

/* The same with populations that share no core, or two of them one, and with memory that neurons, synapses and axons share. */
START_TEST(no_partition_has_fewer_parts_of_populations_or_memory)
{
  cm_random random;
  uint32_t feasible = 0, tight = 0, by_populations = 0, by_memory = 0;
  for (uint64_t round = 0; round < 2000; round++) {
    cm_random_init(&random, round, 6, 0);
    uint32_t n = 2 + below(&random, SMALL - 1), population_of[SMALL];
    cm_topology t =
        round % 4 != 0 ? network_directed(&random, n, 1 + below(&random, n + 3)) : network_undirected(&random, n, 40);
    cm_limits limits = random_limits(&random, &t);
    cm_population population[SMALL] = {{"p", ""}};
    cm_bound bound;
    limits.outbound_axons = limits.target_cores = 0;
    for (uint32_t v = 0; v < n; v++)
      population_of[v] = below(&random, 4);
    t.population_count = 4;
    t.population = population;
    t.population_of = population_of;
    limits.populations = below(&random, 4);
    if (below(&random, 2)) {
      limits.neuron_bits = below(&random, 5);
      limits.synapse_bits = 1 + below(&random, 5);
      limits.axon_bits = below(&random, 5);
      limits.memory_bits = 1 + below(&random, 12 * n);
    }
    if (cm_check_neurons(CM_DEMAND_OF(&t), &limits, &run, &error) == CM_OK) {
      truth best = least_parts(&t, &limits);
      ck_ok(cm_bound_parts(CM_DEMAND_OF(&t), &limits, &run, &bound, &error));
      if (best.parts != 0)
        ck_assert_uint_ge(best.parts, bound.parts);
      feasible += best.parts != 0;
      tight += best.parts != 0 && best.parts == bound.parts;
      by_populations += bound.argument == CM_ARGUMENT_POPULATIONS;
      by_memory += bound.argument == CM_ARGUMENT_TOTAL && bound.resource == CM_MEMORY;
    }
    t.population = NULL;
    t.population_of = NULL;
    network_free(&t);
  }
  ck_assert_uint_gt(feasible, 500);
  ck_assert_uint_gt(2 * tight, feasible);
  ck_assert_uint_gt(by_populations, 100);
  ck_assert_uint_gt(by_memory, 50);
}
END_TEST

/* Copies by brute force, and relays by building the tree: each takes up to a fan-in, the neuron the roots and what is left. */
START_TEST(copies_and_relays)
{
  cm_random random;
  for (uint64_t round = 0; round < 500; round++) {
    cm_random_init(&random, round, 7, 0);
    uint32_t n = 2 + below(&random, SMALL - 1), part[SMALL], parts = 1 + below(&random, 4), copies[SMALL];
    cm_topology t = round % 3 != 0 ? network_directed(&random, n, 1 + below(&random, n + 3)) : network_undirected(&random, n, 40);
    cm_demand demand = cm_demand_of(&t);
    uint64_t use[4 * CM_RESOURCES], expected[4] = {0};
    for (uint32_t v = 0; v < n; v++)
      part[v] = below(&random, parts);
    ck_ok(cm_demand_limit_neurons(&demand, &(cm_neuron_terms){.target_cores = 1 + below(&random, 3)}, NULL, &error));
    ck_ok(cm_count_copies(&demand, part, parts, &run, copies, &error));
    for (uint32_t v = 0; v < n; v++) {
      uint32_t reached = 0, bits = 0;
      for (uint32_t e = 0; e < t.net_count; e++)
        for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
          bits |= cm_topology_source(&t, e) == v ? 1u << part[t.pin[i]] : 0;
      for (uint32_t p = 0; p < parts; p++)
        reached += bits >> p & 1;
      uint32_t least = 1;
      while (least * demand.target_cores_max < reached)
        least++;
      ck_assert_uint_eq(copies[v], least);
      expected[part[v]] += (uint64_t)least * cm_topology_size(&t, v);
    }
    ck_ok(cm_count_use(&demand, part, parts, &run, use, &error));
    for (uint32_t p = 0; p < parts; p++)
      ck_assert_uint_eq(use[p * CM_RESOURCES + CM_NEURONS], expected[p]);
    network_free(&t);
  }
  for (uint64_t fan_in = 2; fan_in < 9; fan_in++)
    for (uint64_t inputs = 0; inputs < 200; inputs++) {
      uint64_t open = inputs, relays = 0; /* a relay takes up to fan_in of what is open, and is open itself */
      while (open > fan_in) {
        open -= (open - fan_in + 1 < fan_in ? open - fan_in + 1 : fan_in) - 1;
        relays++;
      }
      ck_assert_uint_eq(cm_relays_for(inputs, fan_in), relays);
    }
}
END_TEST

/* Moves keep count of copies as counting afresh does. */
START_TEST(moves_keep_count_of_copies)
{
  cm_random random;
  for (uint64_t round = 0; round < 100; round++) {
    cm_random_init(&random, round, 8, 0);
    uint32_t n = 2 + below(&random, SMALL - 1), part[SMALL];
    cm_topology t = network_directed(&random, n, 1 + below(&random, n + 3));
    cm_demand demand = cm_demand_of(&t);
    cm_limits limits = {.neurons = 3};
    cm_part_usage usage;
    uint64_t use[4 * CM_RESOURCES];
    for (uint32_t v = 0; v < n; v++)
      part[v] = below(&random, 4);
    ck_ok(cm_demand_limit_neurons(&demand, &(cm_neuron_terms){.target_cores = 1 + below(&random, 2)}, NULL, &error));
    ck_ok(cm_part_usage_open(&usage, &demand, &limits, part, 4, &run, &error));
    for (int i = 0; i < 20; i++) {
      uint32_t v = below(&random, n), to = below(&random, 4);
      if (part[v] != to)
        ck_ok(cm_part_usage_move(&usage, v, to, &error));
      (void)cm_part_usage_settle(&usage, true);
      ck_ok(cm_count_use(&demand, part, 4, &run, use, &error));
      for (uint32_t p = 0; p < 4; p++)
        ck_assert_uint_eq(cm_part_usage_use(&usage, p, CM_NEURONS), use[p * CM_RESOURCES + CM_NEURONS]);
    }
    cm_part_usage_free(&usage);
    network_free(&t);
  }
}
END_TEST

START_TEST(counting_use_heeds_a_stop)
{
  cm_random random;
  cm_random_init(&random, 3, 8, 0);
  cm_topology t = network_directed(&random, SMALL, SMALL);
  uint32_t part[SMALL] = {0};
  cm_part_usage usage;
  atomic_bool stop = true;
  run.cancel = &stop;
  ck_assert_int_eq(cm_part_usage_open(&usage, CM_DEMAND_OF(&t), &(cm_limits){.neurons = SMALL}, part, 1, &run, &error), CM_CANCELLED);
  run.cancel = NULL;
  cm_part_usage_free(&usage);
  network_free(&t);
}
END_TEST

/* ---- crafted ---- */

/* One net a row of targets; sources are row numbers. */
static cm_topology network_of(uint32_t vertices, const uint32_t *targets, const uint32_t *counts, uint32_t nets)
{
  cm_topology t = {
      .directed = true, .vertex_count = vertices, .net_count = nets, .size_total = vertices, .weight_scale = 1};
  t.net_first = network_array((size_t)nets + 1, sizeof *t.net_first);
  for (uint32_t e = 0; e < nets; e++)
    t.net_first[e + 1] = t.net_first[e] + counts[e];
  t.pin_count = t.net_first[nets];
  t.net_source = network_array(nets, sizeof *t.net_source);
  t.net_weight = network_array(nets, sizeof *t.net_weight);
  t.pin = network_array(t.pin_count, sizeof *t.pin);
  for (uint32_t e = 0; e < nets; e++) {
    t.net_source[e] = e;
    t.net_weight[e] = 1;
  }
  memcpy(t.pin, targets, t.pin_count * sizeof *t.pin);
  return t;
}

static cm_bound bound_of(const cm_topology *t, cm_limits limits)
{
  cm_bound bound;
  ck_ok(cm_check_neurons(CM_DEMAND_OF(t), &limits, &run, &error));
  ck_ok(cm_bound_parts(CM_DEMAND_OF(t), &limits, &run, &bound, &error));
  return bound;
}

static void expect_bound(cm_bound bound, uint32_t parts, cm_argument argument, cm_resource resource, const char *says)
{
  char text[160];
  ck_assert_uint_eq(bound.parts, parts);
  ck_assert_int_eq(bound.argument, argument);
  if (argument != CM_ARGUMENT_NONE)
    ck_assert_int_eq(bound.resource, resource);
  ck_assert_str_eq(cm_bound_reason(&bound, text, sizeof text), says);
}

START_TEST(each_argument_has_its_network)
{
  /* Twelve neurons; neuron 0 reaches all, neuron 1 reaches six. */
  uint32_t targets[18], counts[] = {12, 6};
  for (uint32_t i = 0; i < 18; i++)
    targets[i] = i % 12;
  cm_topology t = network_of(12, targets, counts, 2);
  expect_bound(bound_of(&t, (cm_limits){0}), 1, CM_ARGUMENT_NONE, 0, "no limit asks for more");
  expect_bound(bound_of(&t, (cm_limits){.neurons = 5}), 3, CM_ARGUMENT_TOTAL, CM_NEURONS,
               "12 neurons in all, at most 5 in a core");
  expect_bound(bound_of(&t, (cm_limits){.synapses = 4}), 5, CM_ARGUMENT_TOTAL, CM_SYNAPSES,
               "18 synapses in all, at most 4 in a core");
  /* Two neurons a core: neuron 0's targets are on 6 cores, neuron 1's on 3: eight axons go elsewhere at least... */
  cm_bound wide = bound_of(&t, (cm_limits){.neurons = 2, .outbound_axons = 1});
  expect_bound(wide, 7, CM_ARGUMENT_TOTAL, CM_OUTBOUND_AXONS, "at least 7 outbound axons in all, at most 1 in a core");
  ck_assert_uint_eq(wide.widest, 0);
  ck_assert_uint_eq(wide.widest_cores, 6);
  /* ...and nine come in. Without a neuron limit the two axons fit two cores of one axon each only if no neuron needs
   * both. */
  expect_bound(bound_of(&t, (cm_limits){.neurons = 12, .inbound_axons = 2}), 1, CM_ARGUMENT_NONE, 0,
               "no limit asks for more");
  network_free(&t);

  /* Sizes 3 3 3 2 with room for 5: bin packing needs three parts, though 11 / 5 says three too; with 4 each is
   * alone. */
  counts[0] = 1;
  targets[0] = 0;
  t = network_of(4, targets, counts, 1);
  t.size = network_array(4, sizeof *t.size);
  t.size_total = 11;
  for (uint32_t v = 0; v < 4; v++)
    t.size[v] = v < 3 ? 3 : 2;
  expect_bound(bound_of(&t, (cm_limits){.neurons = 4}), 4, CM_ARGUMENT_GAPS, CM_NEURONS,
               "neurons that fill more than half of 4 neurons leave gaps");
  network_free(&t);

  /* Six sources for neuron 6, six others for neuron 13: together they need twelve axons, though totals ask for
   * little. */
  uint32_t pairs[12], ones[12];
  for (uint32_t s = 0; s < 12; s++) {
    pairs[s] = s < 6 ? 6 : 13;
    ones[s] = 1;
  }
  t = network_of(14, pairs, ones, 12);
  expect_bound(bound_of(&t, (cm_limits){.inbound_axons = 11}), 2, CM_ARGUMENT_TOTAL, CM_INBOUND_AXONS,
               "at least 12 inbound axons in all, at most 11 in a core");
  network_free(&t);
  t = network_of(0, targets, counts, 0);
  ck_assert_uint_eq(bound_of(&t, (cm_limits){.neurons = 4, .inbound_axons = 2}).parts, 0);
  network_free(&t);
}
END_TEST

/* Every source reaches two neurons, every two neurons share one source: totals see little, pairs see all. */
START_TEST(neurons_that_cannot_be_together)
{
  enum { K = 6, SOURCES = K * (K - 1) / 2, EXTRA = 4 };
  uint32_t targets[2 * SOURCES + 2], counts[SOURCES + 1], net = 0, at = 0;
  for (uint32_t a = 0; a < K; a++)
    for (uint32_t b = a + 1; b < K; b++) {
      targets[at++] = a;
      targets[at++] = b;
      counts[net++] = 2;
    }
  cm_topology t = network_of(SOURCES + EXTRA, targets, counts, net);
  /* Five axons each, any two need nine. */
  expect_bound(bound_of(&t, (cm_limits){.inbound_axons = 8}), K, CM_ARGUMENT_APART, CM_INBOUND_AXONS,
               "no two of 6 neurons fit a core together, the last pair for its 8 inbound axons");
  ck_assert_uint_lt(bound_of(&t, (cm_limits){.inbound_axons = 9}).parts, K);
  network_free(&t);
}
END_TEST

START_TEST(allocation_failures_leave_nothing)
{
  cm_random random;
  cm_random_init(&random, 1, 1, 1);
  cm_topology t = network_directed(&random, 20, 30);
  cm_limits limits = {.neurons = 30, .synapses = 200, .inbound_axons = 1, .outbound_axons = 40};
  while (cm_check_neurons(CM_DEMAND_OF(&t), &limits, &run, &error) != CM_OK)
    limits.inbound_axons++; /* until the largest just fits: every argument is tried */
  cm_memory memory;
  cm_memory_init(&memory, 0);
  run.memory = &memory;
  cm_bound bound = {.parts = 77};
  uint64_t n = 1;
  for (;; n++) {
    cm_memory_fail_at(n);
    cm_status status = cm_bound_parts(CM_DEMAND_OF(&t), &limits, &run, &bound, &error);
    bool fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!fired) {
      ck_ok(status);
      break;
    }
    ck_assert_int_eq(status, CM_NO_MEMORY);
    ck_assert_uint_eq(bound.parts, 77);
  }
  ck_assert_uint_gt(n, 6);
  run.memory = NULL;
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("limits");
  TCase *tests = tcase_create("limits");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, no_partition_has_fewer_parts);
  tcase_add_test(tests, no_partition_has_fewer_parts_of_populations_or_memory);
  tcase_add_test(tests, copies_and_relays);
  tcase_add_test(tests, moves_keep_count_of_copies);
  tcase_add_test(tests, counting_use_heeds_a_stop);
  tcase_add_test(tests, each_argument_has_its_network);
  tcase_add_test(tests, neurons_that_cannot_be_together);
  tcase_add_test(tests, allocation_failures_leave_nothing);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
