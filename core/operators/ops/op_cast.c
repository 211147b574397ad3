/* Cast and CastLike between all numeric types (ONNX operator specification, Cast). */

#include "core/operators/operator.h"

cm_status cm_shape_cast(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  if (call->node->known->variant == CM_VARIANT_LIKE_INPUT)
    call->output[0].type = cm_has(call, 1) ? call->input[1].type : CM_TYPE_NONE;
  else
    call->output[0].type = (cm_type)cm_node_integer(call->node, "to", CM_TYPE_NONE);
  if (call->output[0].type != CM_TYPE_NONE && cm_type_bits(call->output[0].type) == 0 && call->output[0].type != CM_STRING)
    return cm_call_fail(call, error, "casts to type %d, which is none of ONNX", (int)call->output[0].type);
  return CM_OK;
}

cm_status cm_check_cast(const cm_call *call, cm_error *error)
{
  cm_type to = call->output[0].type;
  if (call->node->known->variant == CM_VARIANT_TO_TYPE)
    to = (cm_type)cm_node_integer(call->node, "to", CM_TYPE_NONE);
  else if (cm_has(call, 1))
    to = call->input[1].type;
  return cm_type_bits(to) == 0 || to == CM_COMPLEX64 || to == CM_COMPLEX128 ? cm_call_bad_type(call, to, error) : CM_OK;
}

cm_status cm_kernel_cast(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  cm_tensor *out = call->result[0];
  bool saturate = cm_node_integer(call->node, "saturate", 1) != 0;
  (void)error;
  for (uint64_t i = 0; i < in->count; i++)
    if (cm_type_is_integer(out->type) && cm_type_is_integer(in->type))
      cm_tensor_put_integer(out, i, cm_tensor_integer(in, i));
    else
      cm_tensor_put_number(out, i, cm_tensor_number(in, i), saturate);
  return CM_OK;
}
