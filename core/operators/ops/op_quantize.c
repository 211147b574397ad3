/* QuantizeLinear and DequantizeLinear. */
#include <math.h>

#include "core/operators/operator.h"

/* Which scale an element has: one for all, one for each element of an axis, or one for each block of an axis. */
typedef struct steps {
  uint64_t inner, extent; /* elements after the axis, and of the axis */
  uint64_t block, blocks; /* extent of a block, blocks along the axis */
  uint64_t count;         /* scales */
} steps;

static uint64_t scale_of(const steps *s, uint64_t element)
{
  if (s->count == 1)
    return 0;
  uint64_t along = element / s->inner % s->extent;
  if (s->block == 0)
    return along;
  return (element / s->inner / s->extent * s->blocks + along / s->block) * s->inner + element % s->inner;
}

static cm_status read_steps(const cm_call *call, steps *s, cm_error *error)
{
  const cm_shape *x = &call->input[0], *scale = &call->input[1], *zero = &call->input[2];
  int64_t block = cm_node_integer(call->node, "block_size", 0);
  uint32_t axis;
  uint64_t zeros;
  *s = (steps){.inner = 1};
  if (!cm_dims_count(scale->rank, scale->dims, &s->count) || s->count == 1)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 1), x->rank, &axis, error));
  s->extent = (uint64_t)x->dims[axis];
  s->inner = (uint64_t)cm_dims_product(x->dims, axis + 1, x->rank);
  bool fits = !cm_has(call, 2) || !cm_shape_known(zero) || (cm_dims_count(zero->rank, zero->dims, &zeros) && zeros == s->count);
  if (block > 0) {
    s->block = (uint64_t)block;
    s->blocks = (s->extent + s->block - 1) / s->block;
    fits = fits && scale->rank == x->rank;
    for (uint32_t i = 0; fits && i < x->rank; i++)
      fits = scale->dims[i] == (i == axis ? (int64_t)s->blocks : x->dims[i]);
  } else
    fits = fits && s->count == s->extent;
  return fits ? CM_OK
              : cm_call_fail(call, error, "%llu scales do not go with %lld elements of axis %u", (unsigned long long)s->count,
                             (long long)x->dims[axis], axis);
}

/* Scales go with the input as soon as the shapes of both are known. */
static cm_status need_steps(const cm_call *call, cm_error *error)
{
  steps ignored;
  return cm_shape_known(&call->input[0]) && cm_shape_known(&call->input[1]) ? read_steps(call, &ignored, error) : CM_OK;
}

cm_status cm_shape_quantize(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  call->output[0].type = cm_has(call, 2) ? call->input[2].type : (cm_type)cm_node_integer(call->node, "output_dtype", CM_UINT8);
  if (call->output[0].type == CM_TYPE_NONE && !cm_has(call, 2))
    call->output[0].type = CM_UINT8;
  return need_steps(call, error);
}

cm_status cm_shape_dequantize(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  call->output[0].type = call->input[1].type;
  return need_steps(call, error);
}

static double zero_of(const cm_call *call, uint64_t k)
{
  return cm_has(call, 2) ? cm_tensor_number(call->value[2], k) : 0;
}

/* The least and largest number of a type that is quantized to; false for others. */
static bool range_of(cm_type type, double *low, double *high)
{
  unsigned bits = cm_type_bits(type);
  bool is_signed = type == CM_INT8 || type == CM_INT16 || type == CM_INT4 || type == CM_INT2;
  if (bits == 0 || bits > 16 || !cm_type_is_integer(type) || type == CM_BOOL)
    return false;
  *low = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  *high = ldexp(1, (int)bits - is_signed) - 1;
  return true;
}

cm_status cm_check_dequantize(const cm_call *call, cm_error *error)
{
  return cm_has(call, 2) && call->input[2].type != CM_TYPE_NONE && call->input[2].type != call->input[0].type
             ? cm_call_fail(call, error, "its zero point is %s, its input %s", cm_type_name(call->input[2].type),
                            cm_type_name(call->input[0].type))
             : CM_OK;
}

static bool is_float8(cm_type type)
{
  return type >= CM_FLOAT8E4M3FN && type <= CM_FLOAT8E5M2FNUZ;
}

cm_status cm_check_quantize(const cm_call *call, cm_error *error)
{
  double low, high;
  cm_type made = cm_has(call, 2) ? call->input[2].type : (cm_type)cm_node_integer(call->node, "output_dtype", CM_UINT8);
  made = made == CM_TYPE_NONE ? CM_UINT8 : made;
  if (cm_node_integer(call->node, "precision", CM_FLOAT) != CM_FLOAT &&
      cm_node_integer(call->node, "precision", CM_FLOAT) != CM_TYPE_NONE)
    return cm_call_fail(call, error, "divides in another precision than float32, which is not computed");
  return range_of(made, &low, &high) || is_float8(made) ? CM_OK : cm_call_bad_type(call, made, error);
}

cm_status cm_kernel_quantize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  steps s;
  double low, high;
  CM_TRY(read_steps(call, &s, error));
  bool whole = range_of(y->type, &low, &high), saturate = cm_node_integer(call->node, "saturate", 1) != 0;
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t k = scale_of(&s, i);
    /* The quotient in float32, as the specification has it. */
    float quotient = (float)cm_tensor_number(x, i) / ((const float *)call->value[1]->data)[k];
    if (!whole) {
      cm_tensor_put_number(y, i, (double)quotient, saturate);
      continue;
    }
    double q = nearbyint((double)quotient) + zero_of(call, k);
    cm_tensor_put_integer(y, i, (int64_t)(isnan(q) ? 0 : q < low ? low : q > high ? high : q));
  }
  return CM_OK;
}

cm_status cm_kernel_dequantize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  steps s;
  CM_TRY(read_steps(call, &s, error));
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t k = scale_of(&s, i);
    ((float *)call->result[0]->data)[i] =
        (float)((cm_tensor_number(x, i) - zero_of(call, k)) * (double)((const float *)call->value[1]->data)[k]);
  }
  return CM_OK;
}
