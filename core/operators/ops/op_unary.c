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

/* Functions that a row can name as its variant; alpha and beta are attributes. */
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
  unary_function function;
  float alpha, beta; /* defaults */
  const char *beta_name;
} unary_table[CM_VARIANT_COUNT] = {
    [CM_VARIANT_ABS] = {f_abs, 0, 0, ""},
    [CM_VARIANT_ACOS] = {f_acos, 0, 0, ""},
    [CM_VARIANT_ACOSH] = {f_acosh, 0, 0, ""},
    [CM_VARIANT_ASIN] = {f_asin, 0, 0, ""},
    [CM_VARIANT_ASINH] = {f_asinh, 0, 0, ""},
    [CM_VARIANT_ATAN] = {f_atan, 0, 0, ""},
    [CM_VARIANT_ATANH] = {f_atanh, 0, 0, ""},
    [CM_VARIANT_CEIL] = {f_ceil, 0, 0, ""},
    [CM_VARIANT_CELU] = {f_celu, 1, 0, ""},
    [CM_VARIANT_COS] = {f_cos, 0, 0, ""},
    [CM_VARIANT_COSH] = {f_cosh, 0, 0, ""},
    [CM_VARIANT_ELU] = {f_elu, 1, 0, ""},
    [CM_VARIANT_ERF] = {f_erf, 0, 0, ""},
    [CM_VARIANT_EXP] = {f_exp, 0, 0, ""},
    [CM_VARIANT_FLOOR] = {f_floor, 0, 0, ""},
    [CM_VARIANT_GELU] = {f_gelu, 0, 0, ""},
    [CM_VARIANT_HARD_SIGMOID] = {f_hard_sigmoid, 0.2F, 0.5F, "beta"},
    [CM_VARIANT_HARD_SWISH] = {f_hard_swish, 0, 0, ""},
    [CM_VARIANT_LEAKY_RELU] = {f_leaky, 0.01F, 0, ""},
    [CM_VARIANT_LOG] = {f_log, 0, 0, ""},
    [CM_VARIANT_MISH] = {f_mish, 0, 0, ""},
    [CM_VARIANT_NEG] = {f_neg, 0, 0, ""},
    [CM_VARIANT_RECIPROCAL] = {f_reciprocal, 0, 0, ""},
    [CM_VARIANT_RELU] = {f_relu, 0, 0, ""},
    [CM_VARIANT_ROUND] = {f_round, 0, 0, ""},
    [CM_VARIANT_SELU] = {f_selu, 1.67326319217681884765625F, 1.05070102214813232421875F, "gamma"},
    [CM_VARIANT_SHRINK] = {f_shrink, 0.5F, 0, "bias"},
    [CM_VARIANT_SIGMOID] = {f_sigmoid, 0, 0, ""},
    [CM_VARIANT_SIGN] = {f_sign, 0, 0, ""},
    [CM_VARIANT_SIN] = {f_sin, 0, 0, ""},
    [CM_VARIANT_SINH] = {f_sinh, 0, 0, ""},
    [CM_VARIANT_SOFTPLUS] = {f_softplus, 0, 0, ""},
    [CM_VARIANT_SOFTSIGN] = {f_softsign, 0, 0, ""},
    [CM_VARIANT_SQRT] = {f_sqrt, 0, 0, ""},
    [CM_VARIANT_SWISH] = {f_swish, 1, 0, ""},
    [CM_VARIANT_TAN] = {f_tan, 0, 0, ""},
    [CM_VARIANT_TANH] = {f_tanh, 0, 0, ""},
    [CM_VARIANT_THRESHOLDED_RELU] = {f_thresholded, 1, 0, ""},
};

/* Integers keep their full width for the operators that make sense on them. */
static bool unary_integer(const cm_call *call, const cm_tensor *in, cm_tensor *out)
{
  const cm_operator_variant kind = call->node->known->variant;
  if (kind != CM_VARIANT_ABS && kind != CM_VARIANT_NEG && kind != CM_VARIANT_SIGN && kind != CM_VARIANT_RELU && kind != CM_VARIANT_BIT_NOT)
    return false;
#define LOOP(type)                                                                                                     \
  for (uint64_t i = 0; i < in->count; i++) {                                                                           \
    type x = ((const type *)in->data)[i];                                                                              \
    type minus = (type)(0 - (uint64_t)x);                                                                              \
    ((type *)out->data)[i] = kind == CM_VARIANT_ABS       ? (x < 0 ? minus : x)                                        \
                             : kind == CM_VARIANT_NEG     ? minus                                                      \
                             : kind == CM_VARIANT_SIGN    ? (type)((x > 0) - (x < 0))                                  \
                             : kind == CM_VARIANT_BIT_NOT ? (type)~x                                                   \
                             : x > 0                      ? x                                                          \
                                                          : 0;                                                         \
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
                            kind == CM_VARIANT_SIGN      ? cm_tensor_integer(in, i) != 0
                            : kind == CM_VARIANT_BIT_NOT ? ~cm_tensor_integer(in, i)
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
  const cm_operator_variant kind = call->node->known->variant;
  unary_function f = unary_table[kind].function;
  if (f == NULL)
    return cm_fail(error, CM_INTERNAL, "no function for operator %s", call->node->op);
  double alpha = (double)cm_node_number(call->node, f == f_shrink ? "lambd" : "alpha", unary_table[kind].alpha),
         beta = (double)cm_node_number(call->node, unary_table[kind].beta_name, unary_table[kind].beta);
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
  bool nan = call->node->known->variant == CM_VARIANT_NOT_A_NUMBER, below = cm_node_integer(call->node, "detect_negative", 1) != 0,
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
