/* Costs of a time step: reading them, loads by hand, the search's sums against recounting, limits, bounds by brute
 * force. */
#include "tests/unit/networks.h"

#include <math.h>

#include "base/order.h"
#include "core/chip/chip.h"
#include "core/limits/limits.h"
#include "core/network/dynamics.h"
#include "core/network/measured.h"
#include "core/partition/step/loads.h"
#include "core/partition/step/step.h"
#include "core/partition/step/step_anneal.h"
#include "core/partition/step/step_bound.h"
#include "core/partition/step/step_state.h"
#include "core/partition/step/step_window.h"
#include "core/verify/certificate.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

static const cm_costs prices = {.charge = {[CM_CHARGE_PACKET_SENT] = {5.1, 111},
                                           [CM_CHARGE_PACKET_RECEIVED] = {16, 0},
                                           [CM_CHARGE_SYNAPSE] = {3.8, 35.5},
                                           [CM_CHARGE_NEURON] = {9.7, 72.8},
                                           [CM_CHARGE_SPIKE] = {30, 69.3}},
                                .side_by_side = true,
                                .barrier = {.tile_x = 1, .tile_y = 1}};

/* Every neuron one net at most, so that nets are axons. */
static cm_topology random_network(cm_random *random, uint32_t n)
{
  cm_topology t = {.directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1};
  t.net_first = network_array((size_t)n + 1, sizeof *t.net_first);
  t.net_source = network_array(n, sizeof *t.net_source);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  t.pin = network_array((size_t)n * n, sizeof *t.pin);
  for (uint32_t v = 0; v < n; v++) {
    uint64_t begin = t.pin_count;
    for (uint32_t u = 0; u < n; u++)
      if (below(random, 100) < 20)
        t.pin[t.pin_count++] = u;
    if (t.pin_count == begin)
      continue;
    t.net_source[t.net_count] = v;
    t.net_weight[t.net_count++] = 1 + below(random, 5);
    t.net_first[t.net_count] = t.pin_count;
  }
  return t;
}

START_TEST(costs_are_read_and_printed)
{
  static const char text[] =
    "{\"name\": \"c\", \"cores\": [4, 4], \"costs\": {\"packet_sent\": {\"ns\": 5.1, \"pj\": 111}, \"synapse\": {\"ns\": 3.8}, "
    "\"side_by_side\": false, \"barrier\": {\"tile\": [2, 2], \"ns\": [[1, 600], [3, 700.5]]}, "
    "\"packets_per_ns\": {\"port\": 0.5}}}";
  cm_chip *chip, *again;
  char *printed;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_assert_double_eq(chip->costs.charge[CM_CHARGE_PACKET_SENT].pj, 111);
  ck_assert_double_eq(chip->costs.charge[CM_CHARGE_NEURON].ns, 0);
  ck_assert(!chip->costs.side_by_side);
  ck_assert_double_eq(cm_barrier_ns(&chip->costs.barrier, 2), 600);
  ck_assert_double_eq(cm_barrier_ns(&chip->costs.barrier, 9), 700.5);
  ck_ok(cm_chip_print(chip, &printed, &error));
  ck_ok(cm_chip_parse(printed, strlen(printed), &again, &error));
  ck_assert_mem_eq(&chip->costs.charge, &again->costs.charge, sizeof chip->costs.charge);
  ck_assert_double_eq(again->costs.port_packets_per_ns, 0.5);
  ck_assert_uint_eq(again->costs.barrier.points, 2);
  free(printed);
  cm_chip_free(chip);
  cm_chip_free(again);
}
END_TEST

START_TEST(bad_costs_are_refused_with_their_place)
{
  static const struct {
    const char *costs, *where;
  } bad[] = {
    {"{\"synapse\": {\"ns\": -1}}", "/costs/synapse/ns"},
    {"{\"synapse\": {\"ps\": 1}}", "/costs/synapse/ps"},
    {"{\"packet\": {\"ns\": 1}}", "/costs/packet"},
    {"{\"side_by_side\": 1}", "/costs/side_by_side"},
    {"{\"barrier\": {\"tile\": [0, 2], \"ns\": [[1, 1]]}}", "/costs/barrier/tile"},
    {"{\"barrier\": {\"ns\": [[2, 1]]}}", "/costs/barrier/ns/0"},
    {"{\"barrier\": {\"ns\": [[1, 1], [1, 2]]}}", "/costs/barrier/ns/1"},
    {"{\"barrier\": {}}", "/costs/barrier/ns"},
    {"{\"packets_per_ns\": {\"port\": \"fast\"}}", "/costs/packets_per_ns/port"},
    {"{\"packets_per_ns\": {\"link\": 1e-300}}", "/costs/packets_per_ns/link"},
    {"7", "/costs"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[256];
    cm_chip *chip;
    int size = snprintf(text, sizeof text, "{\"name\": \"c\", \"cores\": [4, 4], \"costs\": %s}", bad[i].costs);
    ck_fails(cm_chip_parse(text, (size_t)size, &chip, &error), CM_BAD_CHIP);
    ck_assert_str_eq(error.where, bad[i].where);
  }
}
END_TEST

/* Neuron 0 (rate 2) reaches 1 and 2, neuron 1 (rate 3) reaches itself; 0 and 1 are part 0, 2 is part 1. */
START_TEST(loads_by_hand)
{
  uint64_t first[] = {0, 2, 3}, weight[] = {2, 3};
  uint32_t source[] = {0, 1}, pin[] = {1, 2, 1}, part[] = {0, 0, 1};
  cm_topology t = {.directed = true, .vertex_count = 3, .net_count = 2, .pin_count = 3, .net_first = first,
                   .net_source = source, .net_weight = weight, .pin = pin, .size_total = 3, .weight_scale = 1};
  cm_core_events events[2];
  ck_ok(cm_step_loads(CM_DEMAND_OF(&t), part, 2, &run, events, &error));
  const double want[2][CM_CHARGES] = {{[CM_CHARGE_PACKET_SENT] = 2 + 2 + 3, [CM_CHARGE_PACKET_RECEIVED] = 2 + 3,
                                       [CM_CHARGE_SYNAPSE] = 5, [CM_CHARGE_NEURON] = 2, [CM_CHARGE_SPIKE] = 5},
                                      {[CM_CHARGE_PACKET_RECEIVED] = 2, [CM_CHARGE_SYNAPSE] = 2, [CM_CHARGE_NEURON] = 1}};
  for (int p = 0; p < 2; p++)
    for (int c = 0; c < CM_CHARGES; c++)
      ck_assert_double_eq(events[p].count[c], want[p][c]);
  ck_assert_double_eq_tol(cm_receive_ns(&prices, &events[0]), 16 * 5 + 3.8 * 5, 1e-9);
  ck_assert_double_eq_tol(cm_send_ns(&prices, &events[0]), 9.7 * 2 + 30 * 5 + 5.1 * 7, 1e-9);
}
END_TEST

/* Beside axons: neuron 2, which has none, was seen to spike, and neuron 1 has a bias. */
START_TEST(loads_that_no_axon_tells)
{
  uint64_t first[] = {0, 1}, weight[] = {2}, spikes[] = {1, 0, 3, 1, 0, 6};
  uint32_t source[] = {0}, pin[] = {1}, part[] = {0, 0, 1};
  float bias[] = {0, 1, 0};
  uint8_t model[] = {CM_NEURON_INPUT, CM_NEURON_LIF, CM_NEURON_LIF};
  cm_dynamics dynamics = {.model = model, .parameter = {[CM_PARAMETER_BIAS] = bias}};
  cm_measured measured = {.neurons = 3, .steps = 12, .windows = 2, .spikes = spikes};
  cm_topology t = {.directed = true, .vertex_count = 3, .net_count = 1, .pin_count = 1, .net_first = first, .net_source = source, .net_weight = weight,
                   .pin = pin, .size_total = 3, .weight_scale = 1, .dynamics = &dynamics, .measured = &measured};
  cm_demand demand = cm_demand_of(&t);
  cm_core_events events[2];
  uint32_t sources;
  ck_ok(cm_demand_limit_neurons(&demand, &(cm_neuron_terms){.bias_sources = true}, NULL, &error));
  ck_ok(cm_step_loads(&demand, part, 2, &run, events, &error));
  ck_assert_double_eq(events[0].count[CM_CHARGE_SPIKE], 2);
  ck_assert_double_eq(events[0].count[CM_CHARGE_SYNAPSE], 2 + 1);
  ck_assert_double_eq(events[1].count[CM_CHARGE_SPIKE], (3.0 + 6) / 12);
  ck_ok(cm_step_bias_sources(&demand, part, 2, NULL, &sources, &error));
  ck_assert_uint_eq(sources, 2);
  demand.window = 2;
  ck_ok(cm_step_loads(&demand, part, 2, &run, events, &error));
  ck_assert_double_eq(events[1].count[CM_CHARGE_SPIKE], 1);
}
END_TEST

/* Neurons are put in one by one or part by part, come and go at random: times and uses are those that recounting gives. */
START_TEST(sums_are_those_of_a_recount)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 7, 0);
  enum { PARTS = 5 };
  cm_topology t = random_network(&random, 4 + below(&random, 40));
  cm_limits none = {0};
  const cm_demand demand = cm_demand_of(&t);
  cm_step_state s;
  ck_ok(cm_step_state_new(&demand, &prices, &none, PARTS, &run, &s, &error));
  for (uint32_t v = 0; v < t.vertex_count; v++)
    if (_i % 2 == 0)
      cm_step_put(&s, v, below(&random, PARTS));
    else /* parts filled one after another */
      cm_step_put_last(&s, v, v * PARTS / t.vertex_count);
  for (int moves = 0; moves < 200; moves++) {
    uint32_t v = below(&random, t.vertex_count);
    cm_step_take(&s, v);
    cm_step_put(&s, v, below(&random, PARTS));
  }
  cm_core_events events[PARTS];
  uint64_t use[PARTS * CM_RESOURCES];
  ck_ok(cm_step_loads(CM_DEMAND_OF(&t), s.part, PARTS, &run, events, &error));
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), s.part, PARTS, &run, use, &error));
  double packets = 0, port = 0;
  for (uint32_t p = 0; p < PARTS; p++) {
    double in = events[p].count[CM_CHARGE_PACKET_RECEIVED], out = events[p].count[CM_CHARGE_PACKET_SENT];
    ck_assert_double_eq_tol(s.inlet[p], in, 1e-6);
    ck_assert_double_eq_tol(s.outlet[p], out, 1e-6);
    port = fmax(port, fmax(in, out));
    ck_assert_double_eq_tol(s.receive[p], cm_receive_ns(&prices, &events[p]), 1e-6);
    ck_assert_double_eq_tol(s.send[p], cm_send_ns(&prices, &events[p]), 1e-6);
    for (cm_resource r = CM_NEURONS; r < CM_TARGET_CORES; r++)
      ck_assert_uint_eq(s.use[p * CM_RESOURCES + r], use[p * CM_RESOURCES + r]);
    packets += events[p].count[CM_CHARGE_PACKET_RECEIVED];
  }
  ck_assert_double_eq_tol(s.packets, packets, 1e-6);
  ck_assert_double_eq_tol(cm_step_busiest_port(&s), port, 1e-6);
  cm_step_state_free(&s);
  network_free(&t);
}
END_TEST

static double busiest_of(const cm_demand *demand, const uint32_t *part, uint32_t parts)
{
  cm_core_events events[8];
  double most = 0;
  ck_ok(cm_step_loads(demand, part, parts, &run, events, &error));
  for (uint32_t p = 0; p < parts; p++)
    most = fmax(most, cm_core_ns(&prices, cm_receive_ns(&prices, &events[p]), cm_send_ns(&prices, &events[p])));
  return most;
}

/* All that happens at cores in a step, by their prices. */
static double energy_of(const cm_topology *t, const uint32_t *part, uint32_t parts)
{
  cm_core_events events[8];
  double pj = 0;
  ck_ok(cm_step_loads(CM_DEMAND_OF(t), part, parts, &run, events, &error));
  for (uint32_t p = 0; p < parts; p++)
    for (int i = 0; i < CM_CHARGES; i++)
      pj += prices.charge[i].pj * events[p].count[i];
  return pj;
}

/* What a job is told while it runs: never more than the objective, and no more than any partition takes. */
static double told;

static void note_bound(void *user, const cm_progress *progress)
{
  cm_run *of = user;
  ck_assert(progress->bound == 0 || progress->bound <= progress->metric * (1 + 1e-9));
  told = fmax(told, progress->bound);
  of->last_report = 0; /* all is told */
}

/* All ways to part few neurons: none is below the bound, and the search finds the best but for little. */
START_TEST(no_partition_is_below_the_bound)
{
  enum { PARTS = 3, N = 8 };
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 8, 0);
  cm_topology t = random_network(&random, N);
  cm_step_bound bound;
  ck_ok(cm_step_bound_compute(CM_DEMAND_OF(&t), &prices, PARTS, 1e9, &run, &bound, &error));
  cm_step_bounds certified;
  ck_ok(cm_step_bounds_compute(CM_DEMAND_OF(&t), &prices, PARTS, NULL, &certified, &error));
  double least = INFINITY, least_pj = INFINITY;
  uint32_t part[N], parts, ways = 1;
  for (int v = 0; v < N; v++)
    ways *= PARTS;
  for (uint32_t way = 0; way < ways; way++) {
    uint32_t rest = way;
    for (int v = 0; v < N; v++, rest /= PARTS)
      part[v] = rest % PARTS;
    least = fmin(least, busiest_of(CM_DEMAND_OF(&t), part, PARTS));
    least_pj = fmin(least_pj, energy_of(&t, part, PARTS));
  }
  ck_assert_double_le(bound.ns, least * (1 + 1e-9));
  ck_assert_double_le(certified.core_ns_max, least * (1 + 1e-9));
  ck_assert_double_eq_tol(certified.core_ns_max, fmax(bound.neuron_ns, fmax(bound.shared_ns, bound.send_ns)), 1e-6);
  ck_assert_double_eq_tol(certified.energy_step_pj, least_pj, 1e-6); /* all in one part */
  cm_step_options options = {.costs = &prices, .parts_max = PARTS, .growths = 8, .visits = 3e6, .seed = 1};
  cm_step_result result;
  run.on_progress = note_bound;
  run.user = &run;
  told = 0;
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &result, &error));
  ck_assert(told > 0 && told <= least * (1 + 1e-9));
  ck_assert_uint_le(parts, PARTS);
  ck_assert_double_eq_tol(result.busiest_ns, busiest_of(CM_DEMAND_OF(&t), part, PARTS), 1e-6);
  ck_assert_double_le(result.busiest_ns, least * 1.05);
  network_free(&t);
}
END_TEST

/* Parts grown along a window are books of the same kind: what every part takes in is what counting says, up to the limit and not
 * beyond, and every neuron is somewhere, those that enter the window late too. */
START_TEST(parts_grown_along_a_window_keep_limits)
{
  enum { N = CM_STEP_WINDOW + 952, CORES = 400 };
  cm_random random;
  cm_random_init(&random, 3, 9, 0);
  cm_topology t = network_of_rows(N, (size_t)N * 8);
  for (uint32_t v = 0; v < N; v++) {
    for (uint32_t u = 0; u < N; u += 1 + N / 4)
      t.pin[t.pin_count++] = (v / 100 * 100 + below(&random, 100) + u) % N;
    t.net_first[v + 1] = t.pin_count;
  }
  for (uint32_t v = 0; v < N; v++) /* ascending, as networks are */
    qsort(t.pin + t.net_first[v], t.net_first[v + 1] - t.net_first[v], sizeof *t.pin, cm_ascending);
  cm_limits limits = {.neurons = 16, .inbound_axons = 48};
  cm_step_options options = {.costs = &prices, .limits = limits, .parts_max = CORES, .growths = 2, .growth_looks = 1, .visits = 1, .seed = 3};
  cm_step_result result;
  uint32_t *part = calloc(N, sizeof *part), *again = calloc(N, sizeof *again), parts, parts_again;
  uint64_t *use = calloc((size_t)CORES * CM_RESOURCES, sizeof *use), largest = 0, neurons = 0;
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &result, &error));
  ck_assert_uint_le(parts, CORES);
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&limits, use, parts).broken_parts, 0);
  for (uint32_t p = 0; p < parts; p++) {
    neurons += use[(size_t)p * CM_RESOURCES + CM_NEURONS];
    uint64_t axons = use[(size_t)p * CM_RESOURCES + CM_INBOUND_AXONS];
    largest = axons > largest ? axons : largest;
  }
  ck_assert_uint_eq(neurons, N);
  ck_assert_uint_gt(largest, 24);
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, again, &parts_again, &result, &error));
  ck_assert_mem_eq(part, again, N * sizeof *part);
  free(part);
  free(again);
  free(use);
  network_free(&t);
}
END_TEST

/* All limits that the search keeps are kept, and a budget is: with a longer one there are not more packets. */
START_TEST(limits_and_budgets_are_kept)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 9, 0);
  cm_topology t = random_network(&random, 60);
  cm_limits limits = {.neurons = 12, .synapses = 200, .inbound_axons = 50, .outbound_axons = 60};
  cm_step_options options = {.costs = &prices, .limits = limits, .parts_max = 20, .growths = 8, .visits = 3e6, .seed = 3};
  cm_step_result tight, loose;
  uint32_t part[60], again[60], parts;
  uint64_t use[20 * CM_RESOURCES];
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &tight, &error));
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&limits, use, parts).broken_parts, 0);
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, again, &parts, &tight, &error));
  ck_assert_mem_eq(part, again, sizeof part);
  options.budget_ns = 2 * tight.busiest_ns;
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &loose, &error));
  ck_assert_double_le(loose.busiest_ns, options.budget_ns * (1 + 1e-6));
  ck_assert_double_le(loose.packets, tight.packets * (1 + 1e-9));
  network_free(&t);
}
END_TEST

/* Four groups that talk among themselves, dealt out to four parts that are full: no neuron can move alone, so only changing
 * places finds the groups. */
START_TEST(full_parts_change_places)
{
  enum { GROUPS = 4, N = GROUPS * GROUPS };
  cm_topology t = {.directed = true, .vertex_count = N, .size_total = N, .weight_scale = 1, .net_count = N, .pin_count = N * GROUPS};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.net_source = network_array(N, sizeof *t.net_source);
  t.net_weight = network_array(N, sizeof *t.net_weight);
  t.pin = network_array(N * GROUPS, sizeof *t.pin);
  uint32_t start[N], part[N], parts;
  for (uint32_t v = 0; v < N; v++) {
    start[v] = v % GROUPS;
    t.net_source[v] = v;
    t.net_weight[v] = 1;
    t.net_first[v + 1] = (v + 1) * GROUPS;
    for (uint32_t k = 0; k < GROUPS; k++)
      t.pin[v * GROUPS + k] = v / GROUPS * GROUPS + k;
  }
  cm_step_options options = {.costs = &prices, .limits = {.neurons = GROUPS}, .parts_max = GROUPS, .visits = 3e6, .seed = 1,
                             .start = start, .budget_ns = INFINITY};
  cm_step_result result;
  ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &result, &error));
  ck_assert_double_eq(result.packets, N);
  for (uint32_t v = 0; v < N; v++)
    ck_assert_uint_eq(part[v], part[v / GROUPS * GROUPS]);
  network_free(&t);
}
END_TEST

/* Two sweeps that each visit a tenth of the neurons move no more than that, and some of them. */
START_TEST(a_share_of_the_neurons_is_visited)
{
  enum { N = 60, PARTS = 20, SWEEPS = 2 };
  const double share = 0.1;
  cm_random random;
  cm_random_init(&random, 5, 9, 0);
  cm_topology t = random_network(&random, N);
  const cm_demand demand = cm_demand_of(&t);
  cm_step_state state;
  ck_ok(cm_step_state_new(&demand, &prices, &(cm_limits){0}, PARTS, &run, &state, &error));
  for (uint32_t v = 0; v < N; v++)
    cm_step_put(&state, v, v % PARTS);
  cm_step_anneal_options options = {.budget_ns = INFINITY, .sweeps = SWEEPS, .share = share, .seed = 1};
  ck_ok(cm_step_anneal(&state, &options, &error));
  uint32_t moved = 0;
  for (uint32_t v = 0; v < N; v++)
    moved += state.part[v] != v % PARTS;
  ck_assert_uint_gt(moved, 0);
  ck_assert_uint_le(moved, SWEEPS * (uint32_t)(share * N));
  cm_step_state_free(&state);
  network_free(&t);
}
END_TEST

/* Two scenarios on few neurons, all ways to part them: the search comes close to the best, for the worst and for the mean, and no
 * partition is below the bounds of either. */
START_TEST(scenarios_are_searched)
{
  enum { PARTS = 3, N = 8, SCENARIOS = 2 };
  cm_random random;
  cm_random_init(&random, (uint64_t)_i + 1, 10, 0);
  cm_topology t = random_network(&random, N);
  cm_demand view[SCENARIOS];
  cm_scenario_name name[SCENARIOS] = {"rest", "act"};
  uint64_t rate[SCENARIOS * N];
  for (uint32_t i = 0; i < SCENARIOS * t.net_count; i++)
    rate[i] = below(&random, 9) + (i % 2 == 0);
  for (uint32_t e = 0; e < t.net_count; e++)
    t.net_weight[e] = (rate[e] + rate[t.net_count + e]) / 2;
  t.scenario_count = SCENARIOS;
  t.scenario_name = name;
  t.scenario_rate = rate;
  double bound[SCENARIOS], least_worst = INFINITY, least_mean = INFINITY;
  uint32_t part[N], parts, ways = 1;
  for (uint32_t k = 0; k < SCENARIOS; k++) {
    cm_step_bound b;
    view[k] = cm_demand_in_scenario(CM_DEMAND_OF(&t), k);
    ck_ok(cm_step_bound_compute(&view[k], &prices, PARTS, 1e9, &run, &b, &error));
    bound[k] = b.ns;
  }
  for (int v = 0; v < N; v++)
    ways *= PARTS;
  for (uint32_t way = 0; way < ways; way++) {
    uint32_t rest = way;
    for (int v = 0; v < N; v++, rest /= PARTS)
      part[v] = rest % PARTS;
    double a = busiest_of(&view[0], part, PARTS), b = busiest_of(&view[1], part, PARTS);
    least_worst = fmin(least_worst, fmax(a, b));
    least_mean = fmin(least_mean, (a + b) / 2);
  }
  ck_assert_double_le(fmax(bound[0], bound[1]), least_worst * (1 + 1e-9));
  ck_assert_double_le((bound[0] + bound[1]) / 2, least_mean * (1 + 1e-9));
  for (int mean = 0; mean < 2; mean++) {
    cm_step_options options = {.costs = &prices, .parts_max = PARTS, .growths = 8, .visits = 3e6, .seed = 1, .mean = mean};
    cm_step_result result;
    ck_ok(cm_partition_for_steps(CM_DEMAND_OF(&t), &options, &run, part, &parts, &result, &error));
    double a = busiest_of(&view[0], part, parts), b = busiest_of(&view[1], part, parts);
    if (mean)
      ck_assert_double_le((a + b) / 2, result.busiest_ns * (1 + 1e-9));
    else
      ck_assert_double_eq_tol(result.busiest_ns, fmax(a, b), 1e-6);
    ck_assert_double_le(mean ? (a + b) / 2 : fmax(a, b), (mean ? least_mean * 1.2 : least_worst * 1.05));
  }
  t.scenario_count = 0;
  t.scenario_name = NULL;
  t.scenario_rate = NULL;
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("step");
  TCase *tests = tcase_create("step");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, costs_are_read_and_printed);
  tcase_add_test(tests, bad_costs_are_refused_with_their_place);
  tcase_add_test(tests, loads_by_hand);
  tcase_add_test(tests, loads_that_no_axon_tells);
  tcase_add_loop_test(tests, sums_are_those_of_a_recount, 0, 20);
  tcase_add_loop_test(tests, no_partition_is_below_the_bound, 0, 8);
  tcase_add_test(tests, parts_grown_along_a_window_keep_limits);
  tcase_add_loop_test(tests, limits_and_budgets_are_kept, 0, 4);
  tcase_add_test(tests, full_parts_change_places);
  tcase_add_test(tests, a_share_of_the_neurons_is_visited);
  tcase_add_loop_test(tests, scenarios_are_searched, 0, 4);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
