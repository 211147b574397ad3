/* The simulator against queueing theory, hand-computed steps, and the metrics' own counts. */
#include "tests/unit/networks.h"

#include <math.h>
#include <stdlib.h>

#include "core/measure/measure.h"
#include "core/simulate/events.h"
#include "core/simulate/pace.h"
#include "core/simulate/simulate.h"
#include "core/simulate/turn_order.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

static cm_chip *chip_of(const char *text)
{
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

/* Link: crossed in 4 + 2 ns, one packet every 4 ns; inlet: 2 ns. */
static const char plain[] =
  "{\"name\": \"c\", \"cores\": [4, 4], \"latency_ns\": {\"router\": 2, \"link\": 4}, \"costs\": {\"packet_sent\": {\"ns\": 5}, "
  "\"packet_received\": {\"ns\": 16}, \"synapse\": {\"ns\": 3}, \"neuron\": {\"ns\": 10}, \"spike\": {\"ns\": 30}, "
  "\"barrier\": {\"ns\": [[1, 100], [2, 200]]}}}";

static double number(const json_t *report, const char *part, const char *name)
{
  const json_t *value = json_object_get(json_object_get(report, part), name);
  ck_assert_msg(json_is_number(value), "no %s in %s", name, part);
  return json_number_value(value);
}

/* Neuron 0 on core 0 reaches neuron 1 on core 1, its neighbour. */
typedef struct pair {
  uint64_t first[2], weight[1];
  uint32_t source[1], pin[1], part[2], core[2];
  cm_topology topology;
} pair;

static void pair_init(pair *p)
{
  *p = (pair){.first = {0, 1}, .weight = {1}, .source = {0}, .pin = {1}, .part = {0, 1}, .core = {0, 1}};
  p->topology = (cm_topology){.directed = true, .vertex_count = 2, .net_count = 1, .pin_count = 1, .net_first = p->first,
                              .net_source = p->source, .net_weight = p->weight, .pin = p->pin, .size_total = 2,
                              .weight_scale = 1};
}

START_TEST(a_step_by_hand)
{
  pair p;
  pair_init(&p);
  cm_chip *chip = chip_of(plain);
  json_t *report;
  cm_simulate_options options = cm_simulate_defaults;
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error));
  /* Sent at 10 + 30 + 5; 6 ns on the link, 2 at the inlet; processed in 16 + 3; two tiles wait 200. */
  ck_assert_double_eq_tol(number(report, "steps", "step_ns_mean"), 45 + 6 + 2 + 19 + 200, 1e-6);
  ck_assert_double_eq_tol(number(report, "steps", "contention_free_ns_mean"), 45 + 200, 1e-6);
  ck_assert_double_eq_tol(number(json_object_get(report, "steps"), "latency", "mean_ns"), 8, 1e-6);
  const json_t *steps = json_object_get(json_object_get(json_object_get(report, "steps"), "latency"), "histogram");
  ck_assert_uint_eq(json_array_size(steps), 24);
  ck_assert_int_eq(json_integer_value(json_array_get(steps, 23)), 1); /* one packet, the slowest */
  ck_assert_double_eq(number(report, "steps", "hops"), 1);
  json_decref(report);
  cm_chip_free(chip);
}
END_TEST

/* A rate is as many packets as it says, and has no bound: what takes that long can be stopped. */
START_TEST(a_step_of_huge_rates_can_be_stopped)
{
  pair p;
  pair_init(&p);
  p.weight[0] = UINT64_C(1) << 40;
  cm_chip *chip = chip_of(plain);
  cm_memory memory;
  json_t *report = NULL;
  cm_simulate_options options = cm_simulate_defaults;
  cm_memory_init(&memory, UINT64_C(1) << 30);
  run.memory = &memory;
  run.deadline = cm_now() + 0.01;
  ck_fails(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error),
           CM_TIME_LIMIT);
  cm_chip_free(chip);
}
END_TEST

/* A Poisson stream over one link is an M/D/1 queue: mean wait rho S / (2 (1 - rho)). The inlet is faster, so nothing
 * waits there. */
START_TEST(one_link_is_a_queue_with_fixed_service)
{
  static const double loads[] = {0.2, 0.5, 0.8};
  double rho = loads[_i], service = 4;
  pair p;
  pair_init(&p);
  cm_chip *chip = chip_of(plain);
  json_t *report;
  cm_simulate_options options = {.load = rho / service, .buffers = 16, .packets = 400000, .seed = 5};
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error));
  double mean = number(json_object_get(report, "stream"), "latency", "mean_ns"), wait = rho * service / (2 * (1 - rho));
  ck_assert_double_eq_tol(mean, 8 + wait, 0.03 * wait + 0.01);
  ck_assert_double_eq_tol(number(report, "stream", "unhindered_mean_ns"), 8, 1e-9);
  json_decref(report);
  cm_chip_free(chip);
}
END_TEST

/* The one link is full at one packet every 4 ns. */
START_TEST(saturation_is_where_the_link_is_full)
{
  pair p;
  pair_init(&p);
  cm_chip *chip = chip_of(plain);
  json_t *report;
  cm_simulate_options options = {.saturation = true, .buffers = 16, .packets = 100000, .seed = 5};
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error));
  json_t *again; /* threads that try loads ahead of time change nothing */
  run.threads = 3;
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &again, &error));
  ck_assert(json_equal(report, again));
  json_decref(again);
  double load = number(report, "saturation", "load");
  ck_assert_double_lt(load, number(report, "saturation", "fails_at"));
  size_t i;
  json_t *row;
  json_array_foreach(json_object_get(json_object_get(report, "saturation"), "curve"), i, row)
    ck_assert(load < json_number_value(json_object_get(row, "load")) || json_is_false(json_object_get(row, "saturated")));
  ck_assert_double_le(load, 0.25 * 1.06);
  ck_assert_double_ge(load, 0.25 * 0.75);
  json_decref(report);
  cm_chip_free(chip);
}
END_TEST

/* Step 0: neuron 0 fires twice, packets leave at 45 and 80; step 1: neuron 1 fires, which reaches nobody. */
START_TEST(given_spikes_by_hand)
{
  pair p;
  pair_init(&p);
  cm_chip *chip = chip_of(plain);
  json_t *report;
  uint64_t first[3] = {0, 2, 3};
  uint32_t neuron[3] = {0, 0, 1};
  cm_spikes spikes = {.neurons = 2, .steps = 2, .first = first, .neuron = neuron};
  cm_simulate_options options = cm_simulate_defaults;
  options.steps = 2;
  options.spikes = &spikes;
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error));
  ck_assert_double_eq_tol(number(report, "steps", "step_ns_max"), 80 + 6 + 2 + 19 + 200, 1e-6);
  ck_assert_double_eq_tol(number(report, "steps", "step_ns_mean"), (80 + 6 + 2 + 19 + 10) / 2.0 + 200, 1e-6);
  ck_assert_double_eq(number(report, "steps", "packets"), 2);
  json_decref(report);
  options.steps = 3;
  ck_assert_int_eq(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error),
                   CM_BAD_OPTION);
  ck_assert_str_eq(error.detail, "3 steps are asked for, and spikes are given for 2: ask for fewer");
  cm_chip_free(chip);
}
END_TEST

/* Hops of a step in which every neuron fires once are those that the metrics count, packet by packet and tree by tree;
 * nothing is stuck even with buffers of one packet; the same for any number of threads. */
START_TEST(hops_are_those_of_the_metrics)
{
  static const char *const grids[] = {"[6, 5]", "[6, 5], \"torus\": [true, true]", "[6, 5], \"routing\": \"yx\"",
                                      "[6, 4], \"cores_per_router\": [2, 2]", "[24, 6], \"cores_per_router\": [12, 6]",
                                      "[6, 5], \"torus\": [true, true], \"interconnect\": {\"kind\": \"hexagonal\"}, \"dead_links\": [[1, 1, \"north-east\"]]",
                                      ("[8, 4], \"cores_per_router\": [2, 1], \"interconnect\": {\"kind\": \"tree\", \"levels\": "
                                       "[{\"block\": [2, 2]}, {\"block\": [2, 2], \"bandwidth\": 4}]}")};
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 11, 0);
  char text[300];
  (void)snprintf(text, sizeof text, "{\"name\": \"c\", \"cores\": %s, \"latency_ns\": {\"router\": 2, \"link\": 4}}",
                 grids[_i % 7]);
  cm_chip *chip = chip_of(text);
  cm_topology t = network_directed(&random, 40, 30);
  for (uint32_t e = 0; e < t.net_count; e++)
    t.net_weight[e] = t.weight_scale;
  uint32_t part[40], core[24], order[24];
  cm_random_permutation(&random, order, 24);
  for (uint32_t v = 0; v < 40; v++)
    part[v] = v < 12 ? v : below(&random, 12);
  for (uint32_t p = 0; p < 12; p++)
    core[p] = order[p];
  cm_metrics m;
  cm_metrics_detail d;
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, 12, core, NULL}, &run, &m, &d, &error));
  for (int multicast = 0; multicast < 2; multicast++) {
    json_t *report, *again;
    cm_simulate_options options = {.steps = 2, .buffers = 1, .packets = test_rounds(20000), .load = 0.001, .seed = 3,
                                   .multicast = multicast};
    ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, 12, core, NULL}, &options, &run, &report, &error));
    ck_assert_double_eq_tol(number(report, "steps", "hops"), 2 * (multicast ? m.multicast_hops : m.hop_traffic), 1e-6);
    ck_assert(json_is_false(json_object_get(json_object_get(report, "steps"), "deadlock")));
    run.threads = 3;
    ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, 12, core, NULL}, &options, &run, &again, &error));
    run.threads = 1;
    ck_assert(json_equal(report, again));
    json_decref(report);
    json_decref(again);
  }
  cm_metrics_detail_free(&d);
  network_free(&t);
  cm_chip_free(chip);
}
END_TEST

/* Without contention a step is step_ns, on every kind of interconnect: the simulator counts what each core does packet by
 * packet, the metrics sum rates. */
START_TEST(a_step_without_contention_is_the_formula)
{
  static const char *const kinds[] = {"", ", \"torus\": [true, true]", ", \"routing\": \"yx\", \"cores_per_router\": [2, 1]",
                                      ", \"interconnect\": {\"kind\": \"grid\"}",
                                      ", \"torus\": [true, true], \"interconnect\": {\"kind\": \"hexagonal\"}",
                                      ", \"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [2, 2]}, {\"block\": [2, 2]}]}",
                                      ", \"interconnect\": {\"kind\": \"all-to-all\"}",
                                      (", \"interconnect\": {\"kind\": \"graph\", \"links\": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], "
                                       "[6, 7], [7, 8], [8, 9], [9, 10], [10, 11], [11, 12], [12, 13], [13, 14], [14, 15], [15, 0], [3, 11]]}")};
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 12, 0);
  char text[900];
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"c\", \"cores\": [4, 4], \"latency_ns\": {\"router\": 2, \"link\": 4}%s, \"costs\": {%s\"packet_sent\": "
                 "{\"ns\": 5}, \"packet_received\": {\"ns\": 16}, \"synapse\": {\"ns\": 3}, \"neuron\": {\"ns\": 10}, \"spike\": {\"ns\": 30}, "
                 "\"barrier\": {\"ns\": [[1, 100], [2, 200]]}}}",
                 kinds[_i / 2], _i % 2 ? "\"side_by_side\": false, " : "");
  cm_chip *chip = chip_of(text);
  cm_topology t = network_directed(&random, 60, 50);
  for (uint32_t e = 0; e < t.net_count; e++)
    t.net_weight[e] = t.weight_scale * below(&random, 3);
  uint32_t part[60], core[16];
  cm_random_permutation(&random, core, 16);
  for (uint32_t v = 0; v < 60; v++)
    part[v] = v < 10 ? v : below(&random, 10);
  cm_metrics m;
  cm_metrics_detail d;
  json_t *report;
  cm_simulate_options options = cm_simulate_defaults;
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, 10, core, NULL}, &run, &m, &d, &error));
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, 10, core, NULL}, &options, &run, &report, &error));
  ck_assert_double_eq_tol(number(report, "steps", "contention_free_ns_mean"), m.core_ns_max + m.barrier_ns, 1e-6);
  ck_assert_double_ge(number(report, "steps", "step_ns_mean"), m.core_ns_max + m.barrier_ns - 1e-6);
  json_decref(report);
  cm_metrics_detail_free(&d);
  network_free(&t);
  cm_chip_free(chip);
}
END_TEST

/* Events come in the order of their times, equal ones in the order in which they were put in, however dense they are: by
 * looking for the least of all. */
START_TEST(events_come_in_order)
{
  enum { MOST = 400, ROUNDS = 60000 };
  static const uint64_t spans[] = {1, 50, 4000, 1000000, UINT64_C(1) << 40};
  uint64_t ps[MOST], number[MOST], numbered = 0, now = 0;
  uint32_t count = 0;
  cm_random random;
  cm_events events;
  cm_random_init(&random, 3, 13, 0);
  ck_ok(cm_events_new(run.memory, &events, &error));
  uint32_t lanes[] = {cm_events_lane(&events, 40), cm_events_lane(&events, 7000), cm_events_lane(&events, 40)};
  ck_assert_uint_eq(lanes[0], lanes[2]);
  for (uint32_t round = 0; round < ROUNDS || count > 0; round++) {
    uint64_t span = spans[round / (ROUNDS / 10) % 5];
    if (round < ROUNDS && count < MOST && (count == 0 || cm_random_unit(&random) < 0.505)) {
      uint32_t lane = below(&random, 4);
      number[count] = numbered;
      if (lane < 2) {
        ps[count] = now + (lane == 0 ? 40 : 7000);
        ck_ok(cm_events_put_behind(&events, lanes[lane], now, (uint32_t)numbered++, 0, &error));
      } else {
        ps[count] = now + cm_random_below(&random, span);
        ck_ok(cm_events_put(&events, ps[count], CM_EVENT_FREE, (uint32_t)numbered++, 0, &error));
      }
      count++;
      continue;
    }
    uint32_t least = 0;
    for (uint32_t i = 1; i < count; i++)
      if (ps[i] < ps[least] || (ps[i] == ps[least] && number[i] < number[least]))
        least = i;
    ck_assert_uint_eq(events.count, count);
    cm_timed_event event;
    cm_events_take(&events, &event);
    ck_assert_uint_eq(event.ps, ps[least]);
    ck_assert_uint_eq(event.where, number[least]);
    now = ps[least];
    ps[least] = ps[--count];
    number[least] = number[count];
  }
  cm_events_free(&events);
}
END_TEST

/* Neurons 0 and 1 on core 0 fire, each at a rate of its own, and reach neuron 2 on core 1. */
typedef struct paced {
  uint64_t first[3], weight[2];
  uint32_t source[2], pin[2], part[3], core[2], turn[3];
  cm_topology topology;
  cm_pacing pacing;
} paced;

static void paced_init(paced *p, uint64_t rate, double ns)
{
  *p = (paced){.first = {0, 1, 2}, .weight = {rate, 1}, .source = {0, 1}, .pin = {2, 2}, .part = {0, 0, 1}, .core = {0, 1}, .turn = {1, 0, 0}};
  p->topology = (cm_topology){.directed = true, .vertex_count = 3, .net_count = 2, .pin_count = 2, .net_first = p->first, .net_source = p->source,
                              .net_weight = p->weight, .pin = p->pin, .size_total = 3, .weight_scale = 1};
  p->pacing = (cm_pacing){.ns = ns, .turn = p->turn};
}

static double paced_ns(const paced *p, const cm_chip *chip)
{
  json_t *report;
  cm_simulate_options options = cm_simulate_defaults;
  ck_ok(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p->topology), chip, p->part, 2, p->core, &p->pacing}, &options, &run, &report, &error));
  double ns = number(report, "steps", "step_ns_mean");
  json_decref(report);
  return ns;
}

/* Neuron 1 has the first turn of two, neuron 0 the second; a packet is sent 10 + 30 + 5 after its neuron's turn has come, and processed 6 + 2 + 19
 * later, unless the one before it is not done. */
START_TEST(a_paced_step_by_hand)
{
  paced p;
  cm_chip *chip = chip_of(plain);
  paced_init(&p, 1, 1000);
  ck_assert_double_eq_tol(paced_ns(&p, chip), 750 + 45 + 27 + 200, 1e-6);
  paced_init(&p, 2, 1000); /* neuron 0 fires twice: its turns are at 375 and at 875, where it has been updated before */
  ck_assert_double_eq_tol(paced_ns(&p, chip), 875 + 35 + 27 + 200, 1e-6);
  paced_init(&p, 1, 0); /* sent at 45 and 90 */
  ck_assert_double_eq_tol(paced_ns(&p, chip), 90 + 27 + 200, 1e-6);
  cm_chip_free(chip);
}
END_TEST

/* Steps of too many packets for a search have one pacing, which is simulated; of far more none is: what the busiest core or link takes. */
START_TEST(long_steps_say_what_is_simulated_or_a_bound)
{
  const struct {
    double packet_hops, links_ns;
    bool simulated;
  } cases[] = {{3e6, 9000, true}, {1e9, 9000, false}, {1e9, 10, false}};
  paced p;
  cm_chip *chip = chip_of(plain);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const cm_pace_task task = {.busiest_ns = 1000, .links_ns = cases[i].links_ns, .barrier_ns = 200, .packet_hops = cases[i].packet_hops};
    json_t *tried;
    paced_init(&p, 1, 0);
    ck_ok(cm_pace_choose(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &task, &run, &p.pacing, &tried, &error));
    ck_assert_double_eq_tol(p.pacing.ns, 1040, 1e-6);
    ck_assert_double_eq_tol(p.pacing.step_ns, cases[i].simulated ? paced_ns(&p, chip) : fmax(1040, cases[i].links_ns) + 200, 1e-6);
    json_decref(tried);
    cm_free(p.pacing.turn);
  }
  cm_chip_free(chip);
}
END_TEST

/* Ten neurons of part 0 reach part 1 alone, ten part 2 alone: as numbered, either would be sent ten packets in a row. */
START_TEST(turns_alternate_between_those_who_wait)
{
  enum { EACH = 10, NEURONS = 2 * EACH + 2 };
  uint64_t first[NEURONS - 1], weight[2 * EACH];
  uint32_t source[2 * EACH], pin[2 * EACH], part[NEURONS] = {0}, core[] = {0, 1, 2}, turn[NEURONS], at[2 * EACH];
  cm_chip *chip = chip_of(plain);
  cm_traffic traffic;
  for (uint32_t i = 0; i < 2 * EACH; i++) {
    first[i] = i;
    weight[i] = 1;
    source[i] = i;
    pin[i] = 2 * EACH + i / EACH;
  }
  first[2 * EACH] = 2 * EACH;
  part[2 * EACH] = 1;
  part[2 * EACH + 1] = 2;
  cm_topology t = {.directed = true, .vertex_count = NEURONS, .net_count = 2 * EACH, .pin_count = 2 * EACH, .net_first = first, .net_source = source,
                   .net_weight = weight, .pin = pin, .size_total = NEURONS, .weight_scale = 1};
  const cm_mapped mapped = {CM_DEMAND_OF(&t), chip, part, 3, core, NULL};
  ck_ok(cm_traffic_new(&mapped, false, &run, &traffic, &error));
  ck_ok(cm_turns_choose(&traffic, 1, 1 << 20, &run, turn, &error));
  memset(at, 0xff, sizeof at);
  for (uint32_t v = 0; v < 2 * EACH; v++) {
    ck_assert_uint_lt(turn[v], 2 * EACH);
    ck_assert_uint_eq(at[turn[v]], UINT32_MAX);
    at[turn[v]] = v;
  }
  for (int sent = 0, i = 0; i < 2 * EACH; i++) {
    sent += at[i] < EACH ? 1 : -1;
    ck_assert_int_le(abs(sent), 1);
  }
  cm_traffic_free(&traffic);
  cm_chip_free(chip);
}
END_TEST

START_TEST(undirected_networks_are_refused)
{
  pair p;
  pair_init(&p);
  p.topology.directed = false;
  cm_chip *chip = chip_of(plain);
  json_t *report;
  cm_simulate_options options = cm_simulate_defaults;
  ck_fails(cm_packets_simulate(&(cm_mapped){CM_DEMAND_OF(&p.topology), chip, p.part, 2, p.core, NULL}, &options, &run, &report, &error),
           CM_BAD_OPTION);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("simulate");
  TCase *tests = tcase_create("simulate");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, a_step_by_hand);
  tcase_add_test(tests, a_step_of_huge_rates_can_be_stopped);
  tcase_add_test(tests, given_spikes_by_hand);
  tcase_add_loop_test(tests, one_link_is_a_queue_with_fixed_service, 0, CM_SANITIZED ? 1 : 3); /* other loads take the same code */
  tcase_add_figures_test(tests, saturation_is_where_the_link_is_full);
  tcase_add_loop_test(tests, hops_are_those_of_the_metrics, 0, CM_SANITIZED ? 7 : 14); /* each grid once */
  tcase_add_loop_test(tests, a_step_without_contention_is_the_formula, 0, 16);
  tcase_add_test(tests, a_paced_step_by_hand);
  tcase_add_test(tests, long_steps_say_what_is_simulated_or_a_bound);
  tcase_add_test(tests, turns_alternate_between_those_who_wait);
  tcase_add_test(tests, events_come_in_order);
  tcase_add_test(tests, undirected_networks_are_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
