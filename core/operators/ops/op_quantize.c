/* QuantizeLinear and DequantizeLinear: one scale for all, or one per element of an axis. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

cm_status cm_shape_quantize(cm_call *call, cm_error *error)
{
  if (call->input_count < 2)
    return cm_call_fail(call, error, "needs a scale");
  call->output[0] = call->input[0];
  call->output[0].type =
      cm_has(call, 2) ? call->input[2].type : (cm_type)cm_node_integer(call->node, "output_dtype", CM_UINT8);
  if (call->output[0].type == CM_TYPE_NONE && !cm_has(call, 2))
    call->output[0].type = CM_UINT8;
  return CM_OK;
}

cm_status cm_shape_dequantize(cm_call *call, cm_error *error)
{
  if (call->input_count < 2)
    return cm_call_fail(call, error, "needs a scale");
  call->output[0] = call->input[0];
  call->output[0].type = call->input[1].type;
  return CM_OK;
}

/* For element k of x: which scale. 0 everywhere when there is one. */
typedef struct steps {
  uint64_t inner, count;
} steps;

static cm_status read_steps(const cm_call *call, steps *s, cm_error *error)
{
  const cm_tensor *x = call->value[0], *scale = call->value[1];
  uint32_t axis;
  *s = (steps){.inner = 1, .count = scale->count};
  if (cm_node_integer(call->node, "block_size", 0) != 0)
    return cm_call_fail(call, error, "quantizes in blocks, which is not computed");
  if (scale->type != CM_FLOAT)
    return cm_call_bad_type(call, scale->type, error);
  if (scale->count == 1)
    return CM_OK;
  if (cm_call_axis(call, cm_node_integer(call->node, "axis", 1), x->rank, &axis, error) != CM_OK)
    return error->status;
  if (scale->count != (uint64_t)x->dims[axis] || (cm_has(call, 2) && call->value[2]->count != scale->count))
    return cm_call_fail(call, error, "%llu scales do not go with %lld elements of axis %u",
                        (unsigned long long)scale->count, (long long)x->dims[axis], axis);
  for (uint32_t i = axis + 1; i < x->rank; i++)
    s->inner *= (uint64_t)x->dims[i];
  return CM_OK;
}

static double zero_of(const cm_call *call, uint64_t k)
{
  return cm_has(call, 2) ? cm_tensor_number(call->value[2], k) : 0;
}

cm_status cm_kernel_quantize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  steps s;
  double low, high;
  if (read_steps(call, &s, error) != CM_OK)
    return error->status;
  switch ((int)y->type) {
  case CM_UINT8:
    low = 0, high = 255;
    break;
  case CM_INT8:
    low = -128, high = 127;
    break;
  case CM_UINT16:
    low = 0, high = 65535;
    break;
  case CM_INT16:
    low = -32768, high = 32767;
    break;
  default:
    return cm_call_bad_type(call, y->type, error);
  }
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t k = s.count == 1 ? 0 : i / s.inner % s.count;
    /* The quotient in float32, as the specification has it. */
    float quotient = (float)cm_tensor_number(x, i) / ((const float *)call->value[1]->data)[k];
    double q = nearbyint((double)quotient) + zero_of(call, k);
    int whole = (int)(isnan(q) ? 0 : q < low ? low : q > high ? high : q);
    if (cm_type_bytes(y->type) == 1)
      ((uint8_t *)y->data)[i] = (uint8_t)whole;
    else
      ((uint16_t *)y->data)[i] = (uint16_t)whole;
  }
  return CM_OK;
}

cm_status cm_kernel_dequantize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  steps s;
  if (read_steps(call, &s, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t k = s.count == 1 ? 0 : i / s.inner % s.count;
    ((float *)call->result[0]->data)[i] =
        (float)((cm_tensor_number(x, i) - zero_of(call, k)) * (double)((const float *)call->value[1]->data)[k]);
  }
  return CM_OK;
}
