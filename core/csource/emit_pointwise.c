/* Operators whose elements need inputs at their own places alone, and cells. The formulas are those of core/operators/ops, with the same
 * roundings. */
#include <math.h>
#include <string.h>

#include "core/operators/recurrent.h"
#include "core/csource/writer.h"

enum { EXPRESSION_MAX = 600 };

/* One loop over the output with these inputs broadcast to it. */
static cm_status loop(cm_c_piece *piece, const char *stem, const uint32_t *inputs, uint32_t count, const char *expression, cm_error *error)
{
  const cm_shape *y = &piece->call.output[0];
  cm_c_pointwise p = {.stem = stem, .rank = y->rank, .input_count = count, .output_count = 1, .expressions = {expression}};
  memcpy(p.dims, y->dims, sizeof p.dims);
  for (uint32_t k = 0; k < count; k++)
    if (cm_c_input_stream(piece, inputs[k], y, &p.inputs[k], error) != CM_OK)
      return error->status;
  if (cm_c_output_stream(piece, 0, &p.outputs[0], error) != CM_OK)
    return error->status;
  return cm_c_pointwise_call(piece, &p, error);
}

static const uint32_t in_order[CM_C_STREAMS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* ---- one input ---- */

/* Formulas of x in double; $a and $b are the attributes. */
static const struct {
  const char *formula;
  double alpha, beta;
  const char *alpha_name, *beta_name;
} unary_table[CM_VARIANT_COUNT] = {
  [CM_VARIANT_ABS] = {"fabs(x)", 0, 0, "", ""},
  [CM_VARIANT_ACOS] = {"acos(x)", 0, 0, "", ""},
  [CM_VARIANT_ACOSH] = {"acosh(x)", 0, 0, "", ""},
  [CM_VARIANT_ASIN] = {"asin(x)", 0, 0, "", ""},
  [CM_VARIANT_ASINH] = {"asinh(x)", 0, 0, "", ""},
  [CM_VARIANT_ATAN] = {"atan(x)", 0, 0, "", ""},
  [CM_VARIANT_ATANH] = {"atanh(x)", 0, 0, "", ""},
  [CM_VARIANT_CEIL] = {"ceil(x)", 0, 0, "", ""},
  [CM_VARIANT_CELU] = {"x > 0 ? x : $a * expm1(x / $a)", 1, 0, "alpha", ""},
  [CM_VARIANT_COS] = {"cos(x)", 0, 0, "", ""},
  [CM_VARIANT_COSH] = {"cosh(x)", 0, 0, "", ""},
  [CM_VARIANT_ELU] = {"x > 0 ? x : $a * expm1(x)", 1, 0, "alpha", ""},
  [CM_VARIANT_ERF] = {"erf(x)", 0, 0, "", ""},
  [CM_VARIANT_EXP] = {"exp(x)", 0, 0, "", ""},
  [CM_VARIANT_FLOOR] = {"floor(x)", 0, 0, "", ""},
  [CM_VARIANT_GELU] = {"0.5 * x * (1 + erf(x * 0.7071067811865476))", 0, 0, "", ""},
  [CM_VARIANT_HARD_SIGMOID] = {"fmax(0, fmin(1, $a * x + $b))", 0.2F, 0.5F, "alpha", "beta"},
  [CM_VARIANT_HARD_SWISH] = {"x * fmax(0, fmin(1, x / 6 + 0.5))", 0, 0, "", ""},
  [CM_VARIANT_LEAKY_RELU] = {"x < 0 ? $a * x : x", 0.01F, 0, "alpha", ""},
  [CM_VARIANT_LOG] = {"log(x)", 0, 0, "", ""},
  [CM_VARIANT_MISH] = {"x * tanh(log1p(exp(x)))", 0, 0, "", ""},
  [CM_VARIANT_NEG] = {"-x", 0, 0, "", ""},
  [CM_VARIANT_RECIPROCAL] = {"1 / x", 0, 0, "", ""},
  [CM_VARIANT_RELU] = {"x > 0 || isnan(x) ? x : 0", 0, 0, "", ""},
  [CM_VARIANT_ROUND] = {"nearbyint(x)", 0, 0, "", ""},
  [CM_VARIANT_SELU] = {"x > 0 ? $b * x : $b * $a * expm1(x)", 1.67326319217681884765625F, 1.05070102214813232421875F, "alpha", "gamma"},
  [CM_VARIANT_SHRINK] = {"x < -$a ? x + $b : x > $a ? x - $b : 0", 0.5F, 0, "lambd", "bias"},
  [CM_VARIANT_SIGMOID] = {"1 / (1 + exp(-x))", 0, 0, "", ""},
  [CM_VARIANT_SIGN] = {"x > 0 ? 1 : x < 0 ? -1 : x", 0, 0, "", ""},
  [CM_VARIANT_SIN] = {"sin(x)", 0, 0, "", ""},
  [CM_VARIANT_SINH] = {"sinh(x)", 0, 0, "", ""},
  [CM_VARIANT_SOFTPLUS] = {"x > 30 ? x : log1p(exp(x))", 0, 0, "", ""},
  [CM_VARIANT_SOFTSIGN] = {"x / (1 + fabs(x))", 0, 0, "", ""},
  [CM_VARIANT_SQRT] = {"sqrt(x)", 0, 0, "", ""},
  [CM_VARIANT_SWISH] = {"x / (1 + exp(-$a * x))", 1, 0, "alpha", ""},
  [CM_VARIANT_TAN] = {"tan(x)", 0, 0, "", ""},
  [CM_VARIANT_TANH] = {"tanh(x)", 0, 0, "", ""},
  [CM_VARIANT_THRESHOLDED_RELU] = {"x > $a ? x : 0", 1, 0, "alpha", ""},
};

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void cm_c_fill(const char *formula, const char *x, const char *a, const char *b, char *made, size_t size)
{
  made[0] = '\0';
  for (const char *c = formula; *c != '\0'; c++)
    if (*c == '$')
      cm_c_add(made, size, "%s", *++c == 'a' ? a : b);
    else if (*c == 'x' && (c == formula || !is_letter(c[-1])) && !is_letter(c[1]))
      cm_c_add(made, size, "%s", x);
    else
      cm_c_add(made, size, "%c", *c);
}

cm_status cm_c_unary(cm_c_piece *piece, cm_error *error)
{
  const cm_node *node = piece->call.node;
  const cm_operator_variant kind = node->known->variant;
  const cm_type type = piece->call.input[0].type;
  char a[48], b[48], formula[EXPRESSION_MAX], expression[EXPRESSION_MAX + 20];
  const char *text = unary_table[kind].formula;
  if (kind == CM_VARIANT_GELU && strcmp(cm_node_text(node, "approximate", "none"), "tanh") == 0)
    text = "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))";
  const double alpha = (double)cm_node_number(node, unary_table[kind].alpha_name, (float)unary_table[kind].alpha),
               beta = (double)cm_node_number(node, unary_table[kind].beta_name, (float)unary_table[kind].beta);
  /* What rounds once is the same in float32. */
  const bool single = kind == CM_VARIANT_RELU || kind == CM_VARIANT_NEG || kind == CM_VARIANT_LEAKY_RELU || kind == CM_VARIANT_THRESHOLDED_RELU ||
                      kind == CM_VARIANT_SIGN;
  if (text == NULL || type != CM_FLOAT)
    return cm_c_refuse(piece, error, "computes %s, of which C is not written", cm_type_name(type));
  cm_c_number(alpha, single, a);
  cm_c_number(beta, single, b);
  cm_c_fill(text, single ? "a" : "(double)a", a, b, formula, sizeof formula);
  (void)snprintf(expression, sizeof expression, single ? "%s" : "(float)(%s)", formula);
  return loop(piece, node->op, in_order, 1, expression, error);
}

cm_status cm_c_logical_unary(cm_c_piece *piece, cm_error *error)
{
  return loop(piece, "Not", in_order, 1, "(uint8_t)(a == 0)", error);
}

cm_status cm_c_clip(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  char low[48], high[48], expression[EXPRESSION_MAX];
  if (call->input[0].type != CM_FLOAT || (cm_has(call, 1) && call->value[1] == NULL) || (cm_has(call, 2) && call->value[2] == NULL))
    return cm_c_refuse(piece, error, "clips %s to bounds of which C is not written: constants of float32 are", cm_type_name(call->input[0].type));
  cm_c_number(cm_has(call, 1) ? cm_tensor_number(call->value[1], 0) : (double)cm_node_number(call->node, "min", -INFINITY), true, low);
  cm_c_number(cm_has(call, 2) ? cm_tensor_number(call->value[2], 0) : (double)cm_node_number(call->node, "max", INFINITY), true, high);
  (void)snprintf(expression, sizeof expression, "(a < %s ? %s : a) > %s ? %s : a < %s ? %s : a", low, low, high, high, low, low);
  return loop(piece, "Clip", in_order, 1, expression, error);
}

cm_status cm_c_cast(cm_c_piece *piece, cm_error *error)
{
  const cm_type from = piece->call.input[0].type, to = piece->call.output[0].type;
  char expression[80];
  if (cm_c_type(from) == NULL || cm_c_type(to) == NULL || (cm_type_is_integer(to) && !cm_type_is_integer(from)))
    return cm_c_refuse(piece, error, "makes %s of %s, of which C is not written", cm_type_name(to), cm_type_name(from));
  (void)snprintf(expression, sizeof expression, to == CM_BOOL ? "(%s)(a != 0)" : "(%s)a", cm_c_type(to));
  return loop(piece, "Cast", in_order, 1, expression, error);
}

/* ---- several inputs ---- */

/* The function of two numbers a and b; NULL: none is written for the type. */
static const char *binary_formula(cm_operator_variant kind, cm_type type)
{
  const bool real = type == CM_FLOAT;
  switch ((int)kind) {
  case CM_VARIANT_SUM: return "a + b";
  case CM_VARIANT_DIFFERENCE: return "a - b";
  case CM_VARIANT_PRODUCT: return "a * b";
  case CM_VARIANT_QUOTIENT: return real ? "a / b" : NULL;
  case CM_VARIANT_MAX: return real ? "a > b || isnan(a) ? a : b" : "a > b ? a : b";
  case CM_VARIANT_MIN: return real ? "a < b || isnan(a) ? a : b" : "a < b ? a : b";
  case CM_VARIANT_MODULO: return real ? "fmodf(a, b)" : NULL;
  case CM_VARIANT_PRELU: return real ? "a < 0 ? a * b : a" : NULL;
  case CM_VARIANT_POWER: return real ? "powf(a, b)" : NULL;
  case CM_VARIANT_EQUAL: return "a == b";
  case CM_VARIANT_LESS: return "a < b";
  case CM_VARIANT_LESS_OR_EQUAL: return "a <= b";
  case CM_VARIANT_GREATER: return "a > b";
  case CM_VARIANT_GREATER_OR_EQUAL: return "a >= b";
  case CM_VARIANT_AND: return "a && b";
  case CM_VARIANT_OR: return "a || b";
  case CM_VARIANT_XOR: return "!a != !b";
  default: return NULL;
  }
}

cm_status cm_c_binary(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_type type = call->input[0].type;
  const char *formula = binary_formula(call->node->known->variant, type);
  char expression[120];
  if (formula == NULL || call->input[1].type != type || cm_c_type(type) == NULL || type == CM_DOUBLE)
    return cm_c_refuse(piece, error, "computes %s and %s, of which C is not written", cm_type_name(type), cm_type_name(call->input[1].type));
  (void)snprintf(expression, sizeof expression, "(%s)(%s)", cm_c_type(call->output[0].type), formula);
  return loop(piece, call->node->op, in_order, 2, expression, error);
}

cm_status cm_c_variadic(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const bool mean = call->node->known->variant == CM_VARIANT_MEAN;
  const char *formula = binary_formula(mean ? CM_VARIANT_SUM : call->node->known->variant, CM_FLOAT);
  char made[EXPRESSION_MAX] = "a", before[EXPRESSION_MAX];
  if (call->input[0].type != CM_FLOAT || call->input_count > 8)
    return cm_c_refuse(piece, error, "joins %u inputs of %s, where up to 8 of float32 are written", call->input_count,
                            cm_type_name(call->input[0].type));
  for (uint32_t k = 1; k < call->input_count; k++)
    if (formula[2] == '+')
      cm_c_add(made, sizeof made, " + %c", (char)('a' + k));
    else {
      (void)snprintf(before, sizeof before, "%s", made);
      made[0] = '\0';
      cm_c_add(made, sizeof made, "%s(%s, %c)", formula[2] == '>' ? "larger" : "smaller", before, (char)('a' + k));
    }
  (void)snprintf(before, sizeof before, "%s", made);
  made[0] = '\0';
  cm_c_add(made, sizeof made, mean ? "(%s) / (float)%u" : "%s", before, call->input_count);
  return loop(piece, call->node->op, in_order, call->input_count, made, error);
}

cm_status cm_c_where(cm_c_piece *piece, cm_error *error)
{
  return loop(piece, "Where", in_order, 3, "a ? b : c", error);
}

/* ---- quantized numbers ---- */

/* Scale and zero point as streams of the output: one, or one an element of an axis. */
static cm_status steps(cm_c_piece *piece, cm_c_pointwise *p, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  uint32_t axis = 0;
  if (cm_node_integer(call->node, "block_size", 0) != 0)
    return cm_c_refuse(piece, error, "has scales by blocks, of which C is not written");
  if (cm_call_axis(call, cm_node_integer(call->node, "axis", 1), x->rank == 0 ? 1 : x->rank, &axis, error) != CM_OK && call->input[1].rank > 0)
    return error->status;
  for (uint32_t k = 1; k < call->input_count && k < 3; k++)
    if (cm_has(call, k)) {
      uint64_t count;
      cm_c_stream *s = &p->inputs[p->input_count++];
      *s = (cm_c_stream){.type = call->input[k].type};
      (void)cm_dims_count(call->input[k].rank, call->input[k].dims, &count);
      if (count > 1)
        s->strides[axis] = 1;
      if (cm_c_input(piece, k, s->at, error) != CM_OK)
        return error->status;
    }
  return CM_OK;
}

static cm_status quantized_loop(cm_c_piece *piece, const char *stem, const char *expression, cm_error *error)
{
  const cm_shape *y = &piece->call.output[0];
  cm_c_pointwise p = {.stem = stem, .rank = y->rank, .input_count = 1, .output_count = 1, .expressions = {expression}};
  memcpy(p.dims, y->dims, sizeof p.dims);
  if (cm_c_input_stream(piece, 0, y, &p.inputs[0], error) != CM_OK || steps(piece, &p, error) != CM_OK ||
      cm_c_output_stream(piece, 0, &p.outputs[0], error) != CM_OK)
    return error->status;
  return cm_c_pointwise_call(piece, &p, error);
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
  const cm_shape *y = &piece->call.output[0];
  cm_c_pointwise p = {.stem = "batch_norm", .rank = y->rank, .input_count = 1, .output_count = 1};
  char expression[200], epsilon[48];
  memcpy(p.dims, y->dims, sizeof p.dims);
  if (cm_c_input_stream(piece, 0, y, &p.inputs[0], error) != CM_OK || cm_c_output_stream(piece, 0, &p.outputs[0], error) != CM_OK)
    return error->status;
  for (uint32_t k = 1; k < 5; k++) {
    cm_c_stream *s = &p.inputs[p.input_count++];
    *s = (cm_c_stream){.type = CM_FLOAT};
    if (y->rank > 1)
      s->strides[1] = 1;
    if (cm_c_input(piece, k, s->at, error) != CM_OK)
      return error->status;
  }
  cm_c_number((double)cm_node_number(piece->call.node, "epsilon", 1e-5F), false, epsilon);
  (void)snprintf(expression, sizeof expression, "(float)(((double)a - (double)d) * ((double)b / sqrt((double)e + %s)) + (double)c)", epsilon);
  p.expressions[0] = expression;
  return cm_c_pointwise_call(piece, &p, error);
}

/* ---- cells ---- */

/* What a function of a cell is as C, of the text `x`. */
static cm_status cell_function(cm_c_piece *piece, int64_t which, const char *x, char made[EXPRESSION_MAX], cm_error *error)
{
  static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
  const cm_node *node = piece->call.node;
  const cm_attribute *names = cm_node_attribute(node, "activations");
  const char *name = node->known->variant == CM_VARIANT_RNN ? "Tanh" : usual[which];
  size_t length = strlen(name);
  cm_recurrent r;
  cm_recurrent_attributes(&piece->call, &r);
  if (names != NULL && names->count > 0) {
    int64_t line = which + (r.directions == 2 && cm_node_integer(node, "second", 0) != 0 ? r.functions : 0);
    for (name = names->text; line > 0 && strchr(name, '\n') != NULL; line--)
      name = strchr(name, '\n') + 1;
    length = strcspn(name, "\n");
  }
  if (length == 7 && strncasecmp(name, "Sigmoid", 7) == 0)
    (void)snprintf(made, EXPRESSION_MAX, "(1 / (1 + exp(-(%s))))", x);
  else if (length == 4 && strncasecmp(name, "Tanh", 4) == 0)
    (void)snprintf(made, EXPRESSION_MAX, "tanh(%s)", x);
  else
    return cm_c_refuse(piece, error, "has an activation '%.*s' of which C is not written", (int)length, name);
  return CM_OK;
}

/* Rows of an input as `count` streams, one beside the other in each row. */
static cm_status cell_streams(cm_c_piece *piece, uint32_t input, int64_t count, int64_t hidden, cm_c_pointwise *p, cm_error *error)
{
  char at[CM_C_AT_MAX];
  if (cm_c_input(piece, input, at, error) != CM_OK)
    return error->status;
  for (int64_t k = 0; k < count; k++) {
    cm_c_stream *s = &p->inputs[p->input_count++];
    *s = (cm_c_stream){.type = CM_FLOAT, .strides = {count * hidden, 1}};
    (void)snprintf(s->at, sizeof s->at, k > 0 ? "%.70s + %lld" : "%.70s", at, (long long)(k * hidden));
  }
  return CM_OK;
}

static cm_status lstm(cm_c_piece *piece, cm_c_pointwise *p, int64_t hidden, cm_error *error)
{
  char in[EXPRESSION_MAX], forget[EXPRESSION_MAX], cell[EXPRESSION_MAX], out[EXPRESSION_MAX], state[3 * EXPRESSION_MAX], end[EXPRESSION_MAX], made[6000];
  if (cell_streams(piece, 0, 4, hidden, p, error) != CM_OK || /* a: input, b: output, c: forget, d: cell */
      cell_streams(piece, 1, 1, hidden, p, error) != CM_OK || cell_function(piece, 0, "(double)a", in, error) != CM_OK ||
      cell_function(piece, 0, "(double)c", forget, error) != CM_OK || cell_function(piece, 1, "(double)d", cell, error) != CM_OK ||
      cell_function(piece, 0, "(double)b", out, error) != CM_OK)
    return error->status;
  state[0] = '\0';
  cm_c_add(state, sizeof state, "(%s * (double)e + %s * %s)", forget, in, cell);
  if (cell_function(piece, 2, state, end, error) != CM_OK)
    return error->status;
  (void)snprintf(made, sizeof made, "(float)(%s * %s)", out, end);
  state[0] = '\0';
  cm_c_add(state, sizeof state, "(float)(%s * (double)e + %s * %s)", forget, in, cell);
  p->expressions[0] = made;
  p->expressions[1] = state;
  return cm_c_pointwise_call(piece, p, error);
}

static cm_status gates(cm_c_piece *piece, cm_c_pointwise *p, int64_t hidden, cm_error *error)
{
  char update[EXPRESSION_MAX], reset[EXPRESSION_MAX], first[EXPRESSION_MAX + 20], second[EXPRESSION_MAX + 40];
  if (cell_streams(piece, 0, 2, hidden, p, error) != CM_OK || cell_streams(piece, 1, 1, hidden, p, error) != CM_OK || cell_function(piece, 0, "(double)a", update, error) != CM_OK ||
      cell_function(piece, 0, "(double)b", reset, error) != CM_OK)
    return error->status;
  (void)snprintf(first, sizeof first, "(float)%s", update);
  (void)snprintf(second, sizeof second, "(float)(%s * (double)c)", reset);
  p->expressions[0] = first;
  p->expressions[1] = second;
  return cm_c_pointwise_call(piece, p, error);
}

static cm_status gru(cm_c_piece *piece, cm_c_pointwise *p, int64_t hidden, cm_error *error)
{
  const bool another = cm_has(&piece->call, 3);
  char candidate[EXPRESSION_MAX], made[EXPRESSION_MAX + 80];
  for (uint32_t k = 0; k < 3U + another; k++)
    if (cell_streams(piece, k, 1, hidden, p, error) != CM_OK)
      return error->status;
  if (cell_function(piece, 1, another ? "(double)b + (double)d" : "(double)b + 0", candidate, error) != CM_OK)
    return error->status;
  (void)snprintf(made, sizeof made, "(float)((1 - (double)a) * %s + (double)a * (double)c)", candidate);
  p->expressions[0] = made;
  return cm_c_pointwise_call(piece, p, error);
}

cm_status cm_c_cell(cm_c_piece *piece, cm_error *error)
{
  const cm_shape *y = &piece->call.output[0];
  const int64_t hidden = y->dims[1];
  cm_c_pointwise p = {.stem = piece->call.node->op, .rank = 2, .output_count = piece->call.output_count, .dims = {y->dims[0], hidden}};
  char made[EXPRESSION_MAX], expression[EXPRESSION_MAX + 20];
  const cm_operator_variant cell = piece->call.node->known->variant;
  if (cm_node_number(piece->call.node, "clip", 0) > 0 || (cell == CM_VARIANT_LSTM && (cm_has(&piece->call, 2) || cm_node_integer(piece->call.node, "input_forget", 0) != 0)))
    return cm_c_refuse(piece, error, "has a clip, peepholes or coupled gates, of which C is not written");
  for (uint32_t o = 0; o < p.output_count; o++)
    if (cm_c_output_stream(piece, o, &p.outputs[o], error) != CM_OK)
      return error->status;
  if (cell == CM_VARIANT_LSTM)
    return lstm(piece, &p, hidden, error);
  if (cell == CM_VARIANT_GATES)
    return gates(piece, &p, hidden, error);
  if (cell == CM_VARIANT_GRU)
    return gru(piece, &p, hidden, error);
  if (cell_streams(piece, 0, 1, hidden, &p, error) != CM_OK || cell_function(piece, 0, "(double)a", made, error) != CM_OK)
    return error->status;
  (void)snprintf(expression, sizeof expression, "(float)(%s)", made);
  p.expressions[0] = expression;
  return cm_c_pointwise_call(piece, &p, error);
}
