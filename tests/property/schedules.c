/* Schedules: searches only gain, whatever the number of threads, and nothing is faster than the bound. */
#include "models.h"

#include "brute_force.h"
#include "core/machine/baselines.h"
#include "core/machine/bound_exchange.h"
#include "core/machine/run/run_lanes.h"
#include "core/machine/schedule/windows.h"
#include "core/machine/time_bound.h"

/* ---- the search ---- */

static cm_plan_candidate search(cm_model *model, unsigned threads, uint64_t scores)
{
  cm_settings settings = cm_settings_default(64 << 10);
  cm_plan_options options = options_for(64 << 10, &settings);
  cm_search_options how = {.scores = scores};
  cm_plan_candidate best;
  json_t *report;
  run.threads = threads;
  ck_ok(cm_settings_search(model, &options, &how, &run, &best, &report, &error));
  run.threads = 1;
  ck_assert_int_ge(json_integer_value(json_object_get(report, "scored")), 1);
  ck_assert(best.time_ns > 0);
  json_decref(report);
  return best;
}

/* More candidates are never worse, and threads change nothing. */
START_TEST(the_search_only_gains)
{
  for (int trial = 0; trial < (CM_SANITIZED ? 2 : 4); trial++) {
    graph g = trial % 2 == 0 ? image_model() : token_model();
    graph_finish(&g, &run);
    const uint64_t scores = CM_SANITIZED ? 10 : 30;
    cm_plan_candidate one = search(g.model, 1, 1), some = search(g.model, 1, scores), same = search(g.model, 3, scores);
    ck_assert(some.score <= one.score);
    ck_assert_mem_eq(&some.settings, &same.settings, sizeof same.settings);
    ck_assert(some.time_ns <= same.time_ns && same.time_ns <= some.time_ns);
    cm_model_free(g.model);
  }
}
END_TEST

/* A target that the first candidate reaches ends the search; one that none reaches changes nothing; between them the
 * search ends with a program that is as fast as was asked for. */
START_TEST(a_search_ends_at_its_target)
{
  graph g = image_model();
  graph_finish(&g, &run);
  const cm_settings settings = cm_settings_default(64 << 10);
  const cm_plan_options options = options_for(64 << 10, &settings);
  cm_plan_candidate best[4];
  json_int_t scored[4];
  const double until[4] = {0, 1e15, 1, -1};
  for (int i = 0; i < 4; i++) {
    const cm_search_options how = {.scores = 30, .until_ns = until[i] >= 0 ? until[i] : best[0].time_ns};
    json_t *report;
    ck_ok(cm_settings_search(g.model, &options, &how, &run, &best[i], &report, &error));
    scored[i] = json_integer_value(json_object_get(report, "scored"));
    json_decref(report);
  }
  ck_assert_int_eq(scored[1], 1);
  ck_assert_int_eq(scored[2], scored[0]);
  ck_assert(best[2].time_ns <= best[0].time_ns && best[0].time_ns <= best[2].time_ns);
  ck_assert(best[3].time_ns <= best[0].time_ns);
  ck_assert_int_le(scored[3], scored[0]);
  cm_model_free(g.model);
}
END_TEST

static cm_draft ordered(graph *g, const cm_plan_options *options, unsigned threads, uint64_t scores, json_t **report)
{
  const cm_order_limits limits = {.scores = scores};
  cm_draft draft;
  run.threads = threads;
  ck_ok(cm_draft_make(&(cm_draft_task){g->model, options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
  ck_ok(cm_order_search(&(cm_draft_task){g->model, options, "test", chip->target, &run, NULL}, NULL, &limits, &draft, report, &error));
  run.threads = 1;
  return draft;
}

/* What programs are compared with can be executed, in the time that is told of it, where hops take none. */
START_TEST(every_division_is_a_program)
{
  cm_chip *before = chip;
  ck_ok(cm_chip_open("npu-biglittle", &chip, &error));
  chip->target->grid.router_ns = chip->target->grid.east_west_ns = chip->target->grid.north_south_ns = 0;
  for (int trial = 0; trial < (CM_SANITIZED ? 2 : 6); trial++) {
    graph g = trial % 2 == 0 ? image_model() : branching_model();
    if (trial % 2 == 0)
      graph_finish(&g, &run);
    const cm_settings settings = cm_settings_default(256 << 10);
    cm_plan_options options = options_for(256 << 10, &settings);
    cm_baselines told;
    ck_ok(cm_baselines_make(g.model, &options, &settings, &run, &told, &error));
    for (cm_division d = CM_DIVISION_CAPABILITY + 1; d < CM_DIVISIONS; d++) {
      cm_draft draft;
      cm_program *program;
      cm_simulation result;
      const cm_simulation_options how = {0};
      options.division = d;
      ck_ok(cm_draft_make(&(cm_draft_task){g.model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
      ck_ok(cm_link(&draft.emission, &program, &error));
      cm_draft_free(&draft);
      ck_ok(cm_simulate(program, NULL, &how, &run, NULL, &result, &error));
      ck_assert_msg(fabs(result.time_ns - told.ns[d]) < 1e-6 * told.ns[d], "division %d: %g ns, told %g", (int)d, result.time_ns, told.ns[d]);
      cm_program_free(program);
    }
    cm_model_free(g.model);
  }
  cm_chip_free(chip);
  chip = before;
}
END_TEST

/* Small constants come in few transfers, so that a chain of small operators is faster, and none is missing. */
START_TEST(small_constants_come_together)
{
  graph g = graph_new(&rnd, &memory, 13);
  int64_t c = 16;
  uint32_t x = graph_input(&g, 2, (int64_t[]){4, c});
  for (int k = 0; k < 40; k++)
    x = graph_node(&g, k % 2 == 0 ? "Add" : "Mul", x, graph_constant(&g, 1, &c, -1), GRAPH_END);
  graph_output(&g, x);
  graph_finish(&g, &run);
  cm_settings settings = cm_settings_default(64 << 10);
  cm_plan_options options = options_for(64 << 10, &settings);
  cm_plan_candidate alone, together;
  cm_packs packs;
  ck_ok(cm_packs_make(g.model, chip->target, 1 << 10, &run, &packs, &error));
  options.packs = &packs;
  ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &alone, &error));
  settings.pack = 2;
  ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &together, &error));
  ck_assert_msg(together.time_ns < 0.7 * alone.time_ns, "%g together, %g alone", together.time_ns, alone.time_ns);
  ck_assert_uint_le(together.bytes, alone.bytes + 40 * CM_ALIGNMENT);
  cm_packs_free(&packs);
  cm_model_free(g.model);
}
END_TEST

/* Bands of operators that read each other: units run what else has its memory where a piece's data are not there yet. */
START_TEST(units_do_not_wait_while_others_may_run)
{
  graph g = graph_new(&rnd, &memory, 13);
  const cm_target kept = *chip->target;
  uint32_t x = graph_input(&g, 4, (int64_t[]){1, 16, 96, 48});
  for (int k = 0; k < 6; k++) {
    x = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){16, 16, 3, 3}, -1), GRAPH_END);
    graph_ints(&g, "pads", 4, (int64_t[]){1, 1, 1, 1});
    x = graph_node(&g, "Relu", x, GRAPH_END);
  }
  graph_output(&g, x);
  graph_finish(&g, &run);
  for (uint32_t d = 0; d < chip->target->device_count; d++)
    chip->target->device[d].units *= chip->target->device[d].moves ? 1 : 4;
  ck_ok(cm_target_number(chip->target, &error));
  cm_settings settings = cm_settings_default(8 << 20);
  cm_plan_options options = options_for(8 << 20, &settings);
  cm_plan_candidate in_turn, by_time;
  ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &by_time, &error));
  settings.window = 1;
  ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &in_turn, &error));
  ck_assert_msg(by_time.time_ns < 0.96 * in_turn.time_ns, "%g ns by time, %g in turn", by_time.time_ns, in_turn.time_ns);
  *chip->target = kept;
  cm_model_free(g.model);
}
END_TEST

/* Never slower than the file's order; threads change nothing; somewhere it gains. */
START_TEST(orders_only_gain)
{
  cm_settings settings = cm_settings_default(24 << 10);
  cm_plan_options options = options_for(24 << 10, &settings);
  int gains = 0;
  for (int trial = 0; trial < (CM_SANITIZED ? 1 : 3); trial++) {
    graph g = branching_model();
    json_t *one, *other;
    cm_draft a = ordered(&g, &options, 1, 200, &one), b = ordered(&g, &options, 3, 200, &other);
    ck_assert(json_equal(one, other));
    ck_assert_int_ge(json_integer_value(json_object_get(one, "subgraphs")), 2);
    double file = json_real_value(json_object_get(one, "file_order_ns"));
    ck_assert(a.emission.time_ns <= file);
    ck_assert(a.emission.time_ns <= b.emission.time_ns && b.emission.time_ns <= a.emission.time_ns);
    ck_assert_uint_eq(a.memory.piece_count, b.memory.piece_count);
    ck_assert_mem_eq(a.memory.pieces, b.memory.pieces, a.memory.piece_count * sizeof *a.memory.pieces);
    gains += a.emission.time_ns < file;
    json_decref(one);
    json_decref(other);
    cm_draft_free(&a);
    cm_draft_free(&b);
    cm_model_free(g.model);
  }
  ck_assert_int_ge(gains, CM_SANITIZED ? 0 : 1);
}
END_TEST

/* Every piece once, after what makes its inputs. */
static void check_order(const cm_draft *d)
{
  const cm_plan *plan = d->plan;
  uint32_t *place = calloc(plan->piece_count + 1, sizeof *place);
  for (uint32_t k = 0; k < d->memory.piece_count; k++) {
    const cm_piece *piece = &plan->pieces[d->memory.pieces[k]];
    for (uint32_t i = 0; i < piece->input_count; i++) {
      const cm_tile *tile = &plan->tiles[cm_piece_inputs(plan, piece)[i]];
      ck_assert(!tile->grid || tile->piece == CM_NONE || place[tile->piece] > 0);
    }
    ck_assert_uint_eq(place[d->memory.pieces[k]], 0);
    place[d->memory.pieces[k]] = k + 1;
  }
  free(place);
}

START_TEST(pieces_of_a_stream_are_ordered)
{
  cm_settings settings = cm_settings_default(24 << 10);
  cm_plan_options options = options_for(24 << 10, &settings);
  graph g = branching_model();
  json_t *reports[2];
  cm_draft drafts[2];
  chip->target->window = 1;
  for (int k = 0; k < 2; k++) {
    drafts[k] = ordered(&g, &options, k == 0 ? 1 : 3, 60, &reports[k]);
    check_order(&drafts[k]);
  }
  const json_t *pieces = json_object_get(reports[0], "pieces");
  const double given = json_real_value(json_object_get(pieces, "given_ns")), best = json_real_value(json_object_get(pieces, "best_ns"));
  ck_assert(json_equal(reports[0], reports[1]));
  ck_assert_mem_eq(drafts[0].memory.pieces, drafts[1].memory.pieces, drafts[0].memory.piece_count * sizeof *drafts[0].memory.pieces);
  ck_assert_int_ge(json_integer_value(json_object_get(pieces, "scored")), 60);
  ck_assert_msg(best < given, "%g ns after %g", best, given);
  ck_assert_msg(drafts[0].emission.time_ns < best + 0.1, "%g ns in the end, and %g found", drafts[0].emission.time_ns, best);
  chip->target->window = 0;
  for (int k = 0; k < 2; k++) {
    json_decref(reports[k]);
    cm_draft_free(&drafts[k]);
  }
  cm_model_free(g.model);
}
END_TEST

/* What a subgraph is scored alone, from the state that it begins in, is what the whole comes to where nothing follows it. */
START_TEST(a_subgraph_alone_takes_its_time_in_the_whole)
{
  cm_settings settings = cm_settings_default(24 << 10);
  settings.segment_share = 0.25;
  settings.ahead = 0; /* what is loaded ahead depends on what follows */
  cm_plan_options options = options_for(24 << 10, &settings);
  for (int trial = 0; trial < 4; trial++) {
    graph g = branching_model();
    cm_plan *plan;
    cm_windows *windows;
    /* So, a little, does what is given up before, where much is granted in so little memory. */
    settings.window = trial % 2 == 0 ? 1 : 16;
    const double near = trial % 2 == 0 ? 1e-9 : 0.03;
    ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
    uint32_t n = plan->op_count, bound[3] = {0, n / 2, n}, ops[128];
    ck_assert_uint_le(n, 128);
    ck_ok(cm_windows_new(plan, bound, 2, &run, &windows, &error));
    for (int round = 0; round < 6; round++) {
      double whole, alone;
      for (uint32_t k = 0; k < n; k++)
        ops[k] = k;
      /* Neighbours that do not read each other change places. */
      for (uint32_t k = n / 2; round > 0 && k + 1 < n; k++) {
        const cm_node *first = plan->ops[ops[k]].call.node, *second = plan->ops[ops[k + 1]].call.node;
        bool reads = false;
        for (uint32_t i = 0; i < second->input_count; i++)
          reads = reads || second->inputs[i] == first->outputs[0];
        if (!reads && pick(0, 1)) {
          uint32_t kept = ops[k];
          ops[k] = ops[k + 1];
          ops[k + 1] = kept;
        }
      }
      ck_ok(cm_windows_whole(windows, ops, &whole, &error));
      ck_ok(cm_windows_score(windows, 1, ops + n / 2, &alone, &error));
      ck_assert_msg(fabs(whole - alone) <= near * whole, "%g alone, %g in the whole", alone, whole);
    }
    cm_windows_free(windows);
    cm_plan_free(plan);
    cm_model_free(g.model);
  }
}
END_TEST

/* Units of any number on any cores, of some devices that do both kinds of operation, or one slowly. */
static void random_devices(cm_target *target)
{
  for (uint32_t d = 0; d < target->device_count; d++)
    target->device[d].units = (uint32_t)pick(1, 4);
  if (pick(0, 1)) {
    cm_device *slow = &target->device[target->device_count++];
    *slow = (cm_device){.name = "processor", .units = (uint32_t)pick(1, 3), .ports = 1, .pipelined = pick(0, 1) != 0,
                        .bytes_per_ns = (double)pick(1, 64), .latency_ns = (double)pick(0, 20)};
    for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++)
      if (pick(0, 2) > 0)
        slow->rate[k][slow->rate_count[k]++] = (cm_rate){"other", (double)pick(1, 300)};
  }
  if (pick(0, 3) == 0)
    become_hosts(target, pick(0, 1) ? CM_UNIT_VECTOR : CM_UNIT_MATRIX);
  if (pick(0, 1)) {
    cm_device *port = &target->device[target->device_count++];
    *port = (cm_device){.name = "slow ports", .units = 1, .ports = (uint32_t)pick(1, 2), .moves = true, .pipelined = true,
                        .bytes_per_ns = (double)pick(1, 10), .latency_ns = (double)pick(0, 300)};
  }
  ck_ok(cm_target_number(target, &error));
  for (uint32_t u = 0; u < 64; u++)
    target->core[u] = (uint32_t)pick(0, 7);
  target->grid.router_ns = (double)pick(0, 12);
  target->memory_count = (uint32_t)pick(0, 2);
  for (uint32_t m = 0; m < target->memory_count; m++) /* of one the other may be all cores' */
    target->memory[m] = (cm_core_memory){m > 0 && pick(0, 1) ? CM_CORE_SHARED : (uint32_t)pick(0, 7), target->memory_bytes / target->memory_count * (m + 1)};
  target->link_bytes_per_ns = (double)pick(0, 64);
}

/* However a model is cut and laid out, it takes no less than the bound; which does not depend on how it is cut. */
START_TEST(nothing_is_faster_than_the_bound)
{
  double closest = HUGE_VAL;
  for (uint32_t trial = 0; trial < test_rounds(40); trial++) {
    graph g = trial % 3 == 2 ? token_model() : image_model();
    graph_finish(&g, &run);
    uint64_t bytes = (uint64_t)pick(24, 400) << 10;
    double known = -1;
    const cm_target kept = *chip->target;
    random_devices(chip->target);
    for (int round = 0; round < 6; round++) {
      cm_settings settings = {.fill = (double)pick(3, 9) / 10, .segment_share = (double)pick(0, 4) / 4,
                              .pieces_a_unit = (double)pick(1, 6), .piece_bytes = (double)pick(500, 20000),
                              .weight_bytes = (double)pick(500, 20000), .issues_min = (double)pick(1, 20),
                              .window = (double)pick(1, 64)};
      cm_plan_options options = options_for(bytes, round == 5 ? NULL : &settings);
      cm_draft draft;
      cm_time_bound bound;
      ck_ok(cm_draft_make(&(cm_draft_task){g.model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
      ck_ok(cm_time_bound_make(draft.plan, chip->target, &run, &bound, &error));
      ck_assert(bound.ns > 0 && draft.emission.time_ns >= bound.ns * (1 - 1e-9));
      ck_assert(known < 0 || fabs(known - bound.ns) <= 1e-9 * known);
      known = bound.ns;
      closest = fmin(closest, draft.emission.time_ns / bound.ns);
      cm_draft_free(&draft);
    }
    *chip->target = kept;
    cm_model_free(g.model);
  }
  ck_assert_msg(closest < 3, "the bound says nothing: at best %g", closest);
}
END_TEST

/* Channels that are read across the groups of a convolution: groups of 4 filters, of which a group of the reader takes 10. */
START_TEST(the_bound_knows_groups)
{
  graph g = graph_new(&rnd, &memory, 13);
  cm_settings settings = cm_settings_default(64 << 10);
  cm_plan_options options = options_for(64 << 10, &settings);
  cm_draft draft;
  cm_time_bound bound;
  uint32_t x = graph_input(&g, 4, (int64_t[]){1, 6, 8, 8});
  uint32_t a = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){12, 2, 1, 1}, -1), GRAPH_END);
  graph_int(&g, "group", 3);
  uint32_t b = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){8, 6, 1, 1}, -1), GRAPH_END);
  x = graph_node(&g, "Concat", a, b, GRAPH_END);
  graph_int(&g, "axis", 1);
  x = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){4, 10, 1, 1}, -1), GRAPH_END);
  graph_int(&g, "group", 2);
  graph_output(&g, x);
  graph_finish(&g, &run);
  ck_ok(cm_draft_make(&(cm_draft_task){g.model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
  ck_ok(cm_time_bound_make(draft.plan, chip->target, &run, &bound, &error));
  ck_assert(draft.emission.time_ns >= bound.ns);
  /* 64 places: 12 filters of 2 weights, 8 of 6, 4 of 10, on two units of 256 a nanosecond, with an issue each. */
  ck_assert(fabs(bound.busy_ns[CM_UNIT_MATRIX] - (64 * (24 + 48 + 40) / 256.0 + 9) / 2) < 1e-9);
  cm_draft_free(&draft);
  cm_model_free(g.model);
}
END_TEST

/* ---- against brute force ---- */

static tiny random_tiny(void)
{
  tiny m = {.layers = (int)pick(2, LAYERS), .devices = 3 + (pick(0, 3) == 0), .issue = (int)pick(0, 1),
            .grain = (int)pick(0, 2), .columns = pick(0, 1) != 0};
  static const int rates[] = {1, 2, 4}, port_rates[] = {1, 4, 16};
  const int port_rate = port_rates[pick(0, 2)];
  int least = 0, all = 0;
  m.layer[0] = (tiny_layer){.kind = TINY_INPUT, .channels = (int)pick(1, 2), .width = (int)pick(1, 4)};
  for (int k = 1; k < m.layers; k++) {
    tiny_layer *l = &m.layer[k];
    l->from[0] = m.layer[k - 1].kind == TINY_SLICE ? k - 1 : (int)pick(pick(0, 2) == 0 ? 0 : k - 1, k - 1);
    const tiny_layer *x = &m.layer[l->from[0]];
    *l = (tiny_layer){.kind = (tiny_kind)pick(TINY_CONV, k + 1 < m.layers && x->width > 1 ? TINY_SLICE : TINY_ADD), .from = {l->from[0], l->from[0]}, .channels = x->channels,
                      .width = x->width, .kernel = 1, .stride = 1};
    if (l->kind == TINY_ADD) /* with another of its shape, where there is one */
      for (int o = 0; o < k; o++)
        if (m.layer[o].channels == x->channels && m.layer[o].width == x->width && pick(0, 1))
          l->from[1] = o;
    if (l->kind == TINY_CONV || l->kind == TINY_POOL) {
      l->kernel = (int)pick(1, 3);
      l->pad = l->kernel > 1 ? (int)pick(x->width < l->kernel, 1) : 0;
      l->after = l->kernel > 1 ? (int)pick(x->width + l->pad < l->kernel, 1) : 0;
      l->stride = (int)pick(1, 2);
      l->width = (x->width + l->pad + l->after - l->kernel) / l->stride + 1;
    }
    if (l->kind == TINY_SLICE) {
      l->pad = (int)pick(0, x->width - 1);
      l->width = (int)pick(1, x->width - l->pad);
    }
    if (l->kind == TINY_CONV) {
      int filter = x->channels * l->kernel * 4;
      l->channels = (int)pick(1, 2);
      least = filter * l->channels > least ? filter * l->channels : least;
      all += filter * l->channels;
    }
    m.layer[l->from[0]].read = m.layer[l->from[1]].read = true;
  }
  m.memory = (int)pick(pick(0, 2) == 0 ? least / 2 : least, all > least ? all : least + 1);
  for (int d = 0; d < m.devices; d++) {
    m.device[d] = (tiny_device){.lanes = (int)pick(1, 2), .latency = (int)pick(0, 3) / 2};
    for (int kind = 0; kind < ON_KINDS; kind++) /* the fourth does both kinds */
      m.device[d].rate[kind] = d == kind || (d == 3 && kind != ON_PORT) ? (kind == ON_PORT ? port_rate : rates[pick(0, 2)]) : 0;
  }
  if (pick(0, 1)) {
    m.link = (int)pick(0, 3);
    m.router = (int)pick(0, 2);
    m.far = pick(0, 1) != 0;
    m.memory = all + 1;
    for (int d = 0; d < m.devices; d++)
      m.device[d].at = (int)pick(0, 2);
  }
  return m;
}

static graph tiny_graph(const tiny *m)
{
  static const char *const name[] = {"", "Conv", "MaxPool", "Relu", "Add", "Slice"};
  graph g = graph_new(&rnd, &memory, 13);
  uint32_t value[LAYERS] = {graph_input(&g, 4, (int64_t[]){1, m->layer[0].channels, 1, m->layer[0].width})};
  for (int k = 1; k < m->layers; k++) {
    const tiny_layer *l = &m->layer[k];
    uint32_t x = value[l->from[0]], second = GRAPH_END;
    if (l->kind == TINY_CONV)
      second = graph_constant(&g, 4, (int64_t[]){l->channels, m->layer[l->from[0]].channels, 1, l->kernel}, -1);
    else if (l->kind == TINY_ADD)
      second = value[l->from[1]];
    const int64_t start = l->pad, end = start + l->width, axis = 3;
    value[k] = l->kind == TINY_SLICE ? graph_node(&g, "Slice", x, graph_integers(&g, 1, &start), graph_integers(&g, 1, &end),
                                                  graph_integers(&g, 1, &axis), GRAPH_END)
                                     : graph_node(&g, name[l->kind], x, second, GRAPH_END);
    if (l->kind == TINY_CONV || l->kind == TINY_POOL) {
      graph_ints(&g, "kernel_shape", 2, (int64_t[]){1, l->kernel});
      graph_ints(&g, "strides", 2, (int64_t[]){1, l->stride});
      graph_ints(&g, "pads", 4, (int64_t[]){0, l->pad, 0, l->after});
    }
    if (!l->read)
      graph_output(&g, value[k]);
  }
  graph_finish(&g, &run);
  return g;
}

static void tiny_target(const tiny *m, cm_target *t)
{
  t->issue_ns = m->issue;
  t->memory_count = 0;
  t->device_count = (uint32_t)m->devices;
  for (int d = 0; d < m->devices; d++) {
    const tiny_device *from = &m->device[d];
    cm_device *to = &t->device[d];
    *to = (cm_device){.units = (uint32_t)from->lanes, .ports = 1, .moves = d == ON_PORT, .pipelined = true,
                      .latency_ns = from->latency, .bytes_per_ns = from->rate[ON_PORT]};
    (void)snprintf(to->name, sizeof to->name, "device %d", d);
    for (int kind = ON_MATRIX; kind < ON_KINDS; kind++)
      if (from->rate[kind] > 0)
        to->rate[kind == ON_MATRIX ? CM_UNIT_MATRIX : CM_UNIT_VECTOR][to->rate_count[kind]++] =
            (cm_rate){"float32", from->rate[kind]};
  }
  ck_ok(cm_target_number(t, &error));
  memset(t->core, 0, sizeof t->core);
  for (uint32_t l = 0; l < t->lane_count; l++)
    t->core[t->device[cm_lane_device(t, l)].first_unit + l - t->device[cm_lane_device(t, l)].first_lane] = (uint32_t)m->device[cm_lane_device(t, l)].at;
  t->grid = (cm_core_grid){.width = 3, .height = 1, .die_width = 3, .die_height = 1, .router_x = 1, .router_y = 1, .east_west_ns = m->link, .router_ns = m->router};
}

/* No schedule of any cut of a tiny model takes less than the bound; and each term of the bound is what limits somewhere. */
START_TEST(no_schedule_at_all_is_faster_than_the_bound)
{
  const cm_target kept = *chip->target;
  brute_seen *seen = calloc(SEEN, sizeof *seen);
  double plain[CM_UNIT_KINDS] = {0}, phase[CM_UNIT_KINDS] = {0};
  uint32_t tried = 0, cuts = 0, hops = 0;
  cm_random_init(&rnd, 3, 0, 0);
  for (uint32_t trial = 0; trial < test_rounds(500); trial++) {
    tiny m = random_tiny();
    int64_t least = brute_min(&m, seen, &cuts);
    if (least == INT64_MAX)
      continue; /* too many tasks to try, or a filter too large for the memory */
    graph g = tiny_graph(&m);
    cm_plan_options options = options_for(64 << 10, NULL);
    cm_plan *plan;
    cm_time_bound bound;
    tiny_target(&m, chip->target);
    ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
    if (m.far)
      chip->target->memory[chip->target->memory_count++] = (cm_core_memory){.to = plan->memory_bytes};
    plan->memory_bytes = (uint64_t)m.memory; /* of parameters alone, as brute force has it */
    ck_ok(cm_time_bound_make(plan, chip->target, &run, &bound, &error));
    double ns = (double)least / QUARTERS;
    hops += m.link + m.router > 0;
    ck_assert_msg(bound.ns <= ns * (1 + 1e-9), "trial %u: the bound is %g ns, a schedule takes %g", trial, bound.ns, ns);
    for (int k = 0; k < CM_UNIT_KINDS; k++) {
      plain[k] = fmax(plain[k], bound.busy_ns[k] / ns);
      phase[k] = fmax(phase[k], bound.busy_ns[k] < bound.phase_ns[k] ? bound.phase_ns[k] / ns : 0);
    }
    tried++;
    cm_plan_free(plan);
    cm_model_free(g.model);
  }
  *chip->target = kept;
  free(seen);
  ck_assert(tried >= test_rounds(400) && hops >= test_rounds(100));
  for (int k = 0; k < CM_UNIT_HOST; k++) /* tiny models have nothing for a host */
    ck_assert_msg(plain[k] > 0.5 && phase[k] > 0.2, "terms of kind %d say little: %g and %g at best", k, plain[k], phase[k]);
}
END_TEST

/* ---- all lanes that wait for all ---- */

/* In each step units of work go to cores of a grid in any way; all begin when what all did before is known to them. */
typedef struct rounds {
  int width, cores, units, steps;
  double router, link, least; /* mean time of the cores that work in the last step */
} rounds;

static void try_rounds(rounds *r, int step, int core, int left, const double *known, double *end)
{
  if (core < r->cores) {
    for (int n = core + 1 < r->cores ? 0 : left; n <= left; n++) {
      end[core] = n > 0 ? known[core] + n : -1;
      try_rounds(r, step, core + 1, left - n, known, end);
    }
    return;
  }
  double next[9] = {0}, ends[9], sum = 0;
  int count = 0;
  for (int s = 0; s < r->cores; s++)
    for (int t = end[s] < 0 ? r->cores : 0; t < r->cores; t++) {
      const int hops = abs(s % r->width - t % r->width) + abs(s / r->width - t / r->width);
      next[t] = fmax(next[t], end[s] + (hops > 0 ? r->router + hops * (r->link + r->router) : 0));
    }
  for (int s = 0; s < r->cores; s++) {
    sum += fmax(end[s], 0);
    count += end[s] >= 0;
  }
  if (step + 1 < r->steps)
    try_rounds(r, step + 1, 0, r->units, next, ends);
  else
    r->least = fmin(r->least, sum / count);
}

START_TEST(no_exchange_is_faster_than_its_bound)
{
  static const int cases[][4] = {{2, 4, 4, 3}, {2, 4, 3, 4}, {3, 6, 3, 3}, {5, 5, 4, 3}, {3, 6, 6, 2}, {3, 9, 4, 2}, {4, 8, 4, 2}, {7, 7, 5, 2}};
  cm_target *t = calloc(1, sizeof *t);
  double near = 0;
  t->device_count = t->device[0].ports = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int price = 0; price < 3; price++) {
      rounds r = {.width = cases[i][0], .cores = cases[i][1], .units = cases[i][2], .steps = cases[i][3], .router = price / 2.0, .link = price == 1 ? 0 : 0.25, .least = HUGE_VAL};
      const uint32_t width = (uint32_t)r.width, height = (uint32_t)(r.cores / r.width);
      double end[9], told = 0;
      const double none[9] = {0}, share = 1.0 / r.cores; /* of all lanes, one's */
      cm_hop_times hops;
      cm_exchange e;
      t->device[0].units = (uint32_t)r.cores;
      ck_ok(cm_target_number(t, &error));
      for (uint32_t c = 0; c < t->lane_count; c++)
        t->core[c] = c;
      t->grid = (cm_core_grid){.width = width, .height = height, .die_width = width, .die_height = height, .router_x = 1, .router_y = 1,
                               .router_ns = r.router, .east_west_ns = r.link, .north_south_ns = r.link};
      ck_ok(cm_hop_times_make(t, &memory, &hops, &error));
      ck_ok(cm_exchange_make(&(cm_reach_of){t, &hops, &share, false}, &memory, &e, &error));
      try_rounds(&r, 0, 0, r.units, none, end);
      for (int s = 0; s < r.steps; s++)
        told += cm_exchange_ns(&e, r.units * share, s > 0 && s + 1 < r.steps ? 2 : 1);
      ck_assert_msg(told <= r.least * (1 + 1e-9), "%d cores: %g ns, and %g by a schedule", r.cores, told, r.least);
      near += told / r.least / (3 * sizeof cases / sizeof *cases);
      cm_free(e.apart);
      cm_hop_times_end(&hops);
    }
  free(t);
  ck_assert_msg(near > 0.75, "the bound says little: %g", near);
}
END_TEST

/* ---- more of anything ---- */

/* What a program takes after a search on a chip. */
static double best_time(cm_model *model, cm_target *target, uint64_t bytes)
{
  cm_settings settings = cm_settings_default(bytes);
  cm_plan_options options = options_for(bytes, &settings);
  cm_search_options how = {.scores = 8};
  cm_plan_candidate best;
  json_t *report;
  options.target = target;
  ck_ok(cm_target_number(target, &error));
  memset(target->core, 0, sizeof target->core);
  ck_ok(cm_settings_search(model, &options, &how, &run, &best, &report, &error));
  json_decref(report);
  return best.time_ns;
}

/* Twice the ports, twice the units, or both. */
static void more_lanes(cm_target *t, bool ports, bool units)
{
  for (uint32_t d = 0; d < t->device_count; d++) {
    t->device[d].ports *= t->device[d].moves && ports ? 2 : 1;
    t->device[d].units *= !t->device[d].moves && units ? 2 : 1;
  }
}

/* Some more of some, and perhaps a device that is slow. */
static void some_more(cm_target *t)
{
  for (uint32_t d = 0; d < t->device_count; d++)
    if (pick(0, 1) && t->device[d].moves)
      t->device[d].ports += (uint32_t)pick(1, 3);
    else if (pick(0, 1) && !t->device[d].moves)
      t->device[d].units += (uint32_t)pick(1, 3);
  if (pick(0, 2) == 0)
    return;
  cm_device *slow = &t->device[t->device_count++];
  *slow = (cm_device){.name = "slow", .units = (uint32_t)pick(1, 3), .ports = 1, .latency_ns = (double)pick(0, 40)};
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++)
    slow->rate[k][slow->rate_count[k]++] = (cm_rate){"other", (double)pick(1, k == CM_UNIT_MATRIX ? 100 : 16)};
}

static void no_slower(const char *what, double less, double more, double most)
{
  ck_assert_msg(more <= less * most, "%s: %g ns, %g with more", what, less, more);
}

/* Twice the memory, ports or units: 1 % slower at most; any more of anything, 3 %. */
START_TEST(more_is_never_slower)
{
  cm_target *t = malloc(sizeof *t);
  const cm_target kept = *chip->target;
  for (int trial = 0; trial < (CM_SANITIZED ? 1 : 3); trial++) {
    graph g = trial == 1 ? image_model() : token_model();
    graph_finish(&g, &run);
    *chip->target = kept;
    random_devices(chip->target);
    uint64_t bytes = (uint64_t)pick(24, 100) << 10;
    *t = *chip->target;
    double base = best_time(g.model, t, bytes), twice = best_time(g.model, t, 2 * bytes);
    no_slower("memory", base, twice, 1.01);
    no_slower("memory", twice, best_time(g.model, t, 4 * bytes), 1.01);
    for (int what = 0; what < 3; what++) {
      *t = *chip->target;
      more_lanes(t, what != 1, what != 0);
      no_slower(what == 0 ? "ports" : what == 1 ? "units" : "all", base, best_time(g.model, t, what == 2 ? 2 * bytes : bytes), 1.01);
    }
    for (int pair = 0; pair < 3; pair++) {
      *t = *chip->target;
      some_more(t);
      no_slower("pair", base, best_time(g.model, t, bytes + bytes * (uint64_t)pick(0, 100) / 100), 1.03);
    }
    cm_model_free(g.model);
  }
  *chip->target = kept;
  free(t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("schedules");
  TCase *tcase = tcase_create("all");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_test(tcase, a_search_ends_at_its_target);
  tcase_add_test(tcase, every_division_is_a_program);
  tcase_add_test(tcase, the_search_only_gains);
  tcase_add_test(tcase, small_constants_come_together);
  tcase_add_figures_test(tcase, orders_only_gain);
  tcase_add_figures_test(tcase, pieces_of_a_stream_are_ordered);
  tcase_add_test(tcase, units_do_not_wait_while_others_may_run);
  tcase_add_test(tcase, a_subgraph_alone_takes_its_time_in_the_whole);
  tcase_add_test(tcase, nothing_is_faster_than_the_bound);
  tcase_add_test(tcase, the_bound_knows_groups);
  tcase_add_figures_test(tcase, more_is_never_slower);
  suite_add_tcase(suite, tcase);
  tcase = tcase_create("brute force");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  if (!CM_SANITIZED) /* it goes deeper than a stack of sanitized frames */
    tcase_add_test(tcase, no_schedule_at_all_is_faster_than_the_bound);
  tcase_add_test(tcase, no_exchange_is_faster_than_its_bound);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
