/* Presets fast, balanced and best for objective axon on networks of several kinds under limits of several kinds: more
 * effort never costs more connectivity, counted anew, and no limit is broken. */
#include "../unit/networks.h"

#include "core/limits/limits.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/stage/stage.h"

enum { N = 120, HALF = N / 2, KINDS = 6, GROUPS = 2 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* The chance that u of n neurons reaches v, in percent. */
static uint32_t chance(int kind, uint32_t n, uint32_t u, uint32_t v)
{
  uint32_t ahead = (v + n - u) % n;
  switch (kind) {
  case 0: /* a ring of short ways */
    return ahead < 12 ? 50 : 0;
  case 1: /* a ring of long ways */
    return ahead < n / 2 ? 80 : 0;
  case GROUPS: /* and strays */
    return u / 20 == v / 20 ? 60 : 1;
  case 3: /* layers */
    return v / 20 == u / 20 + 1 ? 40 : 0;
  case 4: /* nothing belongs together */
    return 10;
  default: /* few neurons reach many */
    return u % 30 == 0 ? 70 : 1;
  }
}

/* `n` neurons, N at most. */
static cm_topology network(int kind, uint32_t n, cm_random *random)
{
  cm_topology t = {.directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1};
  t.net_first = network_array(n + 1, sizeof *t.net_first);
  t.net_source = network_array(n, sizeof *t.net_source);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  t.pin = network_array((size_t)n * n, sizeof *t.pin);
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++)
      if (below(random, 100) < chance(kind, n, u, v))
        t.pin[t.pin_count++] = v;
    if (t.pin_count == t.net_first[t.net_count])
      continue;
    t.net_source[t.net_count] = u;
    t.net_weight[t.net_count] = 1 + below(random, 20);
    t.net_first[++t.net_count] = t.pin_count;
  }
  return t;
}

static uint64_t connectivity(const cm_topology *t, const uint32_t *part)
{
  uint64_t sum = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint8_t reached[N] = {0};
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t p = part[t->pin[i]];
      sum += p != part[t->net_source[e]] && reached[p]++ == 0 ? t->net_weight[e] : 0;
    }
  }
  return sum;
}

/* What a preset finds for an objective under the limits. The caller frees it. */
static cm_partition *partition_by(const cm_topology *t, const char *preset, cm_objective objective,
                                  const cm_limits *limits, int seed)
{
  json_t *json = json_pack("{s:s, s:i}", "preset", preset, "seed", seed);
  cm_map_options *options;
  cm_partition *made;
  cm_attempt attempt;
  ck_ok(cm_map_options_parse(json, &options, &error));
  json_decref(json);
  cm_map_input input = {.demand = CM_DEMAND_OF(t), .options = options};
  cm_engine_task task = {.input = &input, .limits = *limits, .parts_max = UINT32_MAX};
  ck_ok(cm_engine_find((cm_preset)options->preset, objective)->partition(&task, &run, &attempt, &made, &error));
  cm_map_options_free(options);
  return made;
}

/* Each kind of network for preset best too, which takes thirty times as long as the others, once, and at half
 * the size but where it shows most. */
START_TEST(more_effort_is_never_worse)
{
  static const char *const presets[] = {"fast", "balanced", "best"};
  const bool with_best = _i < KINDS && !CM_SANITIZED;
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 21, 0);
  cm_topology t = network(_i % KINDS, with_best && _i != GROUPS ? HALF : N, &random);
  uint64_t single[N * CM_RESOURCES], use[N * CM_RESOURCES], axons = 0, before = UINT64_MAX;
  uint32_t part[N];
  for (uint32_t v = 0; v < t.vertex_count; v++)
    part[v] = v;
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, t.vertex_count, &run, single, &error));
  for (uint32_t v = 0; v < t.vertex_count; v++)
    axons = single[v * CM_RESOURCES + CM_INBOUND_AXONS] > axons ? single[v * CM_RESOURCES + CM_INBOUND_AXONS] : axons;
  cm_limits limits = {.neurons = 4 + below(&random, 20), .inbound_axons = axons + below(&random, 30)};
  for (int i = 0; i < (with_best ? 3 : 2); i++) {
    cm_partition *made = partition_by(&t, presets[i], CM_OBJECTIVE_AXON, &limits, _i);
    ck_ok(cm_count_use(CM_DEMAND_OF(&t), made->part, made->part_count, &run, use, &error));
    ck_assert_uint_eq(cm_find_violation(&limits, use, made->part_count).broken_parts, 0);
    uint64_t cost = connectivity(&t, made->part);
    ck_assert_uint_le(cost, before);
    before = cost;
    cm_partition_free(made);
  }
  network_free(&t);
}
END_TEST

/* Limits that no search knows, which single moves keep in the end: those cost one partition more than another. */
START_TEST(more_effort_is_never_worse_where_single_moves_end_it)
{
  static const char *const presets[] = {"fast", "balanced"};
  cm_random random;
  cm_chip *chip;
  cm_occupancy *occupancy;
  uint32_t moved = 0;
  ck_ok(cm_chip_mesh(HALF, 1, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  for (int round = 0; round < (CM_SANITIZED ? 20 : 40); round++) {
    cm_random_init(&random, (uint64_t)round, 25, 0);
    cm_topology t = network(4, HALF, &random); /* of the kinds, the one where it shows most */
    double before = INFINITY;
    chip->limits = (cm_limits){.neurons = 12 + below(&random, 12), .outbound_axons = 20 + below(&random, 30)};
    for (int i = 0; i < 2; i++) {
      json_t *json = json_pack("{s:s, s:s, s:i}", "preset", presets[i], "objective", "axon", "seed", round);
      cm_map_options *options;
      cm_candidate made;
      ck_ok(cm_map_options_parse(json, &options, &error));
      json_decref(json);
      cm_map_input input = {.demand = CM_DEMAND_OF(&t), .chip = chip, .occupancy = occupancy, .options = options};
      cm_status status = cm_make_parts(&input, &run, &made, &error);
      cm_map_options_free(options);
      if (status != CM_OK) {
        ck_assert(isinf(before)); /* what less effort maps, more does not refuse */
        continue;
      }
      ck_assert_double_le((double)connectivity(&t, made.partition->part), before);
      before = (double)connectivity(&t, made.partition->part);
      moved += made.attempts[made.attempt_count - 1].moved;
      cm_candidate_free(&made);
    }
    network_free(&t);
  }
  ck_assert_uint_gt(moved, 3);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

/* Where axons reach few, the parts that the same preset makes for objective edge are among what is compared. */
START_TEST(parts_for_the_cut_cost_no_less_connectivity)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 22, 0);
  cm_topology t = {.directed = true, .vertex_count = N, .size_total = N, .weight_scale = 1, .net_count = N};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.net_source = network_array(N, sizeof *t.net_source);
  t.net_weight = network_array(N, sizeof *t.net_weight);
  t.pin = network_array(3 * N, sizeof *t.pin);
  for (uint32_t u = 0; u < N; u++) { /* a torus of 10 by 12, and now and then anyone */
    uint32_t reached[] = {u / 10 * 10 + (u + 1) % 10, (u + 10) % N, below(&random, N)};
    for (uint32_t k = 0; k < (below(&random, 3) == 0 ? 3U : 2U); k++)
      if (k < 2 || (reached[2] != reached[0] && reached[2] != reached[1]))
        t.pin[t.pin_count++] = reached[k];
    t.net_source[u] = u;
    t.net_weight[u] = 1;
    t.net_first[u + 1] = t.pin_count;
  }
  network_ascend(&t);
  cm_limits limits = {.neurons = 10 + below(&random, 20)};
  cm_partition *axons = partition_by(&t, "balanced", CM_OBJECTIVE_AXON, &limits, _i);
  cm_partition *edges = partition_by(&t, "balanced", CM_OBJECTIVE_EDGE, &limits, _i);
  ck_assert_uint_le(connectivity(&t, axons->part), connectivity(&t, edges->part));
  cm_partition_free(axons);
  cm_partition_free(edges);
  network_free(&t);
}
END_TEST

/* A sheet of neurons that each reach half of those within a wide circle. */
enum { ROWS = 50, COLUMNS = 50, SHEET = ROWS * COLUMNS, REACH = 20 };

static cm_topology sheet(cm_random *random)
{
  cm_topology t = {.directed = true, .vertex_count = SHEET, .size_total = SHEET, .weight_scale = 1, .net_count = SHEET};
  t.net_first = network_array(SHEET + 1, sizeof *t.net_first);
  t.net_source = network_array(SHEET, sizeof *t.net_source);
  t.net_weight = network_array(SHEET, sizeof *t.net_weight);
  t.pin = network_array((size_t)SHEET * SHEET / 2, sizeof *t.pin);
  for (int u = 0; u < SHEET; u++) {
    for (int v = 0; v < SHEET; v++) {
      int dx = u % COLUMNS - v % COLUMNS, dy = u / COLUMNS - v / COLUMNS;
      if (u != v && dx * dx + dy * dy <= REACH * REACH && below(random, 10) < 7)
        t.pin[t.pin_count++] = (uint32_t)v;
    }
    t.net_source[u] = (uint32_t)u;
    t.net_weight[u] = 1 + below(random, 20);
    t.net_first[u + 1] = t.pin_count;
  }
  return t;
}

/* Plain growing from neuron 0: of those that are in no part the one of whose inputs most come to the part already. */
static void grow(const cm_topology *t, uint32_t most, uint32_t *part)
{
  static uint32_t met[SHEET], inputs[SHEET];
  static uint8_t *reaches; /* [neurons][neurons] */
  reaches = calloc((size_t)SHEET, SHEET);
  memset(inputs, 0, sizeof inputs);
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      reaches[(size_t)t->pin[i] * SHEET + e] = 1;
      inputs[t->pin[i]]++;
    }
  memset(part, 0xff, SHEET * sizeof *part);
  for (uint32_t p = 0, left = SHEET; left > 0; p++) {
    uint8_t came[SHEET] = {0};
    memset(met, 0, sizeof met);
    for (uint32_t held = 0; held < most && left > 0; held++, left--) {
      uint32_t best = UINT32_MAX;
      for (uint32_t v = 0; v < SHEET; v++)
        if (part[v] == UINT32_MAX && (best == UINT32_MAX || (uint64_t)met[v] * (inputs[best] + 1) > (uint64_t)met[best] * (inputs[v] + 1)))
          best = v;
      part[best] = p;
      for (uint32_t e = 0; e < SHEET; e++)
        if (reaches[(size_t)best * SHEET + e] && !came[e]) {
          came[e] = 1;
          for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
            met[t->pin[i]]++;
        }
    }
  }
  free(reaches);
}

static uint64_t sheet_connectivity(const cm_topology *t, const uint32_t *part)
{
  uint64_t sum = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint8_t reached[SHEET] = {0};
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      sum += part[t->pin[i]] != part[t->net_source[e]] && reached[part[t->pin[i]]]++ == 0 ? t->net_weight[e] : 0;
  }
  return sum;
}

/* Dense networks in full parts: coarse vertices tell little there. From levels alone parts cost a tenth more than from growing. */
START_TEST(dense_networks_cost_hardly_more_than_plain_growing)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 23, 0);
  cm_topology t = sheet(&random);
  cm_limits limits = {.neurons = SHEET / (4 + (uint32_t)_i % 2)};
  static uint32_t grown[SHEET];
  grow(&t, (uint32_t)limits.neurons, grown);
  cm_partition *made = partition_by(&t, "balanced", CM_OBJECTIVE_AXON, &limits, _i);
  ck_assert_double_le((double)sheet_connectivity(&t, made->part), 1.02 * (double)sheet_connectivity(&t, grown));
  cm_partition_free(made);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("efforts");
  TCase *tests = tcase_create("efforts");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_loop_test(tests, more_effort_is_never_worse, 0, CM_SANITIZED ? KINDS : 5 * KINDS);
  tcase_add_test(tests, more_effort_is_never_worse_where_single_moves_end_it);
  tcase_add_loop_test(tests, parts_for_the_cut_cost_no_less_connectivity, 0, (int)test_rounds(24));
  tcase_add_loop_test(tests, dense_networks_cost_hardly_more_than_plain_growing, 0, CM_SANITIZED ? 1 : 4);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
