/* Operators whose elements need inputs at their own places alone. The formulas are those of core/operators/ops, with the same
 * roundings. */
#include <math.h>
#include <string.h>

#include "core/csource/text/writer.h"

enum { EXPRESSION_MAX = 600 };

/* One loop over the output with these inputs broadcast to it; with an `axis` all but the first hold a number each of its elements, or one for all. */
static cm_status loop_along(cm_c_piece *piece, cm_c_pointwise p, uint32_t count, uint32_t axis, cm_error *error)
{
  const cm_shape *y = &piece->call.output[0];
  p.rank = y->rank;
  p.output_count++; /* beside those that are there */
  memcpy(p.dims, y->dims, sizeof p.dims);
  for (uint32_t k = 0; k < count; k++) {
    const cm_shape *x = &piece->call.input[k];
    const bool wide = k == 0 || axis == CM_NONE;
    cm_c_stream *s = &p.inputs[p.input_count];
    if (wide && cm_c_input_stream(piece, k, y, s, error) != CM_OK)
      return error->status;
    if (!wide && cm_has(&piece->call, k)) {
      s->type = x->type;
      s->strides[axis] = cm_c_count(x->rank, x->dims) > 1;
      CM_TRY(cm_c_input(piece, k, s->at, error));
    }
    p.input_count += wide || cm_has(&piece->call, k);
  }
  CM_TRY(cm_c_output_stream(piece, 0, &p.outputs[0], error));
  return cm_c_pointwise_call(piece, &p, error);
}

static cm_status loop(cm_c_piece *piece, const char *stem, uint32_t count, const char *expression, cm_error *error)
{
  return loop_along(piece, (cm_c_pointwise){.stem = stem, .expressions = {expression}}, count, CM_NONE, error);
}

/* ---- one input ---- */

static const struct {
  const char *formula; /* in double */
  float alpha, beta;
  const char *alpha_name, *beta_name;
} unary_table[CM_VARIANT_COUNT] = {
#define UNARY(variant, expression, a, b, a_name, b_name) [CM_VARIANT_##variant] = {#expression, a, b, a_name, b_name},
#include "core/operators/ops/unary.def"
#undef UNARY
};

/* Functions of a whole number, which wrap. */
static const char *const whole_unary[CM_VARIANT_COUNT] = {
  [CM_VARIANT_ABS] = "a > 0 ? (uint64_t)a : 0 - (uint64_t)a", [CM_VARIANT_NEG] = "0 - (uint64_t)a", [CM_VARIANT_RELU] = "a > 0 ? a : 0",
  [CM_VARIANT_SIGN] = "a > 0 ? 1 : 0 - (uint64_t)(a != 0)", [CM_VARIANT_BIT_NOT] = "~(uint64_t)a"};

cm_status cm_c_unary(cm_c_piece *piece, cm_error *error)
{
  const cm_node *node = piece->call.node;
  const cm_operator_variant kind = node->known->variant;
  const cm_type type = piece->call.input[0].type;
  char a[48], b[48], formula[EXPRESSION_MAX], expression[EXPRESSION_MAX + 20];
  const char *text = unary_table[kind].formula;
  if (kind == CM_VARIANT_GELU && strcmp(cm_node_text(node, "approximate", "none"), "tanh") == 0)
    text = "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))";
  if (kind == CM_VARIANT_SIGMOID && type == CM_FLOAT)
    text = "sigmoid(x)";
  /* What rounds once is the same in float32. */
  const bool single = type == CM_FLOAT && (kind == CM_VARIANT_RELU || kind == CM_VARIANT_NEG || kind == CM_VARIANT_LEAKY_RELU || kind == CM_VARIANT_SIGN ||
                                           kind == CM_VARIANT_THRESHOLDED_RELU || kind == CM_VARIANT_SIGMOID);
  if (cm_type_is_integer(type) && whole_unary[kind] != NULL && cm_c_type(type) != NULL) {
    (void)snprintf(expression, sizeof expression, "(%s)(%s)", cm_c_type(type), whole_unary[kind]);
    return loop(piece, node->op, 1, expression, error);
  }
  if (text == NULL || (type != CM_FLOAT && type != CM_DOUBLE))
    return cm_c_refuse(piece, error, "computes %s, of which C is not written", cm_type_name(type));
  cm_c_number((double)cm_node_number(node, unary_table[kind].alpha_name, unary_table[kind].alpha), single, a);
  cm_c_number((double)cm_node_number(node, unary_table[kind].beta_name, unary_table[kind].beta), single, b);
  cm_c_fill(text, single || type == CM_DOUBLE ? "a" : "(double)a", a, b, formula, sizeof formula);
  (void)snprintf(expression, sizeof expression, single || type == CM_DOUBLE ? "%s" : "(float)(%s)", formula);
  return loop(piece, node->op, 1, expression, error);
}

cm_status cm_c_logical_unary(cm_c_piece *piece, cm_error *error)
{
  return loop(piece, "Not", 1, "(uint8_t)(a == 0)", error);
}

cm_status cm_c_float_test(cm_c_piece *piece, cm_error *error)
{
  const cm_node *node = piece->call.node;
  char expression[80] = "(uint8_t)(isnan(a) != 0)";
  if (node->known->variant != CM_VARIANT_NOT_A_NUMBER)
    (void)snprintf(expression, sizeof expression, "isinf(a) && (a < 0 ? %d : %d)", cm_node_integer(node, "detect_negative", 1) != 0,
                   cm_node_integer(node, "detect_positive", 1) != 0);
  return loop(piece, node->op, 1, expression, error);
}

/* Bounds of floating point that are both known are numbers; else those that there are come in streams, b and c. */
cm_status cm_c_clip(cm_c_piece *piece, cm_error *error)
{
  static const char *const names[] = {"min", "max"};
  const cm_call *call = &piece->call;
  const cm_type type = call->input[0].type;
  const bool real = type == CM_FLOAT || type == CM_DOUBLE;
  char bounds[2][48], made[80] = "a", expression[EXPRESSION_MAX];
  const bool comes = !real || (cm_has(call, 1) && call->value[1] == NULL) || (cm_has(call, 2) && call->value[2] == NULL);
  char letter = 'b';
  for (uint32_t k = 1; k < 3; k++)
    if (comes && cm_has(call, k))
      (void)snprintf(bounds[k - 1], sizeof bounds[0], "%c", letter++);
    else
      cm_c_number(cm_has(call, k) ? cm_tensor_number(call->value[k], 0) : (double)cm_node_number(call->node, names[k - 1], k == 1 ? -INFINITY : INFINITY),
                  type == CM_FLOAT, bounds[k - 1]);
  if (real)
    (void)snprintf(expression, sizeof expression, "(a < %s ? %s : a) > %s ? %s : a < %s ? %s : a", bounds[0], bounds[0], bounds[1], bounds[1], bounds[0], bounds[0]);
  else {
    if (cm_has(call, 1))
      (void)snprintf(made, sizeof made, "(a > b ? a : b)");
    (void)snprintf(expression, sizeof expression, cm_has(call, 2) ? "(%s)(%s < %s ? %s : %s)" : "(%s)%s", cm_c_type(type), made, bounds[1], made, bounds[1]);
  }
  return loop_along(piece, (cm_c_pointwise){.stem = "Clip", .expressions = {expression}}, comes ? 3 : 1, comes ? 0 : CM_NONE, error);
}

cm_status cm_c_cast(cm_c_piece *piece, cm_error *error)
{
  const cm_type from = piece->call.input[0].type, to = piece->call.output[0].type;
  const bool rounds = cm_type_is_integer(to) && !cm_type_is_integer(from);
  char expression[80];
  (void)snprintf(expression, sizeof expression, to == CM_BOOL ? "(%s)(a != 0)" : rounds ? "(%s)whole((double)a)" : "(%s)a", cm_c_type(to));
  return loop(piece, "Cast", 1, expression, error);
}

/* As it was, but in training; its mask is ones. */
cm_status cm_c_dropout(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const bool trains = cm_has(call, 2) && (call->value[2] == NULL || cm_tensor_integer(call->value[2], 0) != 0);
  cm_c_pointwise p = {.stem = "Dropout", .expressions = {"a", "1"}};
  if (trains && (!cm_has(call, 1) || call->value[1] == NULL || cm_tensor_number(call->value[1], 0) > 0))
    return cm_c_refuse(piece, error, "drops numbers as in training, of which C is not written");
  p.output_count = cm_c_makes(piece, 1);
  CM_TRY_IF(p.output_count > 0, cm_c_output_stream(piece, 1, &p.outputs[1], error));
  return loop_along(piece, p, 1, CM_NONE, error);
}

/* ---- several inputs ---- */

/* Functions of two numbers: of floating point (double: where it has another name), and of whole ones, which wrap; NULL: none is written. */
static const struct {
  const char *real, *whole, *wide;
} binary_table[CM_VARIANT_COUNT] = {
  [CM_VARIANT_SUM] = {"a + b", "(uint64_t)a + (uint64_t)b", NULL}, [CM_VARIANT_DIFFERENCE] = {"a - b", "(uint64_t)a - (uint64_t)b", NULL},
  [CM_VARIANT_PRODUCT] = {"a * b", "(uint64_t)a * (uint64_t)b", NULL}, [CM_VARIANT_QUOTIENT] = {"a / b", "quotient((int64_t)a, (int64_t)b)", NULL},
  [CM_VARIANT_MAX] = {"a > b || isnan(a) ? a : b", "a > b ? a : b", NULL}, [CM_VARIANT_MIN] = {"a < b || isnan(a) ? a : b", "a < b ? a : b", NULL},
  [CM_VARIANT_MODULO] = {"fmodf(a, b)", "modulo((int64_t)a, (int64_t)b)", "fmod(a, b)"},
  [CM_VARIANT_PRELU] = {"a < 0 ? a * b : a", "a > 0 ? (uint64_t)a : (uint64_t)a * (uint64_t)b", NULL},
  [CM_VARIANT_POWER] = {"powf(a, b)", "(int64_t)fmax(-9.2e18, fmin(9.2e18, pow((double)a, (double)b)))", "pow(a, b)"},
  [CM_VARIANT_BIT_SHIFT] = {NULL, "(uint64_t)b < 8 * sizeof a ? (uint64_t)a << b : 0", NULL},
#define SAME(variant, formula) [CM_VARIANT_##variant] = {formula, formula, NULL}
  SAME(BIT_AND, "a & b"), SAME(BIT_OR, "a | b"), SAME(BIT_XOR, "a ^ b"),
  SAME(EQUAL, "a == b"), SAME(LESS, "a < b"), SAME(LESS_OR_EQUAL, "a <= b"), SAME(GREATER, "a > b"), SAME(GREATER_OR_EQUAL, "a >= b"),
  SAME(AND, "a && b"), SAME(OR, "a || b"), SAME(XOR, "!a != !b")};
#undef SAME

/* What a node makes of two numbers of a type; an attribute may choose. */
static const char *binary_formula(const cm_node *node, cm_type type)
{
  const cm_operator_variant kind = node->known->variant;
  const bool whole = cm_type_is_integer(type);
  if (kind == CM_VARIANT_BIT_SHIFT && strcmp(cm_node_text(node, "direction", "LEFT"), "RIGHT") == 0)
    return "(uint64_t)b < 8 * sizeof a ? (uint64_t)a >> b : 0";
  if (kind == CM_VARIANT_MODULO && whole && cm_node_integer(node, "fmod", 0) != 0)
    return type == CM_UINT64 ? NULL : "b == 0 || (int64_t)b == -1 ? 0 : a % b";
  if (type == CM_UINT64 && (kind == CM_VARIANT_QUOTIENT || kind == CM_VARIANT_MODULO))
    return NULL;
  return whole ? binary_table[kind].whole : type == CM_DOUBLE && binary_table[kind].wide != NULL ? binary_table[kind].wide : binary_table[kind].real;
}

cm_status cm_c_binary(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_type type = call->input[0].type, made = call->output[0].type;
  const char *formula = binary_formula(call->node, type);
  char expression[120];
  if (call->input[1].type != type) /* a Pow of two types */
    formula = call->node->known->variant != CM_VARIANT_POWER ? NULL : cm_type_is_integer(made) ? "whole(pow((double)a, (double)b))" : "pow((double)a, (double)b)";
  if (formula == NULL || cm_c_type(type) == NULL)
    return cm_c_refuse(piece, error, "computes %s and %s, of which C is not written", cm_type_name(type), cm_type_name(call->input[1].type));
  (void)snprintf(expression, sizeof expression, "(%s)(%s)", cm_c_type(made), formula);
  return loop(piece, call->node->op, 2, expression, error);
}

cm_status cm_c_variadic(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const bool mean = call->node->known->variant == CM_VARIANT_MEAN;
  const char *formula = binary_table[mean ? CM_VARIANT_SUM : call->node->known->variant].real;
  char made[EXPRESSION_MAX] = "a";
  if (call->input_count == 2 && call->input[0].type != CM_FLOAT)
    return cm_c_binary(piece, error);
  if (call->input[0].type != CM_FLOAT || call->input_count > 8)
    return cm_c_refuse(piece, error, "joins %u inputs of %s, where up to 8 of float32 are written", call->input_count,
                            cm_type_name(call->input[0].type));
  for (uint32_t k = 1; k < call->input_count; k++)
    (void)snprintf(made, sizeof made, formula[2] == '+' ? "%.500s + %c" : formula[2] == '>' ? "larger(%.500s, %c)" : "smaller(%.500s, %c)", cm_say("%s", made).text, (char)('a' + k));
  if (mean)
    (void)snprintf(made, sizeof made, "(%.500s) / (float)%u", cm_say("%s", made).text, call->input_count);
  return loop(piece, call->node->op, call->input_count, made, error);
}

cm_status cm_c_where(cm_c_piece *piece, cm_error *error)
{
  return loop(piece, "Where", 3, "a ? b : c", error);
}

/* ---- quantized numbers ---- */

/* With scale and zero point: one, or one an element of an axis. */
static cm_status quantized_loop(cm_c_piece *piece, const char *stem, const char *expression, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  uint32_t axis = 0;
  if (cm_node_integer(call->node, "block_size", 0) != 0)
    return cm_c_refuse(piece, error, "has scales by blocks, of which C is not written");
  if (cm_call_axis(call, cm_node_integer(call->node, "axis", 1), x->rank == 0 ? 1 : x->rank, &axis, error) != CM_OK && call->input[1].rank > 0)
    return error->status;
  return loop_along(piece, (cm_c_pointwise){.stem = stem, .expressions = {expression}}, call->input_count < 3 ? call->input_count : 3, axis, error);
}

cm_status cm_c_quantize(cm_c_piece *piece, cm_error *error)
{
  const cm_type to = piece->call.output[0].type;
  char expression[120];
  if (piece->call.input[0].type != CM_FLOAT || (to != CM_INT8 && to != CM_UINT8))
    return cm_c_refuse(piece, error, "makes %s of %s, of which C is not written", cm_type_name(to), cm_type_name(piece->call.input[0].type));
  (void)snprintf(expression, sizeof expression, "quantize_%s(a / b, %s)", to == CM_INT8 ? "int8" : "uint8", cm_has(&piece->call, 2) ? "c" : "0");
  return quantized_loop(piece, "quantize", expression, error);
}

cm_status cm_c_dequantize(cm_c_piece *piece, cm_error *error)
{
  const cm_type from = piece->call.input[0].type;
  if (cm_c_type(from) == NULL || !cm_type_is_integer(from) || from == CM_INT64 || from == CM_UINT64)
    return cm_c_refuse(piece, error, "reads %s, of which C is not written", cm_type_name(from));
  return quantized_loop(piece, "dequantize", cm_has(&piece->call, 2) ? "(float)(((double)a - (double)c) * (double)b)" : "(float)((double)a * (double)b)", error);
}

/* ---- normalization by known numbers ---- */

cm_status cm_c_batch_norm(cm_c_piece *piece, cm_error *error)
{
  char ahead[100], epsilon[48];
  cm_c_number((double)cm_node_number(piece->call.node, "epsilon", 1e-5F), false, epsilon);
  (void)snprintf(ahead, sizeof ahead, "(double)b / sqrt((double)e + %s)", epsilon);
  return loop_along(piece, (cm_c_pointwise){.stem = "batch_norm", .expressions = {"(float)(((double)a - (double)d) * k + (double)c)"}, .ahead = ahead}, 5, 1, error);
}
