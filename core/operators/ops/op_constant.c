/* Constant and ConstantOfShape. */
#include <string.h>

#include "core/operators/operator.h"

static cm_tensor *constant_tensor(const cm_call *call)
{
  const cm_attribute *a = cm_node_attribute(call->node, "value");
  return a != NULL ? a->tensor : NULL;
}

cm_status cm_shape_constant(cm_call *call, cm_error *error)
{
  cm_shape *out = &call->output[0];
  const cm_attribute *a;
  if (constant_tensor(call) != NULL) {
    *out = cm_shape_of(constant_tensor(call));
    return CM_OK;
  }
  out->rank = 0;
  if (cm_node_attribute(call->node, "value_float") != NULL)
    out->type = CM_FLOAT;
  else if (cm_node_attribute(call->node, "value_int") != NULL)
    out->type = CM_INT64;
  else if ((a = cm_node_attribute(call->node, "value_floats")) != NULL) {
    *out = (cm_shape){.type = CM_FLOAT, .rank = 1, .dims = {(int64_t)a->count}};
  } else if ((a = cm_node_attribute(call->node, "value_ints")) != NULL) {
    *out = (cm_shape){.type = CM_INT64, .rank = 1, .dims = {(int64_t)a->count}};
  } else {
    (void)error;
    *out = (cm_shape){.rank = CM_UNKNOWN_RANK}; /* strings and sparse values: kept, never computed */
  }
  return CM_OK;
}

cm_status cm_kernel_constant(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  const cm_attribute *a;
  if (constant_tensor(call) != NULL) {
    cm_tensor_free(y);
    call->result[0] = cm_tensor_share(constant_tensor(call));
  } else if (cm_node_attribute(call->node, "value_float") != NULL)
    *(float *)y->data = cm_node_number(call->node, "value_float", 0);
  else if (cm_node_attribute(call->node, "value_int") != NULL)
    *(int64_t *)y->data = cm_node_integer(call->node, "value_int", 0);
  else if ((a = cm_node_attribute(call->node, "value_floats")) != NULL)
    memcpy(y->data, a->numbers, a->count * sizeof(float));
  else if ((a = cm_node_attribute(call->node, "value_ints")) != NULL)
    memcpy(y->data, a->integers, a->count * sizeof(int64_t));
  else
    return cm_call_fail(call, error, "holds a kind of value that is not computed");
  return CM_OK;
}

cm_status cm_shape_constant_of_shape(cm_call *call, cm_error *error)
{
  cm_integers dims;
  const cm_tensor *value = constant_tensor(call);
  call->output[0].type = value != NULL ? value->type : CM_FLOAT;
  if (value != NULL && value->count != 1)
    return cm_call_fail(call, error, "its value should hold one number");
  CM_TRY(cm_call_integers(call, NULL, 0, CM_RANK_MAX, &dims, error));
  if (!dims.known)
    return CM_OK;
  for (size_t i = 0; i < dims.count; i++)
    if (dims.at[i] < 0)
      return cm_call_fail(call, error, "has a negative dimension %lld", (long long)dims.at[i]);
  call->output[0].rank = (uint32_t)dims.count;
  memcpy(call->output[0].dims, dims.at, sizeof call->output[0].dims);
  return CM_OK;
}

cm_status cm_kernel_constant_of_shape(cm_call *call, CM_UNUSED cm_error *error)
{
  const cm_tensor *value = constant_tensor(call);
  cm_tensor *y = call->result[0];
  for (uint64_t i = 0; value != NULL && i < y->count; i++) /* else zeros already */
    cm_tensor_copy(y, (int64_t)i, value, 0, 1);
  return CM_OK;
}
