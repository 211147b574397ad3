/* The partition stage on small random networks, limits and chips, against every partition there is: what it makes is
 * legal, what it proves is true, what it says it found exists, and it seldom refuses what could be done. */
#include "../unit/truth.h"

#include "core/partition/legalise.h"
#include "core/solver/stage/attempts.h"
#include "core/solver/stage/stage.h"

static cm_error error;
static char folder[CM_PATH_MAX];

static void set_up(void)
{
  test_folder(folder);
}

static void tear_down(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

static uint64_t *limit_named(cm_limits *limits, const char *name)
{
  uint64_t *const fields[CM_RESOURCES] = {&limits->neurons, &limits->synapses, &limits->inbound_axons,
                                          &limits->outbound_axons, &limits->target_cores, &limits->source_cores};
  for (cm_resource r = 0; name != NULL && r < CM_RESOURCES; r++)
    if (strcmp(cm_resource_field(r), name) == 0)
      return fields[r];
  return NULL;
}

static uint64_t figure(const char *name)
{
  for (size_t i = 0; i < error.figure_count; i++)
    if (strcmp(error.figures[i].name, name) == 0)
      return error.figures[i].value;
  return 0;
}

/* Whether a legal partition has at most so many parts. */
static bool fits(const cm_topology *t, const cm_limits *limits, uint32_t cores)
{
  truth best = least_parts(t, limits);
  return t->vertex_count == 0 || (best.parts != 0 && best.parts <= cores);
}

/* `mapper`: NULL where no places are asked for. */
static cm_status run_with(const cm_topology *t, const cm_chip *chip, const cm_occupancy *occupancy, const char *preset,
                          const char *mapper, cm_candidate *stage)
{
  cm_run run;
  cm_map_options *options;
  json_t *json = json_pack("{s:s, s:s*}", "preset", preset, "mapper", mapper);
  ck_ok(cm_map_options_parse(json, &options, &error));
  json_decref(json);
  cm_run_init(&run);
  cm_map_input input = {.demand = CM_DEMAND_OF(t),
                        .chip = chip,
                        .occupancy = occupancy,
                        .options = options,
                        .scratch_folder = folder,
                        .places = mapper != NULL};
  cm_status status = cm_make_parts(&input, &run, stage, &error);
  cm_map_options_free(options);
  return status;
}

static cm_status run_stage(const cm_topology *t, const cm_chip *chip, const cm_occupancy *occupancy, const char *preset,
                           cm_candidate *stage)
{
  return run_with(t, chip, occupancy, preset, NULL, stage);
}

static void check_legal(const cm_topology *t, const cm_limits *limits, uint32_t cores, const cm_candidate *stage)
{
  truth found = {0};
  memset(found.least_reach, 0xff, sizeof found.least_reach);
  judge(t, limits, stage->partition->part, stage->partition->part_count, &found);
  ck_assert_uint_eq(found.parts, stage->partition->part_count);
  ck_assert_uint_le(found.parts, cores);
  ck_assert_uint_ge(found.parts, stage->bound.parts);
}

/* Everything that a refusal says must be so. */
static void check_refusal(const cm_topology *t, const cm_limits *limits, uint32_t cores, cm_status status)
{
  cm_limits other = *limits;
  uint64_t *limit = limit_named(&other, error.limit_name);
  if (limit != NULL && figure("limit") != 0)
    ck_assert_uint_eq(*limit, figure("limit"));
  if (status == CM_NEURON_TOO_LARGE)
    ck_assert(!fits(t, limits, SMALL));
  else
    ck_assert(status == CM_NO_ROOM || status == CM_LIMIT_BROKEN);
  if (status == CM_NO_ROOM) {
    ck_assert_str_eq(error.figures[0].name, "needed");
    ck_assert_uint_gt(figure("needed"), cores);
    ck_assert_uint_eq(figure("free"), cores);
  }
  if (figure("cores_proved") > 0)
    ck_assert(!fits(t, limits, (uint32_t)figure("cores_proved") - 1));
  if (figure("cores_found") > 0)
    ck_assert(fits(t, limits, (uint32_t)figure("cores_found")));
  if (figure("limit_proved") > 0) {
    ck_assert_uint_gt(figure("limit_proved"), *limit);
    *limit = figure("limit_proved") - 1;
    ck_assert(!fits(t, &other, cores));
  }
  if (figure("limit_found") > 0 && strstr(error.detail, "on the free cores") != NULL) {
    ck_assert_uint_gt(figure("limit_found"), *limit);
    *limit = figure("limit_found");
    ck_assert(fits(t, &other, cores));
  }
}

START_TEST(what_is_said_is_so)
{
  static const char *const presets[] = {"reference", "fast", "balanced", "best"};
  cm_random random;
  uint32_t made[4] = {0}, impossible[4] = {0}, missed[4] = {0}, found = 0, proved = 0, too_large = 0;
  uint32_t by[CM_RESOURCES] = {0};
  for (uint64_t round = 0; round < test_rounds(1600); round++) {
    cm_random_init(&random, round, 17, 0);
    uint32_t n = 1 + below(&random, SMALL), preset = round % 4;
    cm_topology t =
        round % 5 != 0 ? network_directed(&random, n, 1 + below(&random, n + 3)) : network_undirected(&random, n, 40);
    cm_chip *chip;
    cm_occupancy *occupancy;
    cm_candidate stage;
    ck_ok(cm_chip_mesh(1 + below(&random, 5), 1, &chip, &error));
    do
      chip->limits = random_limits(&random, &t);
    while (chip->limits.neurons + chip->limits.synapses + chip->limits.inbound_axons + chip->limits.outbound_axons +
             chip->limits.target_cores ==
           0);
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    uint32_t cores = cm_occupancy_free_count(occupancy);
    bool possible = fits(&t, &chip->limits, cores);
    cm_status status = run_stage(&t, chip, occupancy, presets[preset], &stage);
    if (status == CM_OK) {
      check_legal(&t, &chip->limits, cores, &stage);
      cm_candidate_free(&stage);
      made[preset]++;
    } else {
      check_refusal(&t, &chip->limits, cores, status);
      found += figure("limit_found") > 0 || figure("cores_found") > 0;
      proved += figure("limit_proved") > 0;
      too_large += status == CM_NEURON_TOO_LARGE;
      impossible[preset] += !possible;
      missed[preset] += possible;
      for (cm_resource r = 0; r < CM_RESOURCES; r++)
        by[r] += error.limit_name != NULL && strcmp(error.limit_name, cm_resource_field(r)) == 0;
    }
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
    network_free(&t);
  }
  /* Wide enough to meet every outcome; what can be done is done nearly always. */
  for (int p = 0; p < 4; p++) {
    ck_assert_uint_gt(made[p], test_rounds(150));
    ck_assert_uint_gt(impossible[p], test_rounds(100));
    ck_assert_msg(missed[p] <= 6, "%s misses %u of %u", presets[p], missed[p], made[p] + missed[p]);
  }
  ck_assert_uint_gt(found, test_rounds(1));
  ck_assert_uint_gt(proved, test_rounds(300));
  ck_assert_uint_gt(too_large, test_rounds(100));
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    ck_assert_msg(by[r] > test_rounds(2), "%s is named %u times", cm_resource_name(r), by[r]);
}
END_TEST

/* ---- single moves ---- */

/* A ring where each neuron reaches the next `near` ones, and a few far ones are reached by some. */
static cm_topology ring(uint32_t n, uint32_t near, uint32_t far)
{
  cm_topology t = network_of_rows(n, (size_t)n * (near + 1));
  cm_random random;
  cm_random_init(&random, 3, 3, 3);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  uint8_t *hit = network_array(n, 1);
  for (uint32_t v = 0; v < n; v++) {
    memset(hit, 0, n);
    for (uint32_t k = 1; k <= near; k++)
      hit[(v + k) % n] = 1;
    if (v % (n / far) == 0)
      hit[below(&random, n)] = 1;
    for (uint32_t u = 0; u < n; u++)
      if (hit[u])
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  cm_free(hit);
  return t;
}

/* Limits that no method keeps by itself, on a network that is not small. */
/* Neurons of very different sizes on a grid without limits, where every core may hold 3 % more than its share. */
START_TEST(what_fast_maps_is_not_refused_by_others)
{
  static const char *const presets[] = {"fast", "balanced", "best"};
  cm_random random;
  uint32_t made[3] = {0}, mesh_refuses = 0;
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 19, 0);
    cm_topology t = network_undirected(&random, 30 + below(&random, 30), 20);
    cm_chip *chip;
    cm_occupancy *occupancy;
    ck_ok(cm_chip_mesh(3, 2, &chip, &error));
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    t.size = network_array(t.vertex_count, sizeof *t.size);
    t.size_total = 0;
    for (uint32_t v = 0; v < t.vertex_count; v++)
      t.size_total += t.size[v] = 1 + (below(&random, 3) == 0 ? below(&random, 400) : below(&random, 30));
    bool fast = false;
    for (uint32_t p = 0; p < 3; p++) {
      cm_candidate stage;
      cm_status status = run_with(&t, chip, occupancy, presets[p], "auto", &stage);
      fast = fast || status == CM_OK;
      ck_assert_msg(status == CM_OK || !fast, "round %d: %s refuses: %s", (int)round, presets[p], error.detail);
      if (status != CM_OK)
        continue;
      made[p]++;
      ck_assert_uint_eq(stage.partition->part_count, 6);
      cm_candidate_free(&stage);
      if (p == 1 && run_with(&t, chip, occupancy, presets[p], "integrated", &stage) == CM_OK)
        cm_candidate_free(&stage);
      else
        mesh_refuses += p == 1;
    }
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
    network_free(&t);
  }
  ck_assert_uint_gt(made[0], test_rounds(10));
  ck_assert_uint_gt(mesh_refuses, test_rounds(3));
}
END_TEST

START_TEST(outbound_sides_are_kept_by_single_moves)
{
  static const char *const presets[] = {"reference", "balanced"};
  static const cm_limits limits[] = {{.neurons = 64, .target_cores = 2},
                                     {.neurons = 64, .outbound_axons = 9},
                                     {.neurons = 64, .inbound_axons = 74, .outbound_axons = 9, .target_cores = 3}};
  cm_chip *chip;
  cm_occupancy *occupancy;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  uint32_t made = 0, moved = 0;
  const size_t tries = CM_SANITIZED ? 3 : 6;
  for (size_t i = 0; i < tries; i++) {
    cm_topology t = ring(CM_SANITIZED ? 500 : 800, 8, 40);
    cm_candidate stage;
    chip->limits = limits[i % 6 / 2];
    if (run_stage(&t, chip, occupancy, presets[i % 2], &stage) != CM_OK) {
      network_free(&t);
      continue;
    }
    made++;
    ck_assert_uint_le(stage.partition->part_count, 64);
    uint64_t use[64 * CM_RESOURCES];
    cm_run run;
    cm_run_init(&run);
    ck_ok(cm_count_use(CM_DEMAND_OF(&t), stage.partition->part, stage.partition->part_count, &run, use, &error));
    ck_assert_uint_eq(cm_find_violation(&chip->limits, use, stage.partition->part_count).broken_parts, 0);
    moved += stage.attempts[stage.attempt_count - 1].moved;
    cm_candidate_free(&stage);
    network_free(&t);
  }
  ck_assert_uint_ge(made * 4, tries * (CM_SANITIZED ? 1 : 3));
  ck_assert_uint_ge(moved, CM_SANITIZED ? 0 : 1);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

static void bad_start(const cm_topology *t, uint32_t parts, uint32_t *part)
{
  for (uint32_t v = 0; v < t->vertex_count; v++)
    part[v] = v % 3 == 0 ? 0 : v * parts / t->vertex_count;
}

/* ---- objective edge, where its methods do not keep a limit by themselves ---- */

static void expect_legal(const cm_topology *t, const cm_limits *limits, const cm_candidate *stage)
{
  uint64_t use[400 * CM_RESOURCES];
  cm_run run;
  cm_run_init(&run);
  ck_assert_uint_le(stage->partition->part_count, 400);
  ck_ok(cm_count_use(CM_DEMAND_OF(t), stage->partition->part, stage->partition->part_count, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(limits, use, stage->partition->part_count).broken_parts, 0);
}

/* Far too many inbound axons: as few parts as the method for axons makes, with a smaller cut; capacities small enough
 * would make twice as many parts. */
START_TEST(axons_that_do_not_fit_are_left_to_the_method_for_axons)
{
  static const char *const presets[] = {"fast", "balanced"};
  cm_random random;
  cm_random_init(&random, 5, 20, 0);
  cm_topology t = network_undirected(&random, 300, 8);
  cm_chip *chip;
  cm_occupancy *occupancy;
  ck_ok(cm_chip_mesh(20, 20, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  chip->limits = (cm_limits){.neurons = 60, .inbound_axons = 45};
  int smaller = 0; /* limits may leave no move */
  for (int p = 0; p < (CM_SANITIZED ? 1 : 2); p++) {
    cm_candidate edge, axon;
    cm_map_options *options;
    cm_run run;
    cm_run_init(&run);
    ck_ok(run_stage(&t, chip, occupancy, presets[p], &edge));
    json_t *json = json_pack("{s:s, s:s}", "preset", presets[p], "objective", "axon");
    ck_ok(cm_map_options_parse(json, &options, &error));
    json_decref(json);
    cm_map_input input = {
      .demand = CM_DEMAND_OF(&t), .chip = chip, .occupancy = occupancy, .options = options, .scratch_folder = folder};
    ck_ok(cm_make_parts(&input, &run, &axon, &error));
    cm_map_options_free(options);
    ck_assert_int_eq(edge.objective, CM_OBJECTIVE_EDGE);
    ck_assert(edge.attempts[edge.attempt_count - 1].by_axons);
    expect_legal(&t, &chip->limits, &edge);
    ck_assert_uint_eq(edge.partition->part_count, axon.partition->part_count);
    ck_assert_double_le(edge.quality.edge_cut, axon.quality.edge_cut);
    smaller += edge.quality.edge_cut < axon.quality.edge_cut;
    cm_candidate_free(&edge);
    cm_candidate_free(&axon);
  }
  ck_assert_int_ge(smaller, CM_SANITIZED ? 0 : 1);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  network_free(&t);
}
END_TEST

/* What the integrated mapper makes breaks a limit by little: single moves mend it, and parts keep their cores. */
START_TEST(the_mesh_mapper_is_mended_where_it_stands)
{
  cm_random random;
  cm_random_init(&random, 6, 20, 0);
  cm_topology t = network_undirected(&random, 300, 4);
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_candidate free_one, tight;
  uint64_t use[9 * CM_RESOURCES], most = 0;
  cm_run run;
  cm_run_init(&run);
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  chip->limits.neurons = 40;
  ck_ok(run_with(&t, chip, occupancy, "balanced", "integrated", &free_one));
  uint32_t parts = free_one.partition->part_count;
  ck_assert_uint_le(parts, 9);
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), free_one.partition->part, parts, &run, use, &error));
  for (uint32_t p = 0; p < parts; p++)
    most = use[p * CM_RESOURCES + CM_INBOUND_AXONS] > most ? use[p * CM_RESOURCES + CM_INBOUND_AXONS] : most;
  chip->limits.inbound_axons = most - 1;
  ck_ok(run_with(&t, chip, occupancy, "balanced", "integrated", &tight));
  ck_assert_uint_eq(tight.attempt_count, 1);
  ck_assert(tight.attempts[0].moved);
  ck_assert_uint_eq(tight.partition->part_count, parts);
  ck_assert_ptr_nonnull(tight.places.core);
  ck_assert_int_eq(memcmp(tight.places.core, free_one.places.core, parts * sizeof(uint32_t)), 0);
  expect_legal(&t, &chip->limits, &tight);
  cm_candidate_free(&free_one);
  cm_candidate_free(&tight);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  network_free(&t);
}
END_TEST

/* ---- single moves, asked for ---- */

START_TEST(moves_keep_the_number_of_parts_when_asked)
{
  cm_topology t = ring(300, 4, 10);
  uint32_t *part = network_array(300, sizeof *part), *again = network_array(300, sizeof *part), parts = 10,
           parts_again = 10;
  cm_legalise_options options = {.limits = {.neurons = 31}, .parts_max = 10, .exact = true, .seed = 4};
  cm_run run;
  bool legal = false;
  cm_run_init(&run);
  bad_start(&t, 10, part);
  bad_start(&t, 10, again);
  ck_ok(cm_legalise(CM_DEMAND_OF(&t), &options, &run, part, &parts, &legal, &error));
  ck_assert(legal);
  ck_assert_uint_eq(parts, 10);
  uint32_t count[10] = {0};
  for (uint32_t v = 0; v < 300; v++)
    count[part[v]]++;
  for (int p = 0; p < 10; p++)
    ck_assert(count[p] > 0 && count[p] <= 31);
  ck_ok(cm_legalise(CM_DEMAND_OF(&t), &options, &run, again, &parts_again, &legal, &error));
  ck_assert_int_eq(memcmp(part, again, 300 * sizeof *part), 0);
  /* What cannot be done is said, and nothing is made worse. */
  options.limits.neurons = 29;
  ck_ok(cm_legalise(CM_DEMAND_OF(&t), &options, &run, part, &parts, &legal, &error));
  ck_assert(!legal);
  memset(count, 0, sizeof count);
  uint32_t excess = 0;
  for (uint32_t v = 0; v < 300; v++)
    count[part[v]]++;
  for (int p = 0; p < 10; p++)
    excess += count[p] > 29 ? count[p] - 29 : 0;
  ck_assert_uint_ge(excess, 10);
  ck_assert_uint_le(excess, 20);
  CM_FREE(part, again);
  network_free(&t);
}
END_TEST

/* Neurons that hear others at random, of whom no few parts can be made. */
static cm_topology tangle(uint32_t n, uint32_t fan_out)
{
  cm_topology t = network_of_rows(n, (size_t)n * n);
  cm_random random;
  cm_random_init(&random, 5, 5, 5);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t u = 0; u < n; u++)
      if (below(&random, n) < fan_out)
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  return t;
}

/* Far too many parts are the answer, legal or beyond another limit too: made once, and neither moved together nor made anew by other
 * means. */
START_TEST(far_too_few_cores_are_seen_at_once)
{
  static const char *const presets[] = {"fast", "balanced", "best"};
  cm_topology t = tangle(1500, 100);
  json_t *json = json_pack("{s:s, s:s}", "preset", presets[_i], "objective", "axon");
  cm_map_options *options;
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_input input = {.demand = CM_DEMAND_OF(&t), .options = options, .scratch_folder = folder};
  for (uint64_t outbound = 0; outbound <= 200; outbound += 200) {
    cm_terms terms = {.limits = {.neurons = 1000, .inbound_axons = 400, .outbound_axons = outbound}, .cores = 8};
    cm_run run;
    cm_attempts attempts;
    cm_run_init(&run);
    ck_ok(cm_attempts_begin(&input, CM_OBJECTIVE_AXON, cm_engine_find((cm_preset)_i + CM_PRESET_FAST, CM_OBJECTIVE_AXON), &terms,
                            &run, &attempts, &error));
    ck_fails(cm_attempts_run(&attempts, &error), CM_NO_ROOM);
    ck_assert_uint_eq(attempts.made.attempt_count, 1);
    ck_assert_uint_gt(attempts.made.attempts[0].parts, 80);
    ck_assert_uint_eq(attempts.roomy_parts, outbound == 0 ? attempts.made.attempts[0].parts : 0);
    for (size_t i = 0; i < run.phase_count; i++)
      ck_assert(strcmp(run.phases[i].name, "legalise") != 0 && strcmp(run.phases[i].name, "coarsen") != 0);
    cm_attempts_end(&attempts);
  }
  cm_map_options_free(options);
  json_decref(json);
  network_free(&t);
}
END_TEST

/* A torus of side * side neurons; each reaches two thirds of a square of 81 beside it. */
static cm_topology sheet(uint32_t side)
{
  enum { WIDE = 9, MOST = WIDE * WIDE };
  uint32_t n = side * side;
  cm_topology t = network_of_rows(n, (size_t)n * MOST);
  cm_random random;
  cm_random_init(&random, 5, 5, 6);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t i = 0; i < MOST; i++)
      if (below(&random, 3) < 2)
        t.pin[t.pin_count++] = (v / side + i / WIDE) % side * side + (v % side + i % WIDE) % side;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  network_ascend(&t);
  return t;
}

/* No search knows the limit on outbound axons. Parts that another limit keeps small are made smaller at once, not when a capacity far beyond them has come down to them. */
START_TEST(a_smaller_capacity_begins_below_what_parts_hold)
{
  enum { SIDE = CM_SANITIZED ? 32 : 48, CORE = 256, HELD = 64 }; /* a part of 64 neurons has some 256 sources */
  cm_topology t = sheet(SIDE);
  cm_map_options *options;
  json_t *json = json_pack("{s:s, s:s}", "preset", "fast", "objective", "axon");
  cm_terms terms = {.limits = {.neurons = CORE, .inbound_axons = CORE, .outbound_axons = 150}, .cores = SIDE * SIDE};
  cm_run run;
  cm_attempts attempts;
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_input input = {.demand = CM_DEMAND_OF(&t), .options = options, .scratch_folder = folder};
  cm_run_init(&run);
  ck_ok(cm_attempts_begin(&input, CM_OBJECTIVE_AXON, cm_engine_find(CM_PRESET_FAST, CM_OBJECTIVE_AXON), &terms, &run, &attempts,
                          &error));
  ck_ok(cm_attempts_run(&attempts, &error));
  ck_assert_uint_gt(attempts.made.attempt_count, 1);
  ck_assert_uint_le(attempts.made.attempt_count, CM_SANITIZED ? 6 : 5); /* from 44 or 37 to 20, by what is too much */
  ck_assert_uint_lt(attempts.made.attempts[1].capacity, HELD);
  cm_attempts_end(&attempts);
  cm_map_options_free(options);
  json_decref(json);
  network_free(&t);
}
END_TEST

/* The attempts of a preset for axons under some terms. */
static cm_status attempt_axons(const cm_topology *t, const char *name, const cm_terms *terms, cm_run *run, cm_attempts *attempts)
{
  cm_map_options *options;
  cm_preset preset;
  json_t *json = json_pack("{s:s, s:s}", "preset", name, "objective", "axon");
  ck_ok(cm_map_options_parse(json, &options, &error));
  json_decref(json);
  preset = (cm_preset)options->preset;
  cm_map_input input = {.demand = CM_DEMAND_OF(t), .options = options, .scratch_folder = folder};
  cm_run_init(run);
  ck_ok(cm_attempts_begin(&input, CM_OBJECTIVE_AXON, cm_engine_find(preset, CM_OBJECTIVE_AXON), terms, run, attempts, &error));
  cm_status status = cm_attempts_run(attempts, &error);
  cm_map_options_free(options);
  return status;
}

/* A network that would take several times the cores is refused before parts are refined, with about the number that it takes; one that
 * takes all cores is not. */
START_TEST(several_times_too_few_cores_are_seen_before_refinement)
{
  static const char *const presets[] = {"fast", "balanced"};
  cm_topology t = sheet(48);
  cm_terms terms = {.limits = {.neurons = 1000, .inbound_axons = 128}, .cores = t.vertex_count};
  cm_run run;
  cm_attempts attempts;
  ck_ok(attempt_axons(&t, presets[_i], &terms, &run, &attempts));
  uint32_t parts = attempts.made.partition->part_count;
  cm_attempts_end(&attempts);
  terms.cores = parts;
  ck_ok(attempt_axons(&t, presets[_i], &terms, &run, &attempts));
  ck_assert_uint_eq(attempts.made.partition->part_count, parts);
  cm_attempts_end(&attempts);
  terms.cores = parts / 4;
  ck_fails(attempt_axons(&t, presets[_i], &terms, &run, &attempts), CM_NO_ROOM);
  ck_assert_uint_eq(attempts.made.attempt_count, 0);
  ck_assert_uint_eq(attempts.roomy_parts, 0);
  ck_assert_uint_eq(figure("free"), terms.cores);
  ck_assert_uint_eq(figure("needed"), attempts.first_parts);
  ck_assert_uint_ge(attempts.first_parts * 5, parts * 4);
  ck_assert_uint_le(attempts.first_parts * 2, parts * 3);
  ck_assert_ptr_nonnull(strstr(error.detail, "inbound axons"));
  cm_attempts_end(&attempts);
  network_free(&t);
}
END_TEST

/* However far more parts there are than cores, and whatever there is to see in vain. */
START_TEST(bringing_many_parts_together_is_bounded_work)
{
  enum { N = 6000, PARTS = 600 };
  cm_topology t = ring(N, 40, 100);
  uint32_t *part = network_array(N, sizeof *part);
  for (uint32_t cores = 50; cores < PARTS; cores += 250) {
    uint32_t parts = PARTS;
    double looks = 0;
    cm_legalise_options options = {
      .limits = {.neurons = N, .inbound_axons = 60}, .parts_max = cores, .seed = 1, .looks = &looks};
    cm_run run;
    bool legal = true;
    cm_run_init(&run);
    for (uint32_t v = 0; v < N; v++)
      part[v] = v / (N / PARTS);
    ck_ok(cm_legalise(CM_DEMAND_OF(&t), &options, &run, part, &parts, &legal, &error));
    ck_assert(!legal);
    ck_assert_uint_le(parts, PARTS);
    ck_assert_double_gt(looks, 0);
    ck_assert_double_lt(looks, 32 * (double)t.pin_count + 4e5);
  }
  cm_free(part);
  network_free(&t);
}
END_TEST

START_TEST(failures_while_moving_leave_nothing)
{
  cm_topology t = ring(60, 4, 5);
  uint32_t part[60], kept[60], parts = 6, fired = 0;
  cm_legalise_options options = {
      .limits = {.neurons = 12, .inbound_axons = 30, .target_cores = 4}, .parts_max = 6, .seed = 1};
  cm_memory memory;
  cm_run run;
  cm_run_init(&run);
  cm_memory_init(&memory, 0);
  run.memory = &memory;
  bad_start(&t, 6, kept);
  for (uint64_t n = 1;; n++) {
    bool legal = false;
    memcpy(part, kept, sizeof part);
    cm_memory_fail_at(n);
    cm_status status = cm_legalise(CM_DEMAND_OF(&t), &options, &run, part, &parts, &legal, &error);
    bool done = !cm_memory_fault_fired();
    cm_memory_fail_at(0);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (done) {
      ck_ok(status);
      ck_assert(legal);
      break;
    }
    ck_assert_int_eq(status, CM_NO_MEMORY);
    ck_assert_int_eq(memcmp(part, kept, sizeof part), 0);
    fired++;
  }
  ck_assert_uint_gt(fired, 15);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("refusals");
  TCase *tests = tcase_create("refusals");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, what_is_said_is_so);
  tcase_add_test(tests, what_fast_maps_is_not_refused_by_others);
  tcase_add_test(tests, outbound_sides_are_kept_by_single_moves);
  tcase_add_test(tests, axons_that_do_not_fit_are_left_to_the_method_for_axons);
  tcase_add_test(tests, the_mesh_mapper_is_mended_where_it_stands);
  tcase_add_test(tests, moves_keep_the_number_of_parts_when_asked);
  tcase_add_loop_test(tests, far_too_few_cores_are_seen_at_once, 0, 3);
  tcase_add_test(tests, a_smaller_capacity_begins_below_what_parts_hold);
  tcase_add_loop_test(tests, several_times_too_few_cores_are_seen_before_refinement, 0, 2);
  tcase_add_test(tests, bringing_many_parts_together_is_bounded_work);
  tcase_add_test(tests, failures_while_moving_leave_nothing);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
