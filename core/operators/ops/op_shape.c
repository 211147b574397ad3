/* Operators about shapes: Shape, Size, Range, Reshape and its relatives, Expand, Tile. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

/* ---- Shape, Size, Range ---- */

/* The slice [start, end) of dims that Shape gives since opset 15. */
static void shape_span(const cm_call *call, int64_t rank, int64_t *start, int64_t *end)
{
  *start = cm_node_integer(call->node, "start", 0);
  *end = cm_node_integer(call->node, "end", rank);
  *start = *start < 0 ? *start + rank : *start;
  *end = *end < 0 ? *end + rank : *end;
  *start = *start < 0 ? 0 : *start > rank ? rank : *start;
  *end = *end < *start ? *start : *end > rank ? rank : *end;
}

cm_status cm_shape_shape(cm_call *call, CM_UNUSED cm_error *error)
{
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 1, .dims = {CM_UNKNOWN_DIM}};
  if (call->input[0].rank != CM_UNKNOWN_RANK) {
    int64_t start, end;
    shape_span(call, call->input[0].rank, &start, &end);
    call->output[0].dims[0] = end - start;
  }
  return CM_OK;
}

cm_status cm_kernel_shape(cm_call *call, CM_UNUSED cm_error *error)
{
  int64_t start, end;
  shape_span(call, call->input[0].rank, &start, &end);
  memcpy(call->result[0]->data, call->input[0].dims + start, (size_t)(end - start) * sizeof(int64_t));
  return CM_OK;
}

cm_status cm_shape_size(cm_call *call, CM_UNUSED cm_error *error)
{
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 0};
  return CM_OK;
}

cm_status cm_kernel_size(cm_call *call, CM_UNUSED cm_error *error)
{
  *(int64_t *)call->result[0]->data = (int64_t)call->value[0]->count;
  return CM_OK;
}

/* Numbers that Range makes; false when that is no sensible number. */
static bool range_count(const cm_tensor *start, const cm_tensor *limit, const cm_tensor *delta, int64_t *count)
{
  double n = ceil((cm_tensor_number(limit, 0) - cm_tensor_number(start, 0)) / cm_tensor_number(delta, 0));
  if (!(n <= 1e9))
    return false;
  *count = n > 0 ? (int64_t)n : 0;
  return true;
}

cm_status cm_shape_range(cm_call *call, cm_error *error)
{
  call->output[0] = (cm_shape){.type = call->input[0].type, .rank = 1, .dims = {CM_UNKNOWN_DIM}};
  if (call->input_count != 3)
    return cm_call_fail(call, error, "needs three inputs");
  for (int i = 0; i < 3; i++)
    if (call->value[i] == NULL)
      return CM_OK;
    else if (call->value[i]->count != 1)
      return cm_call_fail(call, error, "its inputs should be scalars");
  if (!range_count(call->value[0], call->value[1], call->value[2], &call->output[0].dims[0]))
    return cm_call_fail(call, error, "its step is 0, or it has more than 1e9 numbers");
  return CM_OK;
}

cm_status cm_kernel_range(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  double start = cm_tensor_number(call->value[0], 0), delta = cm_tensor_number(call->value[2], 0);
  for (uint64_t i = 0; i < y->count; i++)
    if (y->type == CM_INT64)
      ((int64_t *)y->data)[i] = cm_tensor_integer(call->value[0], 0) + (int64_t)i * cm_tensor_integer(call->value[2], 0);
    else
      cm_tensor_put_number(y, i, start + (double)i * delta, false);
  (void)error;
  return CM_OK;
}

/* ---- Reshape and relatives: the same elements in another shape ---- */

cm_status cm_shape_reshape(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  int64_t product = 1, *dims;
  cm_integers list;
  bool zero_is_zero = cm_node_integer(call->node, "allowzero", 0) != 0;
  int guess = -1;
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "shape", 1, CM_RANK_MAX, &list, error));
  dims = list.at;
  if (!list.known) {
    if (cm_shape_known(&call->input[1]) && call->input[1].rank == 1 && call->input[1].dims[0] <= CM_RANK_MAX) {
      out->rank = (uint32_t)call->input[1].dims[0];
      for (uint32_t i = 0; i < out->rank; i++)
        out->dims[i] = CM_UNKNOWN_DIM;
    }
    return CM_OK;
  }
  for (size_t i = 0; i < list.count; i++) {
    if (dims[i] == 0 && !zero_is_zero) {
      if (x->rank != CM_UNKNOWN_RANK && i >= x->rank)
        return cm_call_fail(call, error, "copies dimension %zu of an input of rank %u", i, x->rank);
      dims[i] = x->rank != CM_UNKNOWN_RANK ? x->dims[i] : CM_UNKNOWN_DIM;
      product = dims[i] < 0 || product < 0 ? -1 : product * dims[i];
    } else if (dims[i] == -1) {
      if (guess >= 0)
        return cm_call_fail(call, error, "leaves two dimensions open");
      guess = (int)i;
    } else if (dims[i] < 0 || dims[i] > (INT64_C(1) << 40))
      return cm_call_fail(call, error, "its shape has dimension %lld: 0 to 2^40, or -1 once, are possible", (long long)dims[i]);
    else if (product >= 0 && __builtin_mul_overflow(product, dims[i], &product))
      return cm_call_fail(call, error, "has an impossible shape");
  }
  uint64_t total;
  bool total_known = cm_shape_known(x) && cm_dims_count(x->rank, x->dims, &total);
  if (total_known && product >= 0) {
    if (guess >= 0 && (product == 0 || total % (uint64_t)product != 0))
      return cm_call_fail(call, error, "%llu elements do not divide into rows of %lld", (unsigned long long)total,
                          (long long)product);
    if (guess < 0 && total != (uint64_t)product)
      return cm_call_fail(call, error, "%llu elements cannot take a shape of %lld", (unsigned long long)total,
                          (long long)product);
    if (guess >= 0)
      dims[guess] = (int64_t)(total / (uint64_t)product);
  }
  out->rank = (uint32_t)list.count;
  memcpy(out->dims, dims, list.count * sizeof *dims);
  return CM_OK;
}

cm_status cm_kernel_reshape(cm_call *call, CM_UNUSED cm_error *error)
{
  cm_tensor_copy(call->result[0], 0, call->value[0], 0, (int64_t)call->result[0]->count);
  return CM_OK;
}

cm_status cm_shape_flatten(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  int64_t axis = cm_node_integer(call->node, "axis", 1), rank = x->rank;
  call->output[0] = (cm_shape){.type = x->type, .rank = 2, .dims = {CM_UNKNOWN_DIM, CM_UNKNOWN_DIM}};
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis > rank)
    return cm_call_fail(call, error, "axis %lld is not within a rank of %lld", (long long)axis, (long long)rank);
  call->output[0].dims[0] = call->output[0].dims[1] = 1;
  for (int64_t i = 0; i < rank; i++) {
    int64_t *half = &call->output[0].dims[i >= axis];
    *half = *half < 0 || x->dims[i] < 0 ? CM_UNKNOWN_DIM : *half * x->dims[i];
  }
  return CM_OK;
}

cm_status cm_kernel_flatten(cm_call *call, cm_error *error)
{
  return cm_kernel_reshape(call, error);
}

cm_status cm_shape_squeeze(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  cm_integers axes;
  bool gone[CM_RANK_MAX] = {false};
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "axes", 1, CM_RANK_MAX, &axes, error));
  if (x->rank == CM_UNKNOWN_RANK || !axes.known || (axes.count == 0 && !cm_shape_known(x)))
    return CM_OK;
  for (size_t i = 0; i < axes.count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes.at[i], x->rank, &axis, error));
    if (x->dims[axis] >= 0 && x->dims[axis] != 1)
      return cm_call_fail(call, error, "cannot remove axis %u of %lld elements", axis, (long long)x->dims[axis]);
    gone[axis] = true;
  }
  out->rank = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (axes.count > 0 ? !gone[i] : x->dims[i] != 1)
      out->dims[out->rank++] = x->dims[i];
  return CM_OK;
}

cm_status cm_kernel_squeeze(cm_call *call, cm_error *error)
{
  return cm_kernel_reshape(call, error);
}

cm_status cm_shape_unsqueeze(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  cm_integers axes;
  bool made[CM_RANK_MAX] = {false};
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "axes", 1, CM_RANK_MAX, &axes, error));
  if (x->rank == CM_UNKNOWN_RANK || !axes.known)
    return CM_OK;
  if (x->rank + axes.count > CM_RANK_MAX)
    return cm_call_fail(call, error, "would have %zu dimensions, at most %d are supported", x->rank + axes.count, CM_RANK_MAX);
  out->rank = x->rank + (uint32_t)axes.count;
  for (size_t i = 0; i < axes.count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes.at[i], out->rank, &axis, error));
    if (made[axis])
      return cm_call_fail(call, error, "names axis %u twice", axis);
    made[axis] = true;
  }
  for (uint32_t i = 0, from = 0; i < out->rank; i++)
    out->dims[i] = made[i] ? 1 : x->dims[from++];
  return CM_OK;
}

cm_status cm_kernel_unsqueeze(cm_call *call, cm_error *error)
{
  return cm_kernel_reshape(call, error);
}

/* ---- Expand and Tile ---- */

cm_status cm_shape_expand(cm_call *call, cm_error *error)
{
  cm_shape wanted = {0};
  cm_integers list;
  call->output[0].type = call->input[0].type;
  CM_TRY(cm_call_integers(call, NULL, 1, CM_RANK_MAX, &list, error));
  if (!list.known)
    return CM_OK;
  wanted.rank = (uint32_t)list.count;
  memcpy(wanted.dims, list.at, sizeof wanted.dims);
  for (size_t i = 0; i < list.count; i++)
    if (wanted.dims[i] < 0)
      return cm_call_fail(call, error, "its shape has dimension %lld, below 0", (long long)wanted.dims[i]);
  return cm_call_broadcast(call, &call->input[0], &wanted, &call->output[0], error);
}

cm_status cm_kernel_expand(cm_call *call, CM_UNUSED cm_error *error)
{
  cm_tensor *y = call->result[0];
  cm_walk w = cm_walk_over(y, call->value, 1);
  cm_copy_strided(y->data, call->value[0]->data, cm_type_bytes(y->type), y->rank, y->dims, 0, w.strides[0]);
  return CM_OK;
}

cm_status cm_shape_tile(cm_call *call, cm_error *error)
{
  cm_integers repeats;
  const cm_shape *x = &call->input[0];
  call->output[0].type = x->type;
  CM_TRY(cm_call_integers(call, NULL, 1, CM_RANK_MAX, &repeats, error));
  if (!repeats.known || x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (repeats.count != x->rank)
    return cm_call_fail(call, error, "%zu repeats do not go with a rank of %u", repeats.count, x->rank);
  call->output[0].rank = x->rank;
  for (size_t i = 0; i < repeats.count; i++) {
    if (repeats.at[i] < 0 || repeats.at[i] > (INT64_C(1) << 32) || x->dims[i] > (INT64_C(1) << 30))
      return cm_call_fail(call, error, "repeats %lld times", (long long)repeats.at[i]);
    call->output[0].dims[i] = x->dims[i] < 0 ? CM_UNKNOWN_DIM : x->dims[i] * repeats.at[i];
  }
  return CM_OK;
}

cm_status cm_kernel_tile(cm_call *call, CM_UNUSED cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t index[CM_RANK_MAX] = {0}, strides[CM_RANK_MAX];
  cm_strides(x->rank, x->dims, strides);
  for (uint64_t k = 0; k < y->count; k++) {
    int64_t at = 0;
    for (uint32_t i = 0; i < y->rank; i++)
      at += index[i] % x->dims[i] * strides[i];
    cm_tensor_copy(y, (int64_t)k, x, at, 1);
    (void)cm_next_index(y->rank, y->dims, index);
  }
  return CM_OK;
}
