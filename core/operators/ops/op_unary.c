/* Elementwise operators of one input: functions, Not, Identity. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"
#include "core/operators/ops/sigmoid.h"

cm_status cm_shape_same(cm_call *call, CM_UNUSED cm_error *error)
{
  call->output[0] = call->input[0];
  return CM_OK;
}

/* Functions that a row can name as its variant; alpha and beta are attributes. */
typedef double (*unary_function)(double x, double alpha, double beta);

#define UNARY(variant, expression, a, b, a_name, b_name)          \
  static double f_##variant(double x, double alpha, double beta) \
  {                                                              \
    (void)alpha;                                                 \
    (void)beta;                                                  \
    return expression;                                           \
  }
#include "core/operators/ops/unary.def"
#undef UNARY

static double gelu_by_tangent(double x, CM_UNUSED double alpha, CM_UNUSED double beta)
{
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static const struct {
  unary_function function;
  float alpha, beta; /* defaults */
  const char *alpha_name, *beta_name;
} unary_table[CM_VARIANT_COUNT] = {
#define UNARY(variant, expression, a, b, a_name, b_name) [CM_VARIANT_##variant] = {f_##variant, a, b, a_name, b_name},
#include "core/operators/ops/unary.def"
#undef UNARY
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
  case CM_UINT8: case CM_UINT16: case CM_UINT32: case CM_UINT64:
    for (uint64_t i = 0; i < in->count; i++)
      cm_tensor_put_integer(out, i,
                            kind == CM_VARIANT_SIGN      ? cm_tensor_integer(in, i) != 0
                            : kind == CM_VARIANT_BIT_NOT ? ~cm_tensor_integer(in, i)
                                                         : cm_tensor_integer(in, i));
    return true;
  default: return false;
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
  double alpha = (double)cm_node_number(call->node, unary_table[kind].alpha_name, unary_table[kind].alpha),
         beta = (double)cm_node_number(call->node, unary_table[kind].beta_name, unary_table[kind].beta);
  if (f == f_GELU && strcmp(cm_node_text(call->node, "approximate", "none"), "tanh") == 0)
    f = gelu_by_tangent;
  if (f == f_RELU && in->type == CM_FLOAT) {
    for (uint64_t i = 0; i < in->count; i++) {
      float x = ((const float *)in->data)[i];
      ((float *)out->data)[i] = x > 0 || isnan(x) ? x : 0;
    }
  } else if (f == f_SIGMOID && in->type == CM_FLOAT)
    for (uint64_t i = 0; i < in->count; i++)
      ((float *)out->data)[i] = sigmoid(((const float *)in->data)[i]);
  else if (in->type == CM_FLOAT)
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

cm_status cm_shape_float_test(cm_call *call, CM_UNUSED cm_error *error)
{
  call->output[0] = call->input[0];
  call->output[0].type = CM_BOOL;
  return CM_OK;
}

cm_status cm_kernel_float_test(cm_call *call, CM_UNUSED cm_error *error)
{
  const cm_tensor *in = call->value[0];
  bool nan = call->node->known->variant == CM_VARIANT_NOT_A_NUMBER, below = cm_node_integer(call->node, "detect_negative", 1) != 0,
       above = cm_node_integer(call->node, "detect_positive", 1) != 0;
  for (uint64_t i = 0; i < in->count; i++) {
    double x = cm_tensor_number(in, i);
    bool found = nan ? isnan(x) : isinf(x) && (x < 0 ? below : above);
    ((uint8_t *)call->result[0]->data)[i] = found;
  }
  return CM_OK;
}

cm_status cm_kernel_identity(cm_call *call, CM_UNUSED cm_error *error)
{
  cm_tensor_free(call->result[0]);
  call->result[0] = cm_tensor_share(call->value[0]);
  return CM_OK;
}
