/* Elementwise operators of one input: functions, Not, Identity. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

cm_status cm_shape_unary(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = call->input[0];
  return CM_OK;
}

cm_status cm_shape_identity(cm_call *call, cm_error *error)
{
  return cm_shape_unary(call, error);
}

cm_status cm_shape_logical_unary(cm_call *call, cm_error *error)
{
  return cm_shape_unary(call, error);
}

static double gelu(double x, bool tangent)
{
  return tangent ? 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
                 : 0.5 * x * (1 + erf(x * 0.7071067811865476));
}

static double round_even(double x)
{
  return nearbyint(x);
}

/* Functions that a table row can name; alpha and beta are attributes. */
typedef double (*unary_function)(double x, double alpha, double beta);

#define UNARY(name, expression)                          \
  static double name(double x, double alpha, double beta) \
  {                                                      \
    (void)alpha;                                         \
    (void)beta;                                          \
    return expression;                                   \
  }
UNARY(f_abs, fabs(x))
UNARY(f_acos, acos(x))
UNARY(f_acosh, acosh(x))
UNARY(f_asin, asin(x))
UNARY(f_asinh, asinh(x))
UNARY(f_atan, atan(x))
UNARY(f_atanh, atanh(x))
UNARY(f_cosh, cosh(x))
UNARY(f_shrink, x < -alpha ? x + beta : x > alpha ? x - beta : 0)
UNARY(f_sinh, sinh(x))
UNARY(f_swish, x / (1 + exp(-alpha * x)))
UNARY(f_tan, tan(x))
UNARY(f_ceil, ceil(x))
UNARY(f_celu, x > 0 ? x : alpha *expm1(x / alpha))
UNARY(f_cos, cos(x))
UNARY(f_elu, x > 0 ? x : alpha *expm1(x))
UNARY(f_erf, erf(x))
UNARY(f_exp, exp(x))
UNARY(f_floor, floor(x))
UNARY(f_gelu, gelu(x, false))
UNARY(f_gelu_tanh, gelu(x, true))
UNARY(f_hard_sigmoid, fmax(0, fmin(1, alpha *x + beta)))
UNARY(f_hard_swish, x *fmax(0, fmin(1, x / 6 + 0.5)))
UNARY(f_leaky, x < 0 ? alpha * x : x)
UNARY(f_log, log(x))
UNARY(f_mish, x *tanh(log1p(exp(x))))
UNARY(f_neg, -x)
UNARY(f_reciprocal, 1 / x)
UNARY(f_relu, x > 0 || isnan(x) ? x : 0)
UNARY(f_round, round_even(x))
UNARY(f_selu, x > 0 ? beta * x : beta * alpha *expm1(x))
UNARY(f_sigmoid, 1 / (1 + exp(-x)))
UNARY(f_sign, x > 0 ? 1 : x < 0 ? -1 : x)
UNARY(f_sin, sin(x))
UNARY(f_softplus, x > 30 ? x : log1p(exp(x)))
UNARY(f_softsign, x / (1 + fabs(x)))
UNARY(f_sqrt, sqrt(x))
UNARY(f_tanh, tanh(x))
UNARY(f_thresholded, x > alpha ? x : 0)

static const struct {
  const char *op;
  unary_function function;
  float alpha, beta; /* defaults */
  const char *beta_name;
} unary_table[] = {
    {"Abs", f_abs, 0, 0, ""},
    {"Acos", f_acos, 0, 0, ""},
    {"Acosh", f_acosh, 0, 0, ""},
    {"Asin", f_asin, 0, 0, ""},
    {"Asinh", f_asinh, 0, 0, ""},
    {"Atan", f_atan, 0, 0, ""},
    {"Atanh", f_atanh, 0, 0, ""},
    {"Cosh", f_cosh, 0, 0, ""},
    {"Shrink", f_shrink, 0.5F, 0, "bias"},
    {"Sinh", f_sinh, 0, 0, ""},
    {"Swish", f_swish, 1, 0, ""},
    {"Tan", f_tan, 0, 0, ""},
    {"Ceil", f_ceil, 0, 0, ""},
    {"Celu", f_celu, 1, 0, ""},
    {"Cos", f_cos, 0, 0, ""},
    {"Elu", f_elu, 1, 0, ""},
    {"Erf", f_erf, 0, 0, ""},
    {"Exp", f_exp, 0, 0, ""},
    {"Floor", f_floor, 0, 0, ""},
    {"Gelu", f_gelu, 0, 0, ""},
    {"HardSigmoid", f_hard_sigmoid, 0.2F, 0.5F, "beta"},
    {"HardSwish", f_hard_swish, 0, 0, ""},
    {"LeakyRelu", f_leaky, 0.01F, 0, ""},
    {"Log", f_log, 0, 0, ""},
    {"Mish", f_mish, 0, 0, ""},
    {"Neg", f_neg, 0, 0, ""},
    {"Reciprocal", f_reciprocal, 0, 0, ""},
    {"Relu", f_relu, 0, 0, ""},
    {"Round", f_round, 0, 0, ""},
    {"Selu", f_selu, 1.67326319217681884765625F, 1.05070102214813232421875F, "gamma"},
    {"Sigmoid", f_sigmoid, 0, 0, ""},
    {"Sign", f_sign, 0, 0, ""},
    {"Sin", f_sin, 0, 0, ""},
    {"Softplus", f_softplus, 0, 0, ""},
    {"Softsign", f_softsign, 0, 0, ""},
    {"Sqrt", f_sqrt, 0, 0, ""},
    {"Tanh", f_tanh, 0, 0, ""},
    {"ThresholdedRelu", f_thresholded, 1, 0, ""},
};

/* Integers keep their full width for the operators that make sense on them. */
static bool unary_integer(const cm_call *call, const cm_tensor *in, cm_tensor *out)
{
  const char *op = call->node->op;
  int kind = strcmp(op, "Abs") == 0    ? 1
             : strcmp(op, "Neg") == 0  ? 2
             : strcmp(op, "Sign") == 0 ? 3
             : strcmp(op, "Relu") == 0 ? 4
             : strcmp(op, "BitwiseNot") == 0 ? 5
                                       : 0;
  if (kind == 0)
    return false;
#define LOOP(type)                                                                                                     \
  for (uint64_t i = 0; i < in->count; i++) {                                                                           \
    type x = ((const type *)in->data)[i];                                                                              \
    type minus = (type)(0 - (uint64_t)x);                                                                              \
    ((type *)out->data)[i] = kind == 1   ? (x < 0 ? minus : x)                                                         \
                             : kind == 2 ? minus                                                                       \
                             : kind == 3 ? (type)((x > 0) - (x < 0))                                                   \
                             : kind == 5 ? (type)~x                                                                    \
                             : x > 0     ? x                                                                           \
                                         : 0;                                                                          \
  }                                                                                                                    \
  return true
  switch ((int)in->type) {
  case CM_INT8:
    LOOP(int8_t);
  case CM_INT16:
    LOOP(int16_t);
  case CM_INT32:
    LOOP(int32_t);
  case CM_INT64:
    LOOP(int64_t);
  case CM_UINT8:
  case CM_UINT16:
  case CM_UINT32:
  case CM_UINT64:
    for (uint64_t i = 0; i < in->count; i++)
      cm_tensor_put_integer(out, i,
                            kind == 3   ? cm_tensor_integer(in, i) != 0
                            : kind == 5 ? ~cm_tensor_integer(in, i)
                                        : cm_tensor_integer(in, i));
    return true;
  default:
    return false;
  }
#undef LOOP
}

cm_status cm_kernel_unary(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  cm_tensor *out = call->result[0];
  if (unary_integer(call, in, out))
    return CM_OK;
  if (in->type != CM_FLOAT && in->type != CM_DOUBLE)
    return cm_call_bad_type(call, in->type, error);
  for (size_t k = 0; k < sizeof unary_table / sizeof unary_table[0]; k++) {
    if (strcmp(unary_table[k].op, call->node->op) != 0)
      continue;
    unary_function f = unary_table[k].function;
    double alpha = (double)cm_node_number(call->node, f == f_shrink ? "lambd" : "alpha", unary_table[k].alpha),
           beta = (double)cm_node_number(call->node, unary_table[k].beta_name, unary_table[k].beta);
    if (f == f_gelu && strcmp(cm_node_text(call->node, "approximate", "none"), "tanh") == 0)
      f = f_gelu_tanh;
    if (f == f_relu && in->type == CM_FLOAT) {
      for (uint64_t i = 0; i < in->count; i++) {
        float x = ((const float *)in->data)[i];
        ((float *)out->data)[i] = x > 0 || isnan(x) ? x : 0;
      }
    } else if (in->type == CM_FLOAT)
      for (uint64_t i = 0; i < in->count; i++)
        ((float *)out->data)[i] = (float)f((double)((const float *)in->data)[i], alpha, beta);
    else
      for (uint64_t i = 0; i < in->count; i++)
        ((double *)out->data)[i] = f(((const double *)in->data)[i], alpha, beta);
    return CM_OK;
  }
  return cm_fail(error, CM_INTERNAL, "no function for operator %s", call->node->op);
}

cm_status cm_kernel_logical_unary(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  if (in->type != CM_BOOL)
    return cm_call_bad_type(call, in->type, error);
  for (uint64_t i = 0; i < in->count; i++)
    ((uint8_t *)call->result[0]->data)[i] = ((const uint8_t *)in->data)[i] == 0;
  return CM_OK;
}

/* ---- IsNaN, IsInf ---- */

cm_status cm_shape_float_test(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = call->input[0];
  call->output[0].type = CM_BOOL;
  return CM_OK;
}

cm_status cm_kernel_float_test(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  bool nan = strcmp(call->node->op, "IsNaN") == 0, below = cm_node_integer(call->node, "detect_negative", 1) != 0,
       above = cm_node_integer(call->node, "detect_positive", 1) != 0;
  (void)error;
  for (uint64_t i = 0; i < in->count; i++) {
    double x = cm_tensor_number(in, i);
    bool found = nan ? isnan(x) : isinf(x) && (x < 0 ? below : above);
    ((uint8_t *)call->result[0]->data)[i] = found;
  }
  return CM_OK;
}

cm_status cm_kernel_identity(cm_call *call, cm_error *error)
{
  (void)error;
  cm_tensor_free(call->result[0]);
  call->result[0] = cm_tensor_share(call->value[0]);
  return CM_OK;
}
