/* Products cut along what they sum over: the same numbers, faster where outputs are few, possible where one does not fit;
 * and operators with rules of their own for pieces. */
#include "judged.h"

#include "core/machine/plan/partial_sums.h"

/* Few outputs of long sums: a convolution over all of a small image with many channels, MatMul or Gemm, some with a
 * bias, some of what others made. */
static graph long_float_product(int64_t length, int64_t outputs, int kind)
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

static uint32_t constant_of(graph *g, cm_type type, uint32_t rank, const int64_t *dims, int64_t least, int64_t most)
{
  cm_tensor *t;
  uint32_t value;
  ck_ok(cm_tensor_new(&memory, type, rank, dims, &t, &error));
  for (uint64_t i = 0; i < t->count; i++)
    cm_tensor_put_number(t, i, type == CM_FLOAT ? (double)pick(least, most) / 1024 : (double)pick(least, most), false);
  ck_ok(cm_model_add_constant(g->model, "q", t, &value, &error));
  return value;
}

/* The same in 8 bits: kinds 3 and 4 leave their sums in 32, 5 and 6 put them in 8 again, with a scale a filter or one. */
static graph long_integer_product(int64_t length, int64_t outputs, int kind)
{
  graph g = graph_new(&rnd, &memory, 13);
  const bool image = kind % 2 == 0, scales = pick(0, 1) != 0;
  const int64_t dims[4] = {1, image ? length / 9 : 1, image ? 3 : length, 3}, filters[4] = {outputs, length / 9, 3, 3},
                columns[2] = {length, outputs}, *each = scales ? &outputs : NULL;
  uint32_t unit = constant_of(&g, CM_FLOAT, 0, NULL, 10, 10), zero = constant_of(&g, CM_UINT8, 0, NULL, 100, 140),
           x = graph_node(&g, "QuantizeLinear", graph_input(&g, image ? 4 : 3, dims), unit, zero, GRAPH_END),
           w = image ? constant_of(&g, CM_INT8, 4, filters, -128, 127) : constant_of(&g, CM_INT8, 2, columns, -128, 127),
           none = constant_of(&g, CM_INT8, scales, each, 0, 0), y;
  if (kind < 5)
    y = graph_node(&g, image ? "ConvInteger" : "MatMulInteger", x, w, zero, GRAPH_END);
  else {
    uint32_t scale = constant_of(&g, CM_FLOAT, scales, each, 5, 9), last = constant_of(&g, CM_FLOAT, 0, NULL, 60000, 70000),
             bias = constant_of(&g, CM_INT32, 1, &outputs, -50000, 50000);
    y = graph_node(&g, image ? "QLinearConv" : "QLinearMatMul", x, unit, zero, w, scale, none, last, zero,
                   image && pick(0, 1) ? bias : GRAPH_END, GRAPH_END);
  }
  graph_output(&g, y);
  graph_finish(&g, &run);
  return g;
}

static graph long_product(int64_t length, int64_t outputs, int kind)
{
  return kind < 3 ? long_float_product(length, outputs, kind) : long_integer_product(length, outputs, kind);
}

static double time_of(cm_model *model, uint64_t bytes)
{
  cm_settings settings;
  cm_plan_options options = plain(bytes, &settings);
  cm_plan_candidate made;
  ck_ok(cm_plan_candidate_make(model, NULL, &options, &run, &made, &error));
  return made.time_ns;
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
  check_numbers(cut, bytes, &input, &expected, &time);
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
  for (int kind = 0; kind < 7; kind++) {
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

/* A sum of 27000 products needs 216 KB of operands at once, in 8 bits 54, or parts. */
START_TEST(sums_too_long_for_the_memory_are_cut)
{
  for (int kind = 0; kind < 7; kind++) {
    const uint64_t bytes = kind < 3 ? 64 << 10 : 32 << 10;
    graph g = long_product(kind < 3 ? 27000 : 17991, pick(2, 6), kind);
    cm_settings settings;
    cm_plan_options options = plain(bytes, &settings);
    cm_plan_candidate made;
    ck_fails(cm_plan_candidate_make(g.model, NULL, &options, &run, &made, &error), CM_TOO_LARGE);
    check_cut(&g, bytes, true);
    cm_model_free(g.model);
  }
}
END_TEST

/* Nothing is cut where every unit has a piece without, or where the sum is short. */
START_TEST(what_gains_nothing_stays)
{
  for (int kind = 0; kind < 14; kind++) {
    graph g = kind < 7 ? long_product(27000, 64, kind) : long_product(90, 3, kind - 7);
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
    check_numbers(g.model, 6 << 10, &input, &expected, &time);
    cm_tensor_free(input);
    cm_tensor_free(expected);
    cm_model_free(g.model);
  }
}
END_TEST

/* Columns of 8 x 40 numbers that lie in one row of 320: parts of eight rows each, and nothing is made in between. */
START_TEST(reshapes_are_read_in_boxes)
{
  graph g = graph_new(&rnd, &memory, 13);
  cm_settings settings;
  cm_plan_options options = plain(2 << 10, &settings);
  cm_plan *plan;
  cm_tensor *input = graph_random_tensor(&rnd, &memory, 1, (int64_t[]){320}, -1), *expected;
  double time;
  uint32_t x = graph_node(&g, "Relu", graph_input(&g, 1, (int64_t[]){320}), GRAPH_END);
  x = graph_node(&g, "Reshape", x, graph_integers(&g, 2, (int64_t[]){8, 40}), GRAPH_END);
  graph_output(&g, graph_node(&g, "Softmax", x, GRAPH_END));
  graph_int(&g, "axis", 0);
  graph_finish(&g, &run);
  ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
  ck_assert_uint_eq(plan->op_count, 2);
  ck_assert_uint_gt(plan->ops[1].piece_count, 1);
  cm_plan_free(plan);
  ck_ok(cm_evaluate(g.model, &input, &run, &expected, &error));
  check_numbers(g.model, 2 << 10, &input, &expected, &time);
  check_bound(g.model, 2 << 10, time);
  cm_tensor_free(input);
  cm_tensor_free(expected);
  cm_model_free(g.model);
}
END_TEST

/* Batches of products written as an Einsum take what the same MatMul takes, and sums that are none do not go to matrix units. */
START_TEST(einsums_that_are_products_go_to_matrix_units)
{
  static const struct {
    const char *equation;
    bool product;
  } cases[] = {{"bij,bjk->bik", true}, {"bij,bjk->kbi", true}, {"bij,bjk->bk", false}, {"bij,bjj->bi", false}, {"bij,bjk->bijk", false}};
  double matmul = 0;
  for (int k = -1; k < (int)(sizeof cases / sizeof *cases); k++) {
    graph g = graph_new(&rnd, &memory, 13);
    uint32_t x = graph_input(&g, 3, (int64_t[]){4, 64, 64}), w = graph_constant(&g, 3, (int64_t[]){4, 64, 64}, -1);
    graph_output(&g, graph_node(&g, k < 0 ? "MatMul" : "Einsum", x, w, GRAPH_END));
    if (k >= 0)
      set_text(&g, "equation", cases[k].equation);
    graph_finish(&g, &run);
    cm_settings settings;
    cm_plan_options options = plain(2 << 20, &settings);
    cm_plan *plan;
    ck_ok(cm_plan_new(g.model, NULL, &options, &run, &plan, &error));
    ck_assert_int_eq(plan->ops[0].kind, k < 0 || cases[k].product ? CM_UNIT_MATRIX : CM_UNIT_VECTOR);
    cm_plan_free(plan);
    double time = time_of(g.model, 2 << 20);
    matmul = k < 0 ? time : matmul;
    if (k == 0)
      ck_assert_msg(time < 1.1 * matmul, "%g ns, as MatMul %g", time, matmul);
    cm_model_free(g.model);
  }
}
END_TEST

/* A row of 1 x 3 x 40 x 40 resized, by sizes that are no multiples, in every way that says where an element lies. */
static void make_resize(graph *g)
{
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const places[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"};
  static const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  const int64_t sizes[4] = {1, 3, pick(9, 70), pick(9, 70)};
  uint32_t x = graph_node(g, "Relu", graph_input(g, 4, (int64_t[]){1, 3, 40, 40}), GRAPH_END);
  graph_output(g, graph_node(g, "Resize", x, CM_NONE, CM_NONE, graph_integers(g, 4, sizes), GRAPH_END));
  set_text(g, "mode", modes[pick(0, 2)]);
  set_text(g, "coordinate_transformation_mode", places[pick(0, 4)]);
  set_text(g, "nearest_mode", nearest[pick(0, 3)]);
  graph_int(g, "antialias", pick(0, 1));
  graph_int(g, "exclude_outside", pick(0, 1));
}

/* An operator with two outputs, both of them used. */
static void add_pair(graph *g, const char *op, const uint32_t *inputs, uint32_t count, uint32_t outputs[2])
{
  uint32_t node;
  outputs[0] = graph_value(g);
  outputs[1] = graph_value(g);
  ck_ok(cm_model_add_node(g->model, op, inputs, count, outputs, 2, &node, &error));
}

static void make_ranking(graph *g)
{
  uint32_t inputs[2] = {graph_node(g, "Relu", graph_input(g, 3, (int64_t[]){2, 60, 40}), GRAPH_END)}, outputs[2];
  inputs[1] = graph_integers(g, 1, (int64_t[]){7});
  add_pair(g, "TopK", inputs, 2, outputs);
  graph_int(g, "axis", pick(1, 2));
  graph_output(g, outputs[0]);
  graph_output(g, outputs[1]);
}

static void make_pool(graph *g)
{
  uint32_t x = graph_node(g, "Relu", graph_input(g, 4, (int64_t[]){1, 3, 40, 41}), GRAPH_END), outputs[2];
  add_pair(g, "MaxPool", &x, 1, outputs);
  graph_ints(g, "kernel_shape", 2, (int64_t[]){pick(2, 3), pick(2, 3)});
  graph_ints(g, "strides", 2, (int64_t[]){2, pick(1, 2)});
  graph_ints(g, "pads", 4, (int64_t[]){pick(0, 1), 0, 1, pick(0, 1)});
  graph_int(g, "storage_order", pick(0, 1));
  graph_output(g, outputs[0]);
  graph_output(g, outputs[1]);
}

/* Put where it came from: the indices of a pool. */
static void make_unpool(graph *g)
{
  uint32_t x = graph_node(g, "Relu", graph_input(g, 4, (int64_t[]){1, 2, 32, 16}), GRAPH_END), outputs[2];
  add_pair(g, "MaxPool", &x, 1, outputs);
  graph_ints(g, "kernel_shape", 2, (int64_t[]){4, 4});
  graph_ints(g, "strides", 2, (int64_t[]){4, 4});
  graph_output(g, graph_node(g, "MaxUnpool", outputs[0], outputs[1], GRAPH_END));
  graph_ints(g, "kernel_shape", 2, (int64_t[]){4, 4});
  graph_ints(g, "strides", 2, (int64_t[]){4, 4});
}

/* Rows of Resize and MaxUnpool and operators of two outputs, none of which fits whole. */
START_TEST(resizes_and_pairs_of_outputs_run_in_pieces)
{
  static void (*const makers[])(graph *) = {make_resize, make_ranking, make_pool, make_unpool};
  static const uint64_t bytes[] = {8 << 10, 8 << 10, 8 << 10, 3 << 10};
  for (unsigned round = 0; round < (_i == 0 ? 16 : 3); round++) {
    graph g = graph_new(&rnd, &memory, 19);
    cm_tensor *input, *expected[OUTPUTS_MAX] = {0};
    double time;
    makers[_i](&g);
    graph_finish(&g, &run);
    const cm_shape *s = &g.model->values[g.model->inputs[0]].shape;
    input = graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1);
    ck_ok(cm_evaluate(g.model, &input, &run, expected, &error));
    check_numbers(g.model, bytes[_i], &input, expected, &time);
    check_bound(g.model, bytes[_i], time);
    cm_tensor_free(input);
    for (int o = 0; o < OUTPUTS_MAX; o++)
      cm_tensor_free(expected[o]);
    cm_model_free(g.model);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("sums");
  TCase *tcase = tcase_create("all");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_test(tcase, few_long_sums_use_all_units);
  tcase_add_test(tcase, sums_too_long_for_the_memory_are_cut);
  tcase_add_test(tcase, what_gains_nothing_stays);
  tcase_add_test(tcase, einsums_and_rankings_run_in_pieces);
  tcase_add_test(tcase, reshapes_are_read_in_boxes);
  tcase_add_test(tcase, einsums_that_are_products_go_to_matrix_units);
  tcase_add_loop_test(tcase, resizes_and_pairs_of_outputs_run_in_pieces, 0, 4);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
