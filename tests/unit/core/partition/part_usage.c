/* core/partition/part_usage: what parts take of their cores, by the definitions of the limits. */
#include "tests/unit/networks.h"

#include "base/random.h"
#include "core/limits/limits.h"
#include "core/partition/part_usage.h"

enum { SMALL = 40 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
}

/* A random directed network in the arrays given. */
static cm_topology random_network(cm_random *random, uint32_t n, uint64_t *first, uint32_t *source, uint32_t *pin)
{
  cm_topology topology = {.directed = true, .vertex_count = n, .net_first = first, .net_source = source, .pin = pin,
                          .size_total = n, .weight_scale = 1};
  for (uint32_t v = 0; v < n; v++) {
    for (uint64_t nets = cm_random_below(random, 3); nets > 0; nets--) {
      uint64_t begin = topology.pin_count;
      for (uint32_t u = 0; u < n; u++)
        if (cm_random_below(random, 100) < 15)
          pin[topology.pin_count++] = u;
      if (topology.pin_count == begin)
        continue;
      source[topology.net_count++] = v;
      first[topology.net_count] = topology.pin_count;
    }
  }
  return topology;
}

START_TEST(use_of_cores_is_counted_as_the_limits_define_it)
{
  cm_random random;
  static uint64_t first[3 * SMALL];
  static uint32_t source[3 * SMALL], pin[3 * SMALL * SMALL];
  for (uint64_t round = 0; round < 60; round++) {
    cm_random_init(&random, round, 7, 0);
    uint32_t n = 1 + (uint32_t)cm_random_below(&random, SMALL - 1), parts = 1 + (uint32_t)cm_random_below(&random, 6);
    cm_topology topology = random_network(&random, n, first, source, pin);
    uint32_t part[SMALL];
    uint64_t use[8 * CM_RESOURCES];
    bool reaches[SMALL][8] = {{0}}, talks[8][8] = {{0}};
    uint64_t truth[8][CM_RESOURCES] = {{0}};
    for (uint32_t v = 0; v < n; v++) {
      part[v] = (uint32_t)cm_random_below(&random, parts);
      truth[part[v]][CM_NEURONS]++;
    }
    for (uint32_t e = 0; e < topology.net_count; e++) {
      for (uint64_t i = first[e]; i < first[e + 1]; i++) {
        truth[part[pin[i]]][CM_SYNAPSES]++;
        reaches[source[e]][part[pin[i]]] = true;
        talks[part[source[e]]][part[pin[i]]] = true;
      }
    }
    for (uint32_t v = 0; v < n; v++) {
      for (uint32_t p = 0; p < parts; p++) {
        truth[p][CM_INBOUND_AXONS] += reaches[v][p];
        truth[part[v]][CM_OUTBOUND_AXONS] += reaches[v][p] && p != part[v];
      }
    }
    for (uint32_t p = 0; p < parts; p++)
      for (uint32_t q = 0; q < parts; q++) {
        truth[p][CM_TARGET_CORES] += talks[p][q] && p != q;
        truth[p][CM_SOURCE_CORES] += talks[q][p] && p != q;
      }
    ck_ok(cm_count_use(CM_DEMAND_OF(&topology), part, parts, &run, use, &error));
    for (uint32_t p = 0; p < parts; p++)
      for (uint32_t r = 0; r < CM_RESOURCES; r++)
        ck_assert_uint_eq(use[p * CM_RESOURCES + r], truth[p][r]);
  }
}
END_TEST

/* In tables, where pairs of part and source are few, and by their keys, where there are many. */
START_TEST(uses_stay_exact_while_neurons_move)
{
  static uint64_t first[3 * SMALL];
  static uint32_t source[3 * SMALL], pin[3 * SMALL * SMALL];
  const cm_limits limits = {.neurons = 5, .outbound_axons = 9, .target_cores = 2, .source_cores = 3};
  cm_random random;
  uint32_t tables = 0, keys = 0;
  for (uint64_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 7, 1);
    cm_topology topology = random_network(&random, SMALL, first, source, pin);
    uint32_t slots = 1 + (uint32_t)cm_random_below(&random, SMALL), part[SMALL];
    uint64_t use[SMALL * CM_RESOURCES];
    const cm_demand demand = cm_demand_of(&topology);
    cm_part_usage usage;
    for (uint32_t v = 0; v < SMALL; v++)
      part[v] = (uint32_t)cm_random_below(&random, slots);
    ck_ok(cm_part_usage_open(&usage, &demand, &limits, part, slots, &run, &error));
    tables += usage.presence.columns != 0;
    keys += usage.presence.columns == 0;
    for (uint32_t moves = 0; moves < 100; moves++) {
      ck_ok(cm_part_usage_move(&usage, (uint32_t)cm_random_below(&random, SMALL), (uint32_t)cm_random_below(&random, slots), &error));
      (void)cm_part_usage_settle(&usage, true);
    }
    ck_ok(cm_count_use(CM_DEMAND_OF(&topology), part, slots, &run, use, &error));
    ck_assert_mem_eq(usage.use, use, slots * CM_RESOURCES * sizeof *use);
    ck_assert_uint_eq(usage.over_count, cm_find_violation(&limits, use, slots).broken_parts);
    cm_part_usage_free(&usage);
  }
  ck_assert_uint_gt(tables, 5);
  ck_assert_uint_gt(keys, 5);
}
END_TEST

START_TEST(violations_name_the_worst_part)
{
  const uint64_t use[3 * CM_RESOURCES] = {10, 50, 5, 0, 0, 0, 12, 90, 5, 0, 0, 0, 3, 60, 9, 0, 0, 0};
  cm_limits limits = {.neurons = 12, .synapses = 90, .inbound_axons = 9};
  ck_assert_uint_eq(cm_find_violation(&limits, use, 3).broken_parts, 0);
  limits = (cm_limits){.neurons = 11, .inbound_axons = 6};
  cm_violation found = cm_find_violation(&limits, use, 3);
  ck_assert_uint_eq(found.broken_parts, 2);
  ck_assert_uint_eq(found.part, 2);
  ck_assert_int_eq(found.resource, CM_INBOUND_AXONS);
  ck_assert_uint_eq(found.use, 9);
  ck_assert_uint_eq(found.limit, 6);
}
END_TEST

START_TEST(a_neuron_that_no_core_holds_is_named)
{
  uint64_t first[] = {0, 2, 3, 4};
  uint32_t pin[] = {0, 2, 2, 2}, size[] = {1, 5, 1};
  cm_topology topology = {.directed = true, .vertex_count = 3, .net_count = 3, .pin_count = 4, .net_first = first,
                          .pin = pin, .size = size, .size_total = 7, .weight_scale = 1};
  ck_ok(cm_check_neurons(CM_DEMAND_OF(&topology), &(cm_limits){.neurons = 5, .synapses = 3, .inbound_axons = 3}, &run, &error));
  ck_fails(cm_check_neurons(CM_DEMAND_OF(&topology), &(cm_limits){.neurons = 4}, &run, &error), CM_NEURON_TOO_LARGE);
  ck_assert_str_eq(error.where, "neuron 1");
  ck_fails(cm_check_neurons(CM_DEMAND_OF(&topology), &(cm_limits){.inbound_axons = 2}, &run, &error), CM_NEURON_TOO_LARGE);
  ck_assert_str_eq(error.where, "neuron 2");
  ck_assert_ptr_nonnull(strstr(error.detail, "3 inbound axons, 1 more than the 2"));
  ck_fails(cm_check_neurons(CM_DEMAND_OF(&topology), &(cm_limits){.synapses = 2}, &run, &error), CM_NEURON_TOO_LARGE);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("part usage");
  TCase *tests = tcase_create("part usage");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, use_of_cores_is_counted_as_the_limits_define_it);
  tcase_add_test(tests, uses_stay_exact_while_neurons_move);
  tcase_add_test(tests, violations_name_the_worst_part);
  tcase_add_test(tests, a_neuron_that_no_core_holds_is_named);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
