/* Programs: whatever a model is cut into, it computes the same and reads nothing that is not there;
 * mistakes and damage are noticed. */
#include "models.h"

#include "core/machine/plan/row_turns.h"
#include "core/machine/program/codec.h"
#include "core/machine/run/analysis.h"
#include "core/machine/time_bound.h"

static uint32_t turned; /* programs of several turns that were made */

/* For the least time, or for the fewest bytes moved; frames by two in turns, here and there. */
static cm_status make_program_for(cm_model *model, uint64_t bytes, bool time, cm_program **program)
{
  cm_settings settings = cm_settings_default(bytes);
  time = time || chip->target->memory_count > 0; /* the fewest bytes are found for one memory */
  cm_plan_options options = options_for(bytes, time ? &settings : NULL);
  cm_packs packs;
  cm_draft draft;
  settings.pack = (double)(bytes / 100 % (CM_PACK_SIZES + 1)); /* any */
  settings.split = (double)(1 + bytes / 100 % 8);
  settings.window = (double)(1 + bytes / 100 % 300);
  settings.stretch = (double)(bytes / 100 % 4);
  options.division = time ? (cm_division)(bytes / 1000 % CM_DIVISIONS) : CM_DIVISION_CAPABILITY;
  bool may = false;
  if (time && chip->target->window == 0)
    ck_ok(cm_turns_may(model, 2, &run, &may, &error));
  options.turns = may && bytes / 100 % 2 == 0 ? 2 : 0;
  turned += options.turns > 1;
  ck_ok(cm_packs_make(model, chip->target, bytes / 64, &run, &packs, &error));
  options.packs = &packs;
  cm_status status = cm_draft_make(&(cm_draft_task){model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error);
  cm_packs_free(&packs);
  if (status != CM_OK)
    return status;
  cm_simulation timed;
  ck_ok(cm_link(&draft.emission, program, &error));
  ck_ok(cm_simulate(*program, NULL, &(cm_simulation_options){0}, &run, NULL, &timed, &error));
  ck_assert_msg(fabs(timed.time_ns - draft.emission.time_ns) <= 1e-9 * timed.time_ns, "%g ns simulated, %g when it was made", timed.time_ns,
                draft.emission.time_ns);
  cm_draft_free(&draft);
  return CM_OK;
}

static cm_status make_program(cm_model *model, uint64_t bytes, cm_program **program)
{
  return make_program_for(model, bytes, true, program);
}

typedef struct numbers {
  cm_tensor *inputs[4], *expected[4];
} numbers;

static numbers compute(graph *g)
{
  numbers n = {0};
  for (size_t i = 0; i < g->model->input_count; i++) {
    const cm_shape *s = &g->model->values[g->model->inputs[i]].shape;
    n.inputs[i] = graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1);
  }
  ck_ok(cm_evaluate(g->model, n.inputs, &run, n.expected, &error));
  return n;
}

static void free_numbers(numbers *n)
{
  for (int i = 0; i < 4; i++) {
    cm_tensor_free(n->inputs[i]);
    cm_tensor_free(n->expected[i]);
  }
}

static void check_program(const cm_program *p, const numbers *n)
{
  cm_simulation_options options = {.compute = true, .check = true};
  cm_simulation result;
  cm_tensor *outputs[4] = {0};
  ck_ok(cm_simulate(p, n->inputs, &options, &run, outputs, &result, &error));
  ck_assert_uint_le(result.peak_bytes, p->target.memory_bytes);
  ck_assert(result.time_ns > 0);
  for (uint32_t o = 0; o < p->output_count; o++) {
    int64_t at = cm_tensor_deviates(outputs[o], n->expected[o], 1e-5, 1e-5);
    ck_assert_msg(at == -1, "output %u deviates at %lld", o, (long long)at);
    cm_tensor_free(outputs[o]);
  }
}

/* The critical path takes the whole time, span after span; what is held fits in the memory and is given up in the end. */
static void check_analysis(const cm_program *p)
{
  cm_analysis a;
  double sum = 0, until = 0, reasons = 0;
  size_t path = 0;
  ck_ok(cm_analysis_make(p, &run, &a, &error));
  for (uint32_t d = 0; d < p->target.device_count; d++)
    sum += a.path_ns[d];
  for (cm_begin_reason r = CM_BEGINS_AT_START; r < CM_BEGIN_REASONS; r++)
    reasons += a.reason_ns[r];
  ck_assert(fabs(sum - reasons) < 1e-6 && fabs(sum + a.path_hops_ns - a.time_ns) < 1e-6 * a.time_ns);
  for (size_t k = 0; k < a.busy_count; k++)
    if (a.busy[k].reason != CM_BEGINS_OFF_PATH) { /* by start */
      ck_assert(a.busy[k].reason == CM_BEGINS_AFTER_ISSUE || a.busy[k].start_ns >= until);
      until = a.busy[k].end_ns;
      path++;
    }
  ck_assert_uint_eq(path * p->turns, a.path_length);
  ck_assert(p->turns > 1 ? until * p->turns <= a.time_ns : fabs(until - a.time_ns) < 1e-9);
  ck_assert_uint_gt(a.held_max, 0);
  ck_assert_uint_le(a.held_max, p->target.memory_bytes);
  ck_assert_uint_eq(a.held[a.held_count - 1].bytes, 0);
  cm_analysis_free(&a);
}

/* Through a file in memory and back. */
static cm_program *write_and_read(cm_program *p)
{
  uint8_t *bytes, *again;
  size_t size, second;
  cm_program *read;
  ck_ok(cm_program_write_memory(p, &bytes, &size, &error));
  ck_ok(cm_program_read_memory(bytes, size, &run, &read, &error));
  ck_ok(cm_program_write_memory(read, &again, &second, &error));
  ck_assert_uint_eq(size, second);
  ck_assert_mem_eq(bytes, again, size);
  CM_FREE(bytes, again);
  cm_program_free(p);
  return read;
}

/* At every memory from one that is too small to one that is large; what is said to be needed is never too little. */
static void check_all_memories(graph *g, const numbers *n, uint32_t *cut)
{
  static const uint64_t sizes[] = {1 << 10, 3000, 6 << 10, 20000, 64 << 10, 1 << 20};
  for (size_t s = 0; s < 2 * (sizeof sizes / sizeof *sizes); s++) {
    cm_program *p;
    uint64_t bytes = sizes[s / 2];
    while (make_program_for(g->model, bytes, s % 2 == 0, &p) != CM_OK) {
      ck_assert_int_eq(error.status, CM_TOO_LARGE);
      ck_assert_str_eq(error.figures[0].name, "needed_bytes");
      ck_assert_uint_gt(error.figures[0].value, bytes);
      bytes = error.figures[0].value;
    }
    *cut += p->instruction_count > 100;
    p = write_and_read(p);
    check_program(p, n);
    check_analysis(p);
    cm_program_free(p);
  }
}

START_TEST(programs_compute_what_models_do)
{
  uint32_t cut = 0;
  for (int trial = 0; trial < (CM_SANITIZED ? 4 : 14); trial++) {
    cm_chip_free(chip);
    ck_ok(cm_chip_open((const char *[]){"npu-mixed", "npu-biglittle", "npu-manycore"}[trial / 2 % 3], &chip, &error));
    if (trial % 5 == 4)
      become_hosts(chip->target, trial % 2 == 0 ? CM_UNIT_VECTOR : CM_UNIT_MATRIX);
    graph g = trial % 3 == 2 ? token_model() : image_model();
    graph_finish(&g, &run);
    numbers n = compute(&g);
    check_all_memories(&g, &n, &cut);
    free_numbers(&n);
    cm_model_free(g.model);
  }
  ck_assert_uint_gt(cut, CM_SANITIZED ? 4 : 14);
  ck_assert(CM_SANITIZED || turned > 0);
}
END_TEST

/* ---- memories of cores ---- */

/* A unit of 10 operations a nanosecond, links of 4 bytes: by hand. */
START_TEST(what_lies_on_other_cores_takes_longer)
{
  const cm_target target = {.link_bytes_per_ns = 4};
  cm_device device = {.units = 1, .ports = 1, .pipelined = true};
  const cm_work work = {.operations = 100, .read_bytes = 80, .written_bytes = 16};
  ck_assert_double_eq(cm_compute_remote_ns(&target, &device, &work, 10, &(cm_remote){40, 16, 3}), 3); /* 10 beside 10 and 4 */
  ck_assert_double_eq(cm_compute_remote_ns(&target, &device, &work, 10, &(cm_remote){80, 16, 3}), 3 + 10); /* 20 beside 10 */
  device.pipelined = false;
  device.bytes_per_ns = 8;
  ck_assert_double_eq(cm_compute_remote_ns(&target, &device, &work, 10, &(cm_remote){40, 16, 3}), 3 + 10 + 4);
  ck_assert_double_eq(cm_transfer_remote_ns(&target, &device, 80, &(cm_remote){80, 0, 5}), 5 + 20 - 10);
}
END_TEST

START_TEST(memories_of_cores_are_checked)
{
  cm_chip_free(chip);
  ck_ok(cm_chip_open("npu-manycore", &chip, &error));
  for (int trial = 0; trial < 2; trial++) {
    graph g = image_model();
    graph_finish(&g, &run);
    numbers n = compute(&g);
    cm_program *p;
    cm_simulation_options options = {.compute = true, .check = true};
    cm_simulation result;
    cm_tensor *outputs[4] = {0};
    uint64_t remote = 0;
    ck_ok(make_program(g.model, 2 << 20, &p));
    p = write_and_read(p);
    ck_assert_uint_eq(p->target.memory_count, 16);
    check_program(p, &n);
    for (uint64_t i = 0; i < p->instruction_count && remote == 0; i++)
      if (p->instructions[i].remote.read_bytes > 0) {
        remote = p->instructions[i].remote.read_bytes--;
        ck_fails(cm_simulate(p, n.inputs, &options, &run, outputs, &result, &error), CM_DAMAGED);
        ck_assert_ptr_nonnull(strstr(error.detail, "on other cores"));
        p->instructions[i].remote.read_bytes++;
      }
    ck_assert_uint_gt(remote, 0);
    /* The same addresses, and memories that end elsewhere. */
    p->target.memory[7].to += 64;
    ck_fails(cm_simulate(p, n.inputs, &options, &run, outputs, &result, &error), CM_DAMAGED);
    p->target.memory[7].to -= 64;
    cm_program_free(p);
    free_numbers(&n);
    cm_model_free(g.model);
  }
}
END_TEST

static size_t pieces_of(int64_t channels, int64_t side, const int64_t filters[4])
{
  const cm_settings settings = cm_settings_default(256 << 10);
  const cm_plan_options options = options_for(256 << 10, &settings);
  graph g = graph_new(&rnd, &memory, 13);
  cm_plan *plan;
  uint32_t x = graph_input(&g, 4, (int64_t[]){1, channels, side, side});
  graph_output(&g, graph_node(&g, "Conv", x, graph_constant(&g, 4, filters, -1), GRAPH_END));
  graph_ints(&g, "pads", 4, (int64_t[]){filters[2] / 2, 0, filters[2] / 2, 0});
  graph_finish(&g, &run);
  ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
  const size_t count = plan->piece_count;
  cm_plan_free(plan);
  cm_model_free(g.model);
  return count;
}

/* 16 cores of 16 KiB. 128 KiB of filters are 32 slices, each for one core: four pieces a core, not 16 a slice. Three rows are
 * 12 KiB: three filters fit beside them, and nothing in half of a core: no row of one filter a piece. */
START_TEST(cores_with_memories_cut_no_more_than_they_must)
{
  cm_chip_free(chip);
  ck_ok(cm_chip_open("npu-manycore", &chip, &error));
  ck_assert_uint_eq(pieces_of(64, 4, (int64_t[]){512, 64, 1, 1}), 64);
  ck_assert_uint_eq(pieces_of(64, 16, (int64_t[]){64, 64, 3, 1}), 16 * 22);
}
END_TEST

/* 64 sums over 4 x 4 cores: what a core has and twice its way to the farthest come to about the same; corners, too far, have none. */
START_TEST(pieces_are_the_smaller_the_farther_their_core_is)
{
  cm_chip_free(chip);
  ck_ok(cm_chip_open("npu-manycore", &chip, &error));
  graph g = graph_new(&rnd, &memory, 13);
  graph_output(&g, graph_node(&g, "MatMul", graph_input(&g, 2, (int64_t[]){1, 64}), graph_constant(&g, 2, (int64_t[]){64, 64}, -1), GRAPH_END));
  graph_finish(&g, &run);
  cm_settings settings = cm_settings_default(256 << 10);
  settings.stretch = 3;
  settings.issues_min = settings.pieces_a_unit = 1;
  const cm_plan_options options = options_for(256 << 10, &settings);
  cm_plan *plan;
  ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
  ck_assert_uint_eq(plan->piece_count, 12);
  for (uint32_t p = 0; p < 12; p++) {
    const uint32_t core = cm_lane_core(chip->target, plan->pieces[p].lane), x = core % 4, y = core / 4;
    ck_assert_uint_eq(plan->pieces[p].work.operations, (x % 3 > 0 && y % 3 > 0 ? 8 : 4) * 64);
    ck_assert(x % 3 > 0 || y % 3 > 0);
  }
  cm_plan_free(plan);
  cm_model_free(g.model);
}
END_TEST

/* ---- loops ---- */

static char *printed(const cm_program *p)
{
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  ck_ok(cm_program_disassemble(p, out, &error));
  ck_assert_int_eq(fclose(out), 0);
  return text;
}

/* Twice the rows are twice the instructions and the same loop; what is read back is what was written. */
START_TEST(pieces_of_one_shape_are_a_loop)
{
  size_t size[2];
  uint64_t instructions[2];
  for (int k = 0; k < 2; k++) {
    graph g = graph_new(&rnd, &memory, 13);
    graph_output(&g, graph_node(&g, "Tanh", graph_node(&g, "Relu", graph_input(&g, 2, (int64_t[]){(int64_t)30000 << k, 16}), GRAPH_END), GRAPH_END));
    graph_finish(&g, &run);
    cm_program *p, *read;
    uint8_t *bytes;
    ck_ok(make_program(g.model, 64 << 10, &p));
    ck_ok(cm_program_write_memory(p, &bytes, &size[k], &error));
    ck_ok(cm_program_read_memory(bytes, size[k], &run, &read, &error));
    instructions[k] = p->instruction_count;
    char *before = printed(p), *after = printed(read);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    cm_free(bytes);
    cm_program_free(p);
    cm_program_free(read);
    cm_model_free(g.model);
  }
  ck_assert_uint_gt(instructions[0], 5000);
  ck_assert_uint_gt(instructions[1] * 10, instructions[0] * 19);
  ck_assert_msg(size[0] < 2 * instructions[0] && size[1] * 4 < size[0] * 5, "%zu bytes for %llu instructions, %zu for %llu", size[0],
                (unsigned long long)instructions[0], size[1], (unsigned long long)instructions[1]);
}
END_TEST

/* ---- turns ---- */

/* Rows through a product, views of them, and what stays beside them; `axis` is what is normalised. */
static graph rows_model(int64_t rows, int64_t axis)
{
  graph g = graph_new(&rnd, &memory, 13);
  uint32_t x = graph_input(&g, 2, (int64_t[]){rows, 24});
  uint32_t y = graph_node(&g, "Add", graph_node(&g, "MatMul", x, graph_constant(&g, 2, (int64_t[]){24, 16}, -1), GRAPH_END),
                          graph_constant(&g, 1, (int64_t[]){16}, -1), GRAPH_END);
  graph_output(&g, graph_node(&g, "Softmax", y, GRAPH_END));
  graph_int(&g, "axis", axis);
  y = graph_node(&g, "Concat", y, x, GRAPH_END);
  graph_int(&g, "axis", 1);
  y = graph_transpose(&g, graph_node(&g, "Reshape", y, graph_integers(&g, 3, (int64_t[]){rows, 8, 5}), GRAPH_END), 3, (int64_t[]){0, 2, 1});
  graph_output(&g, graph_node(&g, "Relu", y, GRAPH_END));
  graph_finish(&g, &run);
  return g;
}

static cm_program *turn(cm_model *model, uint64_t bytes, uint32_t turns, double *bound_ns)
{
  cm_settings settings = cm_settings_default(bytes);
  cm_plan_options options = options_for(bytes, &settings);
  cm_draft draft;
  cm_program *p;
  cm_time_bound bound;
  options.turns = turns;
  ck_ok(cm_draft_make(&(cm_draft_task){model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
  ck_ok(cm_link(&draft.emission, &p, &error));
  ck_ok(cm_time_bound_make(draft.plan, chip->target, &run, &bound, &error));
  *bound_ns = bound.ns;
  cm_draft_free(&draft);
  return p;
}

/* Each turn goes on with the next rows: the same numbers, a smaller file, and one bound for all. */
START_TEST(turns_make_the_rows_of_the_model)
{
  graph g = rows_model(96, 1);
  const numbers n = compute(&g);
  uint64_t instructions = 0;
  double whole_ns = 0;
  for (uint32_t turns = 1; turns <= 32; turns *= 2) {
    double bound_ns;
    bool may;
    ck_ok(cm_turns_may(g.model, turns, &run, &may, &error));
    ck_assert(may);
    cm_program *p = write_and_read(turn(g.model, 3000, turns, &bound_ns));
    ck_assert_uint_eq(p->turns, turns);
    ck_assert(turns == 1 || p->instruction_count < instructions);
    ck_assert(turns == 1 || fabs(bound_ns - whole_ns) < 1e-9 * whole_ns);
    instructions = p->instruction_count;
    whole_ns = bound_ns;
    check_program(p, &n);
    if (turns == 4) { /* half of the rows is not all */
      cm_simulation result;
      cm_tensor *outputs[4] = {0};
      p->turns = 2;
      ck_fails(cm_simulate(p, n.inputs, &(cm_simulation_options){.compute = true, .check = true}, &run, outputs, &result, &error), CM_DAMAGED);
    }
    cm_program_free(p);
  }
  free_numbers((numbers *)&n);
  cm_model_free(g.model);
}
END_TEST

START_TEST(rows_that_need_each_other_have_no_turns)
{
  for (int k = 0; k < 3; k++) {
    graph g = rows_model(k == 1 ? 97 : 96, k == 0 ? 0 : 1);
    bool may;
    ck_ok(cm_turns_may(g.model, k == 2 ? 5 : 4, &run, &may, &error));
    ck_assert(!may);
    cm_model_free(g.model);
  }
}
END_TEST

/* Many pieces are turns; those of few rows, or of a large memory, are none. */
START_TEST(many_rows_are_turns)
{
  for (int k = 0; k < 3; k++) {
    const int64_t rows = INT64_C(1) << (k == 1 ? 12 : 23), wide = k == 2 ? 4096 : 24;
    graph g = graph_new(&rnd, &memory, 13);
    uint32_t turns;
    graph_output(&g, graph_node(&g, "Add", graph_input(&g, 2, (int64_t[]){rows, wide}), graph_constant(&g, 1, (int64_t[]){wide}, -1), GRAPH_END));
    graph_finish(&g, &run);
    ck_ok(cm_turns_find(g.model, k == 2 ? UINT64_C(1) << 32 : 1 << 20, &run, &turns, &error));
    ck_assert_uint_eq(turns, k == 0 ? 16 : 1);
    cm_model_free(g.model);
  }
}
END_TEST

/* ---- streams ---- */

/* When instructions that are no flags begin, in the order of the stream. */
typedef struct begins {
  const cm_program *program;
  double *start;     /* by instruction; below 0: a flag */
  double transfers;  /* on ports, all together */
} begins;

static void note_begin(void *user, uint64_t instruction, double start, double end, uint64_t after)
{
  begins *b = user;
  (void)after;
  b->start[instruction] = start;
  b->transfers += cm_opcode_unit(b->program->instructions[instruction].opcode) == CM_UNIT_DATA ? end - start : 0;
}

/* An instruction begins when it was read, after the one `window` before it has begun; ports have room for all code. */
static double check_stream(const cm_program *p)
{
  begins b = {.program = p};
  const cm_simulation_options options = {.trace = note_begin, .user = &b};
  const double code_ns = p->target.code_bytes / p->target.device[0].bytes_per_ns;
  cm_simulation result;
  uint64_t count = 0;
  double *begun = calloc(p->instruction_count + 1, sizeof *begun);
  b.start = calloc(p->instruction_count + 1, sizeof *b.start);
  for (uint64_t i = 0; i < p->instruction_count; i++)
    b.start[i] = -1;
  ck_ok(cm_simulate(p, NULL, &options, &run, NULL, &result, &error));
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    if (b.start[i] < 0)
      continue;
    ck_assert(b.start[i] >= code_ns + (count >= p->target.window ? begun[count - p->target.window] : 0) - 1e-9);
    begun[count] = fmax(count > 0 ? begun[count - 1] : 0, b.start[i]);
    count++;
  }
  ck_assert(b.transfers + (double)count * code_ns <= cm_target_lanes(&p->target, CM_UNIT_DATA) * result.time_ns);
  free(b.start);
  free(begun);
  return result.time_ns;
}

START_TEST(a_stream_is_read_in_order)
{
  for (int trial = 0; trial < (CM_SANITIZED ? 1 : 3); trial++) {
    graph g = trial == 2 ? token_model() : image_model();
    graph_finish(&g, &run);
    numbers n = compute(&g);
    double ns[4];
    for (int k = 0; k < 4; k++) {
      cm_program *p;
      chip->target->window = (uint32_t[]){1, 3, CM_TARGET_WINDOW_MAX, 1}[k];
      chip->target->code_bytes = k < 3 ? 64 : 0;
      ck_ok(make_program(g.model, 64 << 10, &p));
      p = write_and_read(p);
      ck_assert_uint_eq(p->target.window, chip->target->window);
      check_program(p, &n);
      check_analysis(p);
      ns[k] = check_stream(p);
      cm_program_free(p);
    }
    for (uint64_t division = 2; division < CM_DIVISIONS; division++) { /* whole operators, layer by layer */
      cm_program *p;
      chip->target->code_bytes = 16;
      ck_ok(make_program(g.model, 64000 + 1000 * division, &p));
      check_program(p, &n);
      (void)check_stream(p);
      cm_program_free(p);
    }
    ck_assert_msg(ns[0] > ns[2] && ns[0] > ns[3], "%g ns one by one, %g with many read ahead, %g without code", ns[0], ns[2], ns[3]);
    chip->target->window = chip->target->code_bytes = 0;
    free_numbers(&n);
    cm_model_free(g.model);
  }
}
END_TEST

/* ---- pieces ---- */

/* The boxes of a grid hold each element once, and what a piece reads lies within its inputs. */
START_TEST(every_element_is_made_once)
{
  for (int trial = 0; trial < 12; trial++) {
    graph g = image_model();
    cm_plan *plan;
    graph_finish(&g, &run);
    cm_settings settings = cm_settings_default(48 << 10);
    cm_plan_options options = options_for(48 << 10, trial % 2 == 0 ? &settings : NULL);
    ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
    for (size_t v = 0; v < g.model->value_count; v++) {
      const cm_plan_value *value = &plan->values[v];
      if (value->kind != CM_VALUE_MADE)
        continue;
      uint64_t count = cm_box_count(&value->whole);
      uint8_t *seen = calloc(count, 1);
      int64_t strides[CM_RANK_MAX];
      cm_strides(value->whole.rank, value->whole.to, strides);
      for (uint32_t t = 0; t < value->tile_count; t++) {
        const cm_tile *tile = &plan->tiles[value->first_tile + t];
        int64_t extent[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
        ck_assert_uint_ne(tile->piece, CM_NONE);
        for (uint32_t i = 0; i < tile->box.rank; i++)
          extent[i] = tile->box.to[i] - tile->box.from[i];
        do {
          int64_t at = 0;
          for (uint32_t i = 0; i < tile->box.rank; i++)
            at += (tile->box.from[i] + index[i]) * strides[i];
          ck_assert_uint_eq(seen[at]++, 0);
        } while (cm_next_index(tile->box.rank, extent, index));
      }
      for (uint64_t e = 0; e < count; e++)
        ck_assert_uint_eq(seen[e], 1);
      free(seen);
    }
    cm_plan_free(plan);
    cm_model_free(g.model);
  }
}
END_TEST

/* ---- the order of segments ---- */

/* Fewer bytes move than when every operator runs alone, and never fewer than inputs and outputs have. */
START_TEST(fusion_moves_less)
{
  cm_plan_options options = options_for(24 << 10, NULL);
  uint64_t fused = 0, alone = 0;
  for (int trial = 0; trial < 6; trial++) {
    graph g = image_model();
    cm_plan *plan;
    cm_memory_plan layout;
    graph_finish(&g, &run);
    if (cm_plan_new(g.model, NULL, &options, &run, &plan, &error) != CM_OK) {
      cm_model_free(g.model);
      continue;
    }
    ck_ok(cm_memory_plan_make(plan, true, &run, &layout, &error));
    uint64_t least = 0;
    for (size_t o = 0; o < g.model->output_count; o++)
      least += cm_plan_bytes(plan, g.model->outputs[o], &plan->values[g.model->outputs[o]].whole);
    ck_assert_uint_ge(layout.traffic.stored, least);
    fused += layout.traffic.loaded + layout.traffic.stored + layout.traffic.parameters;
    cm_memory_plan_free(&layout);
    ck_ok(cm_memory_plan_make(plan, false, &run, &layout, &error));
    alone += layout.traffic.loaded + layout.traffic.stored + layout.traffic.parameters;
    cm_memory_plan_free(&layout);
    cm_plan_free(plan);
    cm_model_free(g.model);
  }
  ck_assert_uint_gt(fused, 0);
  ck_assert_uint_lt(fused, alone);
}
END_TEST

/* ---- mistakes and damage ---- */

static cm_program *some_program(numbers *n)
{
  graph g = image_model();
  cm_program *p;
  graph_finish(&g, &run);
  *n = compute(&g);
  uint64_t bytes = 16 << 10;
  while (make_program(g.model, bytes, &p) != CM_OK)
    bytes *= 2;
  cm_model_free(g.model);
  return p;
}

/* The lowest address at which anything of a buffer lies. */
static uint64_t buffer_begin(const cm_program *p, uint32_t buffer)
{
  uint64_t least = UINT64_MAX;
  for (uint64_t k = 0; k < p->part_count; k++)
    if (p->parts[k].buffer == buffer && p->parts[k].address < least)
      least = p->parts[k].address;
  for (uint64_t i = 0; i < p->instruction_count; i++)
    if (p->instructions[i].opcode == CM_CODE_LOAD && p->instructions[i].buffer == buffer && p->instructions[i].address < least)
      least = p->instructions[i].address;
  return least;
}

/* The checking mode notices a missing wait, a wrong address, a load that is left out. */
START_TEST(the_checking_mode_notices_mistakes)
{
  cm_simulation_options options = {.compute = true, .check = true};
  int noticed = 0, tried = 0, waits = 0, waits_noticed = 0;
  numbers n;
  cm_program *p = some_program(&n);
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    cm_instruction kept = p->instructions[i], *at = &p->instructions[i];
    cm_program_part *part = NULL, kept_part = {0};
    if (at->opcode == CM_CODE_WAIT && i % 3 == 0)
      at->value = 1; /* the first signal is long gone */
    else if (at->opcode == CM_CODE_LOAD && i % 5 == 0 && at->address >= CM_ALIGNMENT)
      at->address -= CM_ALIGNMENT;
    else if (at->opcode == CM_CODE_VECTOR && i % 7 == 0 && p->operands[at->first_operand].part_count > 0) {
      part = &p->parts[p->operands[at->first_operand].first_part];
      kept_part = *part;
      if (part->address < 4 || part->address > buffer_begin(p, part->buffer))
        continue; /* else it stays in its buffer, and is another mistake */
      part->address -= 4;
    } else
      continue;
    if (kept.opcode == CM_CODE_WAIT && kept.value == 1)
      continue;
    cm_simulation result;
    cm_tensor *outputs[4] = {0};
    const bool wait = kept.opcode == CM_CODE_WAIT;
    tried++;
    waits += wait;
    if (cm_simulate(p, n.inputs, &options, &run, outputs, &result, &error) == CM_DAMAGED) {
      noticed++;
      waits_noticed += wait;
    } else
      for (int o = 0; o < 4; o++)
        cm_tensor_free(outputs[o]);
    *at = kept;
    if (part != NULL)
      *part = kept_part;
    if (tried == 60)
      break;
  }
  check_program(p, &n);
  ck_assert_int_gt(tried, 20);
  /* A wait may be implied by others; wrong addresses never are. */
  ck_assert_msg(noticed - waits_noticed == tried - waits, "%d of %d wrong addresses were noticed", noticed - waits_noticed,
                tried - waits);
  ck_assert_msg(2 * waits_noticed >= waits, "%d of %d missing waits were noticed", waits_noticed, waits);
  cm_program_free(p);
  free_numbers(&n);
}
END_TEST

START_TEST(damaged_files_are_refused)
{
  numbers n;
  cm_program *p = some_program(&n), *read;
  uint8_t *bytes;
  size_t size;
  ck_ok(cm_program_write_memory(p, &bytes, &size, &error));
  for (size_t at = 0; at < size; at += 1 + size / 700) {
    bytes[at] ^= 0x10;
    ck_fails(cm_program_read_memory(bytes, size, &run, &read, &error), CM_DAMAGED);
    ck_assert(at < 8 || strstr(error.where, "section") != NULL); /* before it: no program file */
    bytes[at] ^= 0x10;
  }
  for (size_t cut = 0; cut < size; cut += 1 + size / 100)
    ck_fails(cm_program_read_memory(bytes, cut, &run, &read, &error), CM_DAMAGED);
  cm_free(bytes);
  cm_program_free(p);
  free_numbers(&n);
}
END_TEST

/* Where each section's bytes lie. */
static size_t section_body(const uint8_t *bytes, int section, size_t *length)
{
  size_t at = CM_PROGRAM_HEADER_BYTES;
  for (int s = CM_SECTION_CHIP;; s++) {
    *length = 0;
    for (int i = 7; i >= 0; i--)
      *length = *length << 8 | bytes[at + 8 + (size_t)i];
    if (s == section)
      return at + CM_SECTION_HEADER_BYTES;
    at += CM_SECTION_HEADER_BYTES + *length;
  }
}

/* With the checksum made right again, what is read is refused or runs to an end within its memory. */
static void forge(void)
{
  numbers n;
  int refused = 0, ran = 0;
  cm_program *p = some_program(&n);
  cm_simulation_options options = {.compute = true, .check = true};
  uint8_t *bytes;
  size_t size;
  ck_ok(cm_program_write_memory(p, &bytes, &size, &error));
  for (int trial = 0; trial < (int)test_rounds(250); trial++) {
    static const int sections[] = {CM_SECTION_CHIP, CM_SECTION_TENSORS, CM_SECTION_OPERATORS, CM_SECTION_OBJECTS,
                                   CM_SECTION_CODE};
    size_t length, body = section_body(bytes, sections[trial % 5], &length);
    size_t at = body + (size_t)pick(0, (int64_t)length - 1);
    uint8_t kept = bytes[at];
    cm_program *read = NULL;
    cm_simulation result;
    cm_tensor *outputs[4] = {0};
    bytes[at] = (uint8_t)pick(0, 255);
    cm_section_hash(bytes + body, length, bytes + body - CM_SECTION_HASH_BYTES);
    if (cm_program_read_memory(bytes, size, &run, &read, &error) != CM_OK) {
      ck_assert(error.status == CM_DAMAGED || error.status == CM_MEMORY_LIMIT);
      refused++;
    } else if (read->output_count <= 4 && read->input_count <= 1) {
      if (cm_simulate(read, n.inputs, &options, &run, outputs, &result, &error) == CM_OK)
        ran++;
      for (int o = 0; o < 4; o++)
        cm_tensor_free(outputs[o]);
    }
    cm_program_free(read);
    bytes[at] = kept;
    cm_section_hash(bytes + body, length, bytes + body - CM_SECTION_HASH_BYTES);
  }
  ck_assert_int_gt(refused, (int)test_rounds(30));
  ck_assert_int_gt(ran, (int)test_rounds(5));
  cm_free(bytes);
  cm_program_free(p);
  free_numbers(&n);
}

START_TEST(forged_files_do_no_harm)
{
  forge();
  cm_chip_free(chip); /* a program of version 3 */
  ck_ok(cm_chip_open("npu-manycore", &chip, &error));
  forge();
}
END_TEST

START_TEST(what_cannot_be_is_named)
{
  graph g = graph_new(&rnd, &memory, 13);
  cm_program *p;
  uint32_t x = graph_input(&g, 4, (int64_t[]){1, 64, 8, 8});
  x = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){64, 64, 3, 3}, -1), GRAPH_END);
  graph_last(&g)->name = "middle";
  graph_output(&g, graph_node(&g, "Relu", x, GRAPH_END));
  graph_finish(&g, &run);
  ck_fails(make_program(g.model, 4 << 10, &p), CM_TOO_LARGE);
  ck_assert_ptr_nonnull(strstr(error.detail, "middle"));
  /* One filter of 64 * 9 weights, three rows of 64 * 8 numbers, one row of 6. */
  ck_assert_uint_eq(error.figures[0].value, 64 * 9 * 4 + 3 * 64 * 8 * 4 + 64);
  ck_ok(make_program(g.model, error.figures[0].value, &p));
  cm_program_free(p);
  /* A unit that knows no float32. */
  cm_target kept = *chip->target;
  for (uint32_t d = 0; d < chip->target->device_count; d++)
    for (uint32_t i = 0; i < chip->target->device[d].rate_count[CM_UNIT_MATRIX]; i++)
      memcpy(chip->target->device[d].rate[CM_UNIT_MATRIX][i].type, i == 0 ? "int8" : "int4", 5);
  ck_fails(make_program(g.model, 1 << 20, &p), CM_BAD_CHIP);
  ck_assert_ptr_nonnull(strstr(error.detail, "middle"));
  ck_assert_ptr_nonnull(strstr(error.detail, "no throughput for float32"));
  *chip->target = kept;
  /* An operator that nobody knows. */
  g.model->nodes[g.model->order[0]].known = NULL;
  ck_fails(make_program(g.model, 1 << 20, &p), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "middle"));
  cm_model_free(g.model);
}
END_TEST

#define DATA "{\"name\": \"d\", \"bytes_per_ns\": 1}"
#define BOTH "{\"name\": \"c\", \"operations_per_ns\": {\"matrix\": {\"float32\": 1}, \"vector\": {\"other\": 1}}}"
#define MACHINE(devices) "{\"memory_bytes\": 1024, \"devices\": [" devices "]}"

static cm_status read_machine(const char *text, uint32_t width, cm_target **target)
{
  const cm_chip cores = {.width = width, .height = 1, .die_width = width, .die_height = 1, .router_x = 1, .router_y = 1,
                         .dead_cores = (uint32_t[]){3}, .dead_core_count = 1};
  json_t *json = json_loads(text, 0, NULL);
  ck_assert_ptr_nonnull(json);
  cm_status status = cm_target_read(json, &cores, target, &error);
  json_decref(json);
  return status;
}

START_TEST(machines_of_chip_files)
{
  static const struct {
    const char *machine, *where;
  } wrong[] = {
      {"{\"memory_bytes\": 0}", "/machine/memory_bytes"},
      {"{\"memory_bytes\": 1024, \"speed\": 1}", "/machine/speed"},
      {"{\"memory_bytes\": 1024}", "/machine/devices"},
      {MACHINE(""), "/machine/devices"},
      {MACHINE(DATA), "/machine/devices"},
      {MACHINE(BOTH), "/machine/devices"},
      {MACHINE(DATA ", 7"), "/machine/devices/1"},
      {MACHINE(DATA ", " DATA), "/machine/devices/1"},
      {MACHINE("{\"name\": \"d\", \"bytes_per_ns\": 0}"), "/machine/devices/0/bytes_per_ns"},
      {MACHINE("{\"name\": \"d\", \"bytes_per_ns\": 1, \"ports\": 0}"), "/machine/devices/0/ports"},
      {MACHINE("{\"name\": \"d\", \"bytes_per_ns\": 1, \"ports\": 4096, \"units\": 2}, " BOTH), "/machine/devices"},
      {MACHINE("{\"name\": \"d\", \"bytes_per_ns\": 1, \"speed\": 1}"), "/machine/devices/0/speed"},
      {MACHINE("{\"name\": \"c\", \"operations_per_ns\": {}}"), "/machine/devices/0/operations_per_ns"},
      {MACHINE("{\"name\": \"c\", \"operations_per_ns\": {\"tensor\": {}}}"), "/machine/devices/0/operations_per_ns/tensor"},
      {MACHINE("{\"name\": \"c\", \"operations_per_ns\": {\"matrix\": {}}}"), "/machine/devices/0/operations_per_ns/matrix"},
      {MACHINE("{\"name\": \"c\", \"operations_per_ns\": {\"vector\": {\"float32\": 0}}}"),
       "/machine/devices/0/operations_per_ns/vector/float32"},
      {MACHINE("{\"name\": \"c\", \"operations_per_ns\": {\"vector\": {\"float32\": 1}}, \"pipelined\": false}"),
       "/machine/devices/0"},
      {MACHINE("{\"name\": \"d\", \"cores\": 1, \"length\": 1, \"transfer_ns\": 0, \"compute_ns\": 0}"), "/machine/devices/0"},
  };
  static const char *const cores[] = {"", "\"cores\": [], ", "\"cores\": [[8, 0]], ", "\"cores\": [[2, 0, 3, 0]], ",
                                      "\"cores\": [[0, 0, 1, 0]], \"units\": 3, "};
  cm_target *target;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_fails(read_machine(wrong[i].machine, 1, &target), CM_BAD_CHIP);
    ck_assert_str_eq(error.where, wrong[i].where);
  }
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
    char text[300];
    (void)snprintf(text, sizeof text, MACHINE("{%s\"name\": \"d\", \"bytes_per_ns\": 1}"), cores[i]);
    ck_fails(read_machine(text, 8, &target), CM_BAD_CHIP);
    ck_assert_ptr_nonnull(strstr(error.where, "/machine/devices/0/cores"));
  }
}
END_TEST

/* The form with units and devices apart is refused with what to write; that, written, is read. */
START_TEST(old_chip_files_are_told_what_to_write)
{
  static const char old[] = "{\"memory_bytes\": 1024, \"units\": {\"data\": {\"count\": 2, \"ports\": 3, \"bytes_per_ns\": 4, "
                            "\"latency_ns\": 5}, \"matrix\": {\"count\": 9, \"operations_per_ns\": {\"float32\": 6}}, "
                            "\"vector\": {\"operations_per_ns\": {\"other\": 7}}}, \"devices\": []}";
  for (uint32_t width = 1; width < 9; width += 7) {
    char text[1200];
    cm_target *target;
    ck_fails(read_machine(old, width, &target), CM_BAD_CHIP);
    ck_assert_str_eq(error.where, "/machine/units");
    const char *from = strchr(error.detail, '['), *to = strstr(error.detail, " (docs/reference/chip-file.md");
    ck_assert(from != NULL && to != NULL);
    (void)snprintf(text, sizeof text, "{\"memory_bytes\": 1024, \"devices\": %.*s}", (int)(to - from), from);
    ck_ok(read_machine(text, width, &target));
    ck_assert_uint_eq(cm_target_lanes(target, CM_UNIT_DATA), 6);
    ck_assert_uint_eq(cm_target_lanes(target, CM_UNIT_MATRIX), 9);
    ck_assert_uint_eq(cm_target_lanes(target, CM_UNIT_VECTOR), 1);
    ck_assert_double_eq(cm_target_bandwidth(target), 24);
    ck_assert_double_eq(cm_device_rate(&target->device[1], CM_UNIT_MATRIX, "float32"), 6);
    ck_assert_double_eq(cm_device_rate(&target->device[2], CM_UNIT_VECTOR, "int64"), 7);
    ck_assert_double_eq(cm_device_rate(&target->device[2], CM_UNIT_MATRIX, "float32"), 0);
    cm_free(target);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("programs");
  TCase *tcase = tcase_create("all");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_test(tcase, programs_compute_what_models_do);
  tcase_add_test(tcase, what_lies_on_other_cores_takes_longer);
  tcase_add_test(tcase, memories_of_cores_are_checked);
  tcase_add_test(tcase, cores_with_memories_cut_no_more_than_they_must);
  tcase_add_test(tcase, pieces_are_the_smaller_the_farther_their_core_is);
  tcase_add_test(tcase, turns_make_the_rows_of_the_model);
  tcase_add_test(tcase, rows_that_need_each_other_have_no_turns);
  tcase_add_test(tcase, many_rows_are_turns);
  tcase_add_test(tcase, a_stream_is_read_in_order);
  tcase_add_test(tcase, pieces_of_one_shape_are_a_loop);
  tcase_add_test(tcase, every_element_is_made_once);
  tcase_add_test(tcase, fusion_moves_less);
  tcase_add_test(tcase, the_checking_mode_notices_mistakes);
  tcase_add_test(tcase, damaged_files_are_refused);
  tcase_add_test(tcase, forged_files_do_no_harm);
  tcase_add_test(tcase, what_cannot_be_is_named);
  tcase_add_test(tcase, machines_of_chip_files);
  tcase_add_test(tcase, old_chip_files_are_told_what_to_write);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
