/* Products cut along what they sum over: the same numbers, faster where outputs are few, possible where one does not fit;
 * and operators with rules of their own for pieces. */
#include "models.h"

#include "core/machine/bound.h"
#include "core/machine/plan/partial_sums.h"
#include "core/machine/run/simulate.h"

/* Few outputs of long sums: a convolution over all of a small image with many channels, MatMul or Gemm, some with a
 * bias, some of what others made. */
static graph long_product(int64_t length, int64_t outputs, int kind)
{
  graph g = graph_new(&rnd, &memory, pick(0, 1) ? 13 : 9);
  uint32_t x, y, bias = pick(0, 1) ? graph_constant(&g, 1, &outputs, -1) : GRAPH_END;
  if (kind == 0) {
    x = graph_node(&g, "Relu", graph_input(&g, 4, (int64_t[]){1, length / 9, 3, 3}), GRAPH_END);
    y = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){outputs, length / 9, 3, 3}, -1), bias, GRAPH_END);
    graph_ints(&g, "kernel_shape", 2, (int64_t[]){3, 3});
  } else if (kind == 1) {
    x = graph_node(&g, "Relu", graph_input(&g, 3, (int64_t[]){1, 1, length}), GRAPH_END);
    y = graph_node(&g, "MatMul", x, graph_constant(&g, 2, (int64_t[]){length, outputs}, -1), GRAPH_END);
  } else {
    bool a = pick(0, 1) != 0, b = pick(0, 1) != 0;
    x = graph_input(&g, 2, a ? (int64_t[]){length, 1} : (int64_t[]){1, length});
    y = graph_node(&g, "Gemm", x, graph_constant(&g, 2, b ? (int64_t[]){outputs, length} : (int64_t[]){length, outputs}, -1),
                   bias, GRAPH_END);
    graph_int(&g, "transA", a);
    graph_int(&g, "transB", b);
  }
  graph_output(&g, pick(0, 1) ? graph_node(&g, "Sigmoid", y, GRAPH_END) : y);
  graph_finish(&g, &run);
  return g;
}

static cm_plan_options plain(uint64_t bytes, cm_settings *settings)
{
  *settings = cm_settings_default(bytes);
  return options_for(bytes, settings);
}

static double time_of(cm_model *model, uint64_t bytes)
{
  cm_settings settings;
  cm_plan_options options = plain(bytes, &settings);
  cm_candidate made;
  ck_ok(cm_candidate_make(model, NULL, &options, &run, &made, &error));
  return made.time_ns;
}

/* The program of a model, run with all checks, against `expected` of another. */
static void check_numbers(cm_model *model, uint64_t bytes, cm_tensor **inputs, cm_tensor *expected, double *time_ns)
{
  const cm_simulation_options how = {.compute = true, .check = true};
  cm_settings settings;
  cm_plan_options options = plain(bytes, &settings);
  cm_draft draft;
  cm_program *program;
  cm_simulation result;
  cm_tensor *output[2];
  ck_ok(cm_draft_make(model, NULL, &options, "test", chip->target, &run, &draft, &error));
  ck_ok(cm_link(&draft.emission, &program, &error));
  for (int k = 0; k < 2; k++)
    ck_ok(cm_simulate(program, inputs, &how, NULL, NULL, &run, &output[k], &result, &error));
  ck_assert_uint_le(result.peak_bytes, bytes);
  ck_assert_int_eq(cm_tensor_deviates(output[0], expected, 1e-4, 1e-4), -1);
  ck_assert_mem_eq(output[0]->data, output[1]->data, output[0]->count * sizeof(float));
  *time_ns = result.time_ns;
  cm_tensor_free(output[0]);
  cm_tensor_free(output[1]);
  cm_program_free(program);
  cm_draft_free(&draft);
}

/* The bound, of the model without cut sums whatever the memory, holds for programs with them. */
static void check_bound(cm_model *model, uint64_t bytes, double time_ns)
{
  cm_settings settings;
  cm_plan_options options = plain(1 << 30, &settings);
  cm_plan *plan;
  cm_time_bound bound;
  ck_ok(cm_plan_new(model, NULL, &options, &run, &plan, &error));
  plan->memory_bytes = bytes;
  ck_ok(cm_time_bound_make(plan, chip->target, &run, &bound, &error));
  ck_assert_msg(bound.ns <= time_ns * (1 + 1e-9), "%g ns, bound %g", time_ns, bound.ns);
  cm_plan_free(plan);
}

static void check_cut(graph *g, uint64_t bytes, bool needed)
{
  cm_sums sums;
  cm_model *cut;
  cm_tensor *input, *expected;
  double time;
  const cm_shape *s = &g->model->values[g->model->inputs[0]].shape;
  input = graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1);
  ck_ok(cm_evaluate(g->model, &input, &run, &expected, &error));
  ck_ok(cm_sums_cut(g->model, chip->target, bytes, &run, &cut, &sums, &error));
  ck_assert_ptr_nonnull(cut);
  ck_assert_uint_eq(sums.operators, 1);
  ck_assert_uint_ge(sums.parts, 2);
  ck_assert_int_eq(sums.needed, needed);
  check_numbers(cut, bytes, &input, expected, &time);
  check_bound(g->model, bytes, time);
  cm_tensor_free(input);
  cm_tensor_free(expected);
  cm_model_free(cut);
}

/* More units, slow enough for the ports to keep up. */
static void slow_units(cm_target *target)
{
  for (uint32_t d = 0; d < target->device_count; d++) {
    target->device[d].units *= target->device[d].moves ? 1 : 4;
    for (uint32_t i = 0; i < target->device[d].rate_count[CM_UNIT_MATRIX]; i++)
      target->device[d].rate[CM_UNIT_MATRIX][i].per_ns = 1;
  }
  ck_ok(cm_target_number(target, &error));
  memset(target->core, 0, sizeof target->core);
}

START_TEST(few_long_sums_use_all_units)
{
  const cm_target kept = *chip->target;
  slow_units(chip->target);
  for (int kind = 0; kind < 3; kind++) {
    graph g = long_product(27000, pick(1, 3), kind);
    cm_model *cut;
    cm_sums sums;
    check_cut(&g, 2 << 20, false);
    ck_ok(cm_sums_cut(g.model, chip->target, 2 << 20, &run, &cut, &sums, &error));
    double whole = time_of(g.model, 2 << 20), parts = time_of(cut, 2 << 20);
    ck_assert_msg(parts < 0.5 * whole, "kind %d: %g ns cut, %g whole", kind, parts, whole);
    cm_model_free(cut);
    cm_model_free(g.model);
  }
  *chip->target = kept;
}
END_TEST

/* A sum of 27000 products needs 216 KB of operands at once, or parts. */
START_TEST(sums_too_long_for_the_memory_are_cut)
{
  for (int kind = 0; kind < 3; kind++) {
    graph g = long_product(27000, pick(2, 6), kind);
    cm_settings settings;
    cm_plan_options options = plain(64 << 10, &settings);
    cm_candidate made;
    ck_fails(cm_candidate_make(g.model, NULL, &options, &run, &made, &error), CM_TOO_LARGE);
    check_cut(&g, 64 << 10, true);
    cm_model_free(g.model);
  }
}
END_TEST

/* Nothing is cut where every unit has a piece without, or where the sum is short. */
START_TEST(what_gains_nothing_stays)
{
  for (int kind = 0; kind < 6; kind++) {
    graph g = kind < 3 ? long_product(27000, 64, kind) : long_product(90, 3, kind - 3);
    cm_model *cut;
    cm_sums sums;
    ck_ok(cm_sums_cut(g.model, chip->target, 2 << 20, &run, &cut, &sums, &error));
    ck_assert_ptr_null(cut);
    ck_assert_uint_eq(sums.operators, 0);
    cm_model_free(g.model);
  }
}
END_TEST

/* Operators with rules of their own for pieces, larger than the memory that they run in. */
START_TEST(einsums_and_rankings_run_in_pieces)
{
  for (int kind = 0; kind < 2; kind++) {
    graph g = graph_new(&rnd, &memory, 13);
    cm_tensor *input, *expected;
    double time;
    uint32_t x = graph_input(&g, 2, (int64_t[]){60, 40}), y;
    if (kind == 0) {
      y = graph_node(&g, "Einsum", x, graph_constant(&g, 2, (int64_t[]){40, 50}, -1), GRAPH_END);
      cm_node *node = graph_last(&g);
      node->attributes = cm_arena_allocate(&g.model->arena, 1, sizeof *node->attributes, &error);
      node->attributes[0] = (cm_attribute){.name = "equation", .kind = CM_ATTRIBUTE_STRING, .text = "ij,jk->ki", .count = 9};
      node->attribute_count = 1;
    } else
      y = graph_node(&g, "TopK", x, graph_integers(&g, 1, (int64_t[]){7}), GRAPH_END);
    graph_output(&g, y);
    graph_finish(&g, &run);
    input = graph_random_tensor(&rnd, &memory, 2, (int64_t[]){60, 40}, -1);
    ck_ok(cm_evaluate(g.model, &input, &run, &expected, &error));
    check_numbers(g.model, 6 << 10, &input, expected, &time);
    cm_tensor_free(input);
    cm_tensor_free(expected);
    cm_model_free(g.model);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("sums");
  TCase *tcase = tcase_create("all");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, few_long_sums_use_all_units);
  tcase_add_test(tcase, sums_too_long_for_the_memory_are_cut);
  tcase_add_test(tcase, what_gains_nothing_stays);
  tcase_add_test(tcase, einsums_and_rankings_run_in_pieces);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
