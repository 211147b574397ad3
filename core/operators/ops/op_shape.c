/* Operators about shapes: Shape, Size, Range, Reshape and its relatives, Expand, Tile. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

static cm_status copy_data(cm_call *call)
{
  memcpy(call->result[0]->data, call->value[0]->data, call->result[0]->count * cm_type_bytes(call->result[0]->type));
  return CM_OK;
}

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

cm_status cm_shape_shape(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 1, .dims = {CM_UNKNOWN_DIM}};
  if (call->input[0].rank != CM_UNKNOWN_RANK) {
    int64_t start, end;
    shape_span(call, call->input[0].rank, &start, &end);
    call->output[0].dims[0] = end - start;
  }
  return CM_OK;
}

cm_status cm_kernel_shape(cm_call *call, cm_error *error)
{
  int64_t start, end;
  (void)error;
  shape_span(call, call->input[0].rank, &start, &end);
  memcpy(call->result[0]->data, call->input[0].dims + start, (size_t)(end - start) * sizeof(int64_t));
  return CM_OK;
}

cm_status cm_shape_size(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 0};
  return CM_OK;
}

cm_status cm_kernel_size(cm_call *call, cm_error *error)
{
  (void)error;
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
  int64_t dims[CM_RANK_MAX], product = 1;
  size_t count;
  bool known, zero_is_zero = cm_node_integer(call->node, "allowzero", 0) != 0;
  int guess = -1;
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "shape", 1, dims, CM_RANK_MAX, &count, &known, error));
  if (!known) {
    if (cm_shape_known(&call->input[1]) && call->input[1].rank == 1 && call->input[1].dims[0] <= CM_RANK_MAX) {
      out->rank = (uint32_t)call->input[1].dims[0];
      for (uint32_t i = 0; i < out->rank; i++)
        out->dims[i] = CM_UNKNOWN_DIM;
    }
    return CM_OK;
  }
  for (size_t i = 0; i < count; i++) {
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
  out->rank = (uint32_t)count;
  memcpy(out->dims, dims, count * sizeof *dims);
  return CM_OK;
}

cm_status cm_kernel_reshape(cm_call *call, cm_error *error)
{
  (void)error;
  return copy_data(call);
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
  for (int half = 0; half < 2; half++) {
    int64_t product = 1;
    for (int64_t i = half == 0 ? 0 : axis; i < (half == 0 ? axis : rank); i++)
      product = product < 0 || x->dims[i] < 0 ? CM_UNKNOWN_DIM : product * x->dims[i];
    call->output[0].dims[half] = product;
  }
  return CM_OK;
}

cm_status cm_kernel_flatten(cm_call *call, cm_error *error)
{
  (void)error;
  return copy_data(call);
}

cm_status cm_shape_squeeze(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  int64_t axes[CM_RANK_MAX];
  size_t count;
  bool known, gone[CM_RANK_MAX] = {false};
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "axes", 1, axes, CM_RANK_MAX, &count, &known, error));
  if (x->rank == CM_UNKNOWN_RANK || !known || (count == 0 && !cm_shape_known(x)))
    return CM_OK;
  for (size_t i = 0; i < count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes[i], x->rank, &axis, error));
    if (x->dims[axis] >= 0 && x->dims[axis] != 1)
      return cm_call_fail(call, error, "cannot remove axis %u of %lld elements", axis, (long long)x->dims[axis]);
    gone[axis] = true;
  }
  out->rank = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (count > 0 ? !gone[i] : x->dims[i] != 1)
      out->dims[out->rank++] = x->dims[i];
  return CM_OK;
}

cm_status cm_kernel_squeeze(cm_call *call, cm_error *error)
{
  (void)error;
  return copy_data(call);
}

cm_status cm_shape_unsqueeze(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  int64_t axes[CM_RANK_MAX];
  size_t count;
  bool known, made[CM_RANK_MAX] = {false};
  out->type = x->type;
  CM_TRY(cm_call_integers(call, "axes", 1, axes, CM_RANK_MAX, &count, &known, error));
  if (x->rank == CM_UNKNOWN_RANK || !known)
    return CM_OK;
  if (x->rank + count > CM_RANK_MAX)
    return cm_call_fail(call, error, "would have %zu dimensions, at most %d are supported", x->rank + count, CM_RANK_MAX);
  out->rank = x->rank + (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes[i], out->rank, &axis, error));
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
  (void)error;
  return copy_data(call);
}

/* ---- Expand and Tile ---- */

cm_status cm_shape_expand(cm_call *call, cm_error *error)
{
  cm_shape wanted = {0};
  size_t count;
  bool known;
  call->output[0].type = call->input[0].type;
  CM_TRY(cm_call_integers(call, NULL, 1, wanted.dims, CM_RANK_MAX, &count, &known, error));
  if (!known)
    return CM_OK;
  wanted.rank = (uint32_t)count;
  for (size_t i = 0; i < count; i++)
    if (wanted.dims[i] < 0)
      return cm_call_fail(call, error, "its shape has dimension %lld, below 0", (long long)wanted.dims[i]);
  return cm_call_broadcast(call, &call->input[0], &wanted, &call->output[0], error);
}

cm_status cm_kernel_expand(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  cm_shape wide = cm_shape_of(y);
  int64_t strides[CM_RANK_MAX];
  (void)error;
  cm_broadcast_strides(call->value[0], &wide, strides);
  cm_copy_strided(y->data, call->value[0]->data, cm_type_bytes(y->type), y->rank, y->dims, 0, strides);
  return CM_OK;
}

cm_status cm_shape_tile(cm_call *call, cm_error *error)
{
  int64_t repeats[CM_RANK_MAX];
  size_t count;
  bool known;
  const cm_shape *x = &call->input[0];
  call->output[0].type = x->type;
  CM_TRY(cm_call_integers(call, NULL, 1, repeats, CM_RANK_MAX, &count, &known, error));
  if (!known || x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (count != x->rank)
    return cm_call_fail(call, error, "%zu repeats do not go with a rank of %u", count, x->rank);
  call->output[0].rank = x->rank;
  for (size_t i = 0; i < count; i++) {
    if (repeats[i] < 0 || repeats[i] > (INT64_C(1) << 32) || x->dims[i] > (INT64_C(1) << 30))
      return cm_call_fail(call, error, "repeats %lld times", (long long)repeats[i]);
    call->output[0].dims[i] = x->dims[i] < 0 ? CM_UNKNOWN_DIM : x->dims[i] * repeats[i];
  }
  return CM_OK;
}

cm_status cm_kernel_tile(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t index[CM_RANK_MAX] = {0}, strides[CM_RANK_MAX];
  size_t width = cm_type_bytes(y->type);
  (void)error;
  cm_strides(x->rank, x->dims, strides);
  for (uint64_t k = 0; k < y->count; k++) {
    int64_t at = 0;
    for (uint32_t i = 0; i < y->rank; i++)
      at += index[i] % x->dims[i] * strides[i];
    memcpy((uint8_t *)y->data + k * width, (const uint8_t *)x->data + at * (int64_t)width, width);
    (void)cm_next_index(y->rank, y->dims, index);
  }
  return CM_OK;
}
