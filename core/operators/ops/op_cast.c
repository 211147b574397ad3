/* Cast and CastLike between all numeric types (ONNX operator specification, Cast). */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

cm_status cm_shape_cast(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  if (strcmp(call->node->op, "CastLike") == 0)
    call->output[0].type = cm_has(call, 1) ? call->input[1].type : CM_TYPE_NONE;
  else
    call->output[0].type = (cm_type)cm_node_integer(call->node, "to", CM_TYPE_NONE);
  if (call->output[0].type != CM_TYPE_NONE && cm_type_bits(call->output[0].type) == 0 &&
      call->output[0].type != CM_STRING)
    return cm_call_fail(call, error, "casts to type %d, which is none of ONNX", (int)call->output[0].type);
  return CM_OK;
}

static bool is_integer(cm_type type)
{
  return (type >= CM_UINT8 && type <= CM_INT64) || type == CM_UINT32 || type == CM_UINT64 || type == CM_BOOL ||
         type == CM_UINT4 || type == CM_INT4 || type == CM_UINT2 || type == CM_INT2;
}

/* Stores the low bits of an integer, as C conversions wrap; narrow ones keep their sign. */
static void store_integer(cm_tensor *out, uint64_t i, int64_t x)
{
  switch ((int)out->type) {
  case CM_BOOL:
    ((uint8_t *)out->data)[i] = x != 0;
    return;
  case CM_UINT4:
    ((uint8_t *)out->data)[i] = (uint8_t)(x & 15);
    return;
  case CM_INT4:
    ((int8_t *)out->data)[i] = (int8_t)((x & 15) > 7 ? (x & 15) - 16 : x & 15);
    return;
  case CM_UINT2:
    ((uint8_t *)out->data)[i] = (uint8_t)(x & 3);
    return;
  case CM_INT2:
    ((int8_t *)out->data)[i] = (int8_t)((x & 3) > 1 ? (x & 3) - 4 : x & 3);
    return;
  default:
    break;
  }
  switch (cm_type_bytes(out->type)) {
  case 1:
    ((uint8_t *)out->data)[i] = (uint8_t)x;
    return;
  case 2:
    ((uint16_t *)out->data)[i] = (uint16_t)x;
    return;
  case 4:
    ((uint32_t *)out->data)[i] = (uint32_t)x;
    return;
  default:
    ((uint64_t *)out->data)[i] = (uint64_t)x;
  }
}

static int64_t whole(double x)
{
  /* Out of range is undefined in ONNX: the nearest representable here. */
  return isnan(x) ? 0 : x <= -9.223372036854775e18 ? INT64_MIN : x >= 9.223372036854775e18 ? INT64_MAX : (int64_t)x;
}

static void store_number(cm_tensor *out, uint64_t i, double x, bool saturate)
{
  switch ((int)out->type) {
  case CM_FLOAT:
    ((float *)out->data)[i] = (float)x;
    return;
  case CM_DOUBLE:
    ((double *)out->data)[i] = x;
    return;
  case CM_FLOAT16:
  case CM_BFLOAT16:
    ((uint16_t *)out->data)[i] = (uint16_t)cm_narrow_encode(out->type, (float)x, false);
    return;
  default:
    ((uint8_t *)out->data)[i] = (uint8_t)cm_narrow_encode(out->type, (float)x, saturate);
  }
}

cm_status cm_kernel_cast(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  cm_tensor *out = call->result[0];
  bool saturate = cm_node_integer(call->node, "saturate", 1) != 0;
  if (cm_type_bits(in->type) == 0 || in->type == CM_COMPLEX64 || in->type == CM_COMPLEX128)
    return cm_call_bad_type(call, in->type, error);
  if (cm_type_bits(out->type) == 0 || out->type == CM_COMPLEX64 || out->type == CM_COMPLEX128)
    return cm_call_bad_type(call, out->type, error);
  for (uint64_t i = 0; i < in->count; i++)
    if (!is_integer(out->type))
      store_number(out, i, cm_tensor_number(in, i), saturate);
    else if (is_integer(in->type))
      store_integer(out, i, cm_tensor_integer(in, i));
    else if (out->type == CM_BOOL)
      ((uint8_t *)out->data)[i] = cm_tensor_number(in, i) != 0;
    else
      store_integer(out, i, whole(cm_tensor_number(in, i)));
  return CM_OK;
}
