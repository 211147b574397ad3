/* Recurrent operators step by step: the numbers of the whole, in pieces that fit where the whole does not, faster where units allow,
 * and never below the bound. */
#include "judged.h"

#include "core/machine/plan/recurrent_steps.h"
#include "core/operators/recurrent_unfold.h"

/* What a random operator is. */
typedef struct shape {
  const char *op;
  int64_t gates, steps, batch, inputs, hidden, directions;
  bool batch_first;
} shape;

static uint32_t constant_or_none(graph *g, uint32_t rank, const int64_t *dims)
{
  return pick(0, 1) ? graph_constant(g, rank, dims, -1) : CM_NONE;
}

/* Lengths of sequences, some of them all steps. */
static uint32_t lengths_or_none(graph *g, const shape *s)
{
  cm_tensor *t;
  uint32_t value;
  if (pick(0, 1))
    return CM_NONE;
  ck_ok(cm_tensor_new(&memory, CM_INT32, 1, &s->batch, &t, &error));
  for (int64_t i = 0; i < s->batch; i++)
    cm_tensor_put_integer(t, (uint64_t)i, pick(0, 1) ? s->steps : pick(0, s->steps));
  ck_ok(cm_model_add_constant(g->model, "lengths", t, &value, &error));
  return value;
}

static void set_attributes(graph *g, const shape *s)
{
  static const char *const directions[] = {"forward", "reverse", "bidirectional"};
  static const float slopes[] = {0.3F, 0.2F, 0.4F, 0.1F, 0.5F, 0.6F};
  cm_node *n = graph_last(g);
  set_text(g, "direction", s->directions == 2 ? directions[2] : directions[pick(0, 1)]);
  graph_int(g, "hidden_size", s->hidden);
  graph_int(g, "layout", s->batch_first);
  if (s->gates == 3)
    graph_int(g, "linear_before_reset", pick(0, 1));
  if (s->gates == 4)
    graph_int(g, "input_forget", pick(0, 1));
  if (pick(0, 1))
    return;
  cm_attribute *all = cm_arena_allocate(&g->model->arena, n->attribute_count + 3, sizeof *all, &error);
  memcpy(all, n->attributes, n->attribute_count * sizeof *all);
  const char *names = s->gates == 1 ? "LeakyRelu\nHardSigmoid" : s->gates == 3 ? "HardSigmoid\nScaledTanh\nSigmoid\nSoftsign"
                                                                               : "Sigmoid\nElu\nTanh\nHardSigmoid\nRelu\nSoftplus";
  all[n->attribute_count++] = (cm_attribute){.name = "activations", .kind = CM_ATTRIBUTE_STRINGS, .text = names, .count = strlen(names)};
  all[n->attribute_count++] = (cm_attribute){.name = "activation_alpha", .kind = CM_ATTRIBUTE_FLOATS, .numbers = slopes, .count = 6};
  all[n->attribute_count++] = (cm_attribute){.name = "clip", .kind = CM_ATTRIBUTE_FLOAT, .number = 0.7F};
  n->attributes = all;
}

/* All outputs are read, or the last state alone. */
static graph random_recurrent(shape *s)
{
  static const char *const ops[] = {"RNN", "GRU", "LSTM"};
  const int kind = (int)pick(0, 2);
  graph g = graph_new(&rnd, &memory, 14);
  s->op = ops[kind];
  s->gates = kind == 0 ? 1 : kind + 2;
  s->directions = pick(1, 2);
  s->batch_first = pick(0, 3) == 0;
  const int64_t d = s->directions, rows = s->gates * s->hidden, states[3] = {s->batch_first ? s->batch : d, s->batch_first ? d : s->batch, s->hidden},
                x[3] = {s->batch_first ? s->batch : s->steps, s->batch_first ? s->steps : s->batch, s->inputs};
  const uint32_t inputs[8] = {graph_input(&g, 3, x), graph_constant(&g, 3, (int64_t[]){d, rows, s->inputs}, -1),
                              graph_constant(&g, 3, (int64_t[]){d, rows, s->hidden}, -1), constant_or_none(&g, 2, (int64_t[]){d, 2 * rows}),
                              lengths_or_none(&g, s), constant_or_none(&g, 3, states),
                              kind == 2 ? constant_or_none(&g, 3, states) : CM_NONE,
                              kind == 2 ? constant_or_none(&g, 2, (int64_t[]){d, 3 * s->hidden}) : CM_NONE};
  const uint32_t outputs[3] = {graph_value(&g), graph_value(&g), graph_value(&g)}, count = kind == 2 ? 3 : 2;
  uint32_t node;
  ck_ok(cm_model_add_node(g.model, s->op, inputs, kind == 2 ? 8 : 6, outputs, count, &node, &error));
  set_attributes(&g, s);
  for (uint32_t o = pick(0, 2) == 0 ? 1 : 0; o < count; o++)
    graph_output(&g, outputs[o]);
  graph_finish(&g, &run);
  return g;
}

static void unfold(cm_model *m)
{
  for (uint32_t n = 0, count = (uint32_t)m->node_count; n < count; n++)
    if (cm_recurrent_unfolds(m, &m->nodes[n]))
      ck_ok(cm_recurrent_unfold(m, n, &run, &error));
  ck_ok(cm_model_sweep(m, &error));
  ck_ok(cm_infer(m, &run, &error));
  for (size_t i = 0; i < m->order_count; i++)
    ck_assert(!cm_node_is(&m->nodes[m->order[i]], cm_kernel_recurrent));
}

static cm_tensor *input_of(const graph *g)
{
  const cm_shape *s = &g->model->values[g->model->inputs[0]].shape;
  return graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1);
}

START_TEST(steps_compute_what_the_whole_does)
{
  for (uint32_t trial = 0; trial < test_rounds(60); trial++) {
    shape s = {.steps = pick(1, 5), .batch = pick(1, 3), .inputs = pick(1, 6), .hidden = pick(1, 9)};
    graph g = random_recurrent(&s);
    cm_tensor *input = input_of(&g), *expected[OUTPUTS_MAX] = {0};
    double time;
    ck_ok(cm_evaluate(g.model, &input, &run, expected, &error));
    unfold(g.model);
    check_numbers(g.model, 4 << 10, &input, expected, &time);
    check_bound(g.model, 4 << 10, time);
    for (size_t o = 0; o < g.model->output_count; o++)
      cm_tensor_free(expected[o]);
    cm_tensor_free(input);
    cm_model_free(g.model);
  }
}
END_TEST

/* Weights of 3 x 64 x 64 numbers each in 32 KiB: cut along units, where the whole is refused. */
START_TEST(what_does_not_fit_goes_step_by_step)
{
  for (int trial = 0; trial < 3; trial++) {
    shape s = {.steps = 4, .batch = 1, .inputs = 64, .hidden = 64};
    graph g = random_recurrent(&s);
    cm_tensor *input = input_of(&g), *expected[OUTPUTS_MAX] = {0};
    cm_settings settings;
    cm_plan_options options = plain(32 << 10, &settings);
    cm_plan_candidate whole;
    cm_steps steps;
    double time;
    ck_ok(cm_evaluate(g.model, &input, &run, expected, &error));
    ck_fails(cm_plan_candidate_make(g.model, NULL, &options, &run, &whole, &error), CM_TOO_LARGE);
    ck_ok(cm_steps_unfold(g.model, chip->target, 32 << 10, &run, &steps, &error));
    ck_assert_uint_eq(steps.operators, 1);
    ck_assert_uint_eq(steps.steps, (uint64_t)(4 * s.directions));
    check_numbers(g.model, 32 << 10, &input, expected, &time);
    for (size_t o = 0; o < g.model->output_count; o++)
      cm_tensor_free(expected[o]);
    cm_tensor_free(input);
    cm_model_free(g.model);
  }
}
END_TEST

/* The products go to matrix units: a tenth of the time and less; a cell that is too small to gain stays whole. */
START_TEST(steps_are_taken_where_they_gain)
{
  for (int large = 0; large < 2; large++) {
    shape s = {.steps = 12, .batch = 1, .inputs = large ? 128 : 2, .hidden = large ? 128 : 2};
    graph g = random_recurrent(&s);
    cm_settings settings;
    cm_plan_options options = plain(8 << 20, &settings);
    cm_plan_candidate whole, steps;
    cm_steps done;
    ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &whole, &error));
    ck_ok(cm_steps_unfold(g.model, chip->target, 8 << 20, &run, &done, &error));
    ck_assert_uint_eq(done.operators, (uint64_t)large);
    if (large) {
      ck_ok(cm_plan_candidate_make(g.model, NULL, &options, &run, &steps, &error));
      ck_assert_msg(steps.time_ns < 0.2 * whole.time_ns, "%g ns by steps, %g whole", steps.time_ns, whole.time_ns);
    }
    cm_model_free(g.model);
  }
}
END_TEST

/* Every failed allocation is reported and leaks nothing. */
START_TEST(unfolding_survives_failed_allocations)
{
  shape s = {.steps = 2, .batch = 2, .inputs = 3, .hidden = 2};
  for (uint64_t n = 1;; n += 7) {
    cm_steps done;
    cm_random_init(&rnd, 3, 0, 0);
    graph g = random_recurrent(&s);
    cm_memory_fail_at(n);
    cm_status status = cm_steps_unfold(g.model, chip->target, 1, &run, &done, &error);
    int fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    cm_model_free(g.model);
    if (!fired) {
      ck_assert_msg(status == CM_OK, "%s", error.detail);
      break;
    }
    ck_assert_msg(status == CM_NO_MEMORY, "allocation %llu: %s", (unsigned long long)n, error.detail);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("recurrent");
  TCase *tcase = tcase_create("recurrent");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_test(tcase, steps_compute_what_the_whole_does);
  tcase_add_test(tcase, what_does_not_fit_goes_step_by_step);
  tcase_add_test(tcase, steps_are_taken_where_they_gain);
  tcase_add_test(tcase, unfolding_survives_failed_allocations);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
