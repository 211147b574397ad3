/* Operators that take tensors apart and put them together: Concat, Split, Slice, Gather, Pad. */
#include <string.h>

#include "core/operators/operator.h"

static const uint8_t *at(const cm_tensor *t, int64_t element)
{
  return (const uint8_t *)t->data + element * (int64_t)cm_type_bytes(t->type);
}

/* ---- Concat ---- */

cm_status cm_shape_concat(cm_call *call, cm_error *error)
{
  cm_shape *out = &call->output[0];
  uint32_t axis = 0, known = CM_NONE;
  out->type = call->input[0].type;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->input[i].rank == CM_UNKNOWN_RANK)
      return CM_OK;
    else
      known = known == CM_NONE ? i : known;
  if (known == CM_NONE)
    return cm_call_fail(call, error, "needs an input");
  cm_shape made = call->input[known];
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 1), made.rank, &axis, error));
  made.dims[axis] = 0;
  for (uint32_t i = 0; i < call->input_count; i++) {
    const cm_shape *x = &call->input[i];
    if (x->rank != made.rank)
      return cm_call_fail(call, error, "inputs of ranks %u and %u cannot be joined", made.rank, x->rank);
    for (uint32_t k = 0; k < made.rank; k++)
      if (k == axis)
        made.dims[k] = made.dims[k] < 0 || x->dims[k] < 0 ? CM_UNKNOWN_DIM : made.dims[k] + x->dims[k];
      else if (made.dims[k] < 0)
        made.dims[k] = x->dims[k];
      else if (x->dims[k] >= 0 && x->dims[k] != made.dims[k])
        return cm_call_fail(call, error, "inputs of %lld and %lld in dimension %u cannot be joined",
                            (long long)made.dims[k], (long long)x->dims[k], k);
  }
  made.type = out->type;
  *out = made;
  return CM_OK;
}

/* Rows before an axis, and elements from it on. */
static int64_t outer_of(const cm_tensor *t, uint32_t axis)
{
  int64_t product = 1;
  for (uint32_t i = 0; i < axis; i++)
    product *= t->dims[i];
  return product;
}

cm_status cm_kernel_concat(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  uint32_t axis;
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 1), y->rank, &axis, error));
  int64_t outer = outer_of(y, axis);
  uint8_t *to = y->data;
  for (int64_t o = 0; o < outer; o++)
    for (uint32_t i = 0; i < call->input_count; i++) {
      const cm_tensor *x = call->value[i];
      if (x->type != y->type)
        return cm_call_bad_type(call, x->type, error);
      int64_t run = (int64_t)x->count / outer;
      size_t bytes = (size_t)run * cm_type_bytes(x->type);
      memcpy(to, at(x, o * run), bytes);
      to += bytes;
    }
  return CM_OK;
}

/* ---- Split ---- */

/* The lengths of the pieces; *known false when they are not known yet. */
static cm_status split_lengths(const cm_call *call, int64_t total, int64_t *lengths, bool *known, cm_error *error)
{
  size_t count;
  uint32_t pieces = call->output_count;
  int64_t sum = 0;
  CM_TRY(cm_call_integers(call, "split", 1, lengths, pieces, &count, known, error));
  if (!*known || total < 0) {
    *known = false;
    return CM_OK;
  }
  if (count == 0) {
    int64_t each = (total + pieces - 1) / pieces;
    for (uint32_t i = 0; i < pieces; i++, total -= lengths[i - 1])
      lengths[i] = total < each ? total : each;
    return CM_OK;
  }
  for (size_t i = 0; i < count; i++) {
    if (lengths[i] < 0 || lengths[i] > total)
      return cm_call_fail(call, error, "has a piece of %lld out of %lld", (long long)lengths[i], (long long)total);
    sum += lengths[i];
  }
  if (count != pieces || sum != total)
    return cm_call_fail(call, error, "%zu pieces of %lld in all do not make %u of %lld", count, (long long)sum, pieces,
                        (long long)total);
  return CM_OK;
}

cm_status cm_shape_split(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  uint32_t axis;
  int64_t *lengths;
  bool known;
  for (uint32_t i = 0; i < call->output_count; i++)
    call->output[i] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  CM_TRY(CM_NEW(call->memory, lengths, call->output_count, error));
  cm_status status = split_lengths(call, x->dims[axis], lengths, &known, error);
  for (uint32_t i = 0; status == CM_OK && i < call->output_count; i++)
    call->output[i].dims[axis] = known ? lengths[i] : CM_UNKNOWN_DIM;
  cm_free(lengths);
  return status;
}

cm_status cm_kernel_split(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  uint32_t axis;
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  int64_t outer = outer_of(x, axis), from = 0;
  for (int64_t o = 0; o < outer; o++)
    for (uint32_t i = 0; i < call->output_count; i++) {
      int64_t inner = 1;
      for (uint32_t k = axis + 1; k < x->rank; k++)
        inner *= x->dims[k];
      int64_t run = call->output[i].dims[axis] * inner;
      if (call->result[i] != NULL)
        memcpy((uint8_t *)(uintptr_t)at(call->result[i], o * run), at(x, from), (size_t)run * cm_type_bytes(x->type));
      from += run;
    }
  return CM_OK;
}

/* ---- Slice ---- */

typedef struct slice {
  int64_t start[CM_RANK_MAX], step[CM_RANK_MAX], length[CM_RANK_MAX];
} slice;

/* Starts and lengths for all axes of known extent; *known false when an input is not known. */
static cm_status read_slice(const cm_call *call, const cm_shape *x, slice *s, bool *known, cm_error *error)
{
  int64_t starts[CM_RANK_MAX], ends[CM_RANK_MAX], axes[CM_RANK_MAX], steps[CM_RANK_MAX];
  size_t count, end_count, axis_count, step_count;
  bool k1, k2, k3, k4;
  CM_TRY(cm_call_integers(call, "starts", 1, starts, CM_RANK_MAX, &count, &k1, error));
  CM_TRY(cm_call_integers(call, "ends", 2, ends, CM_RANK_MAX, &end_count, &k2, error));
  CM_TRY(cm_call_integers(call, "axes", 3, axes, CM_RANK_MAX, &axis_count, &k3, error));
  CM_TRY(cm_call_integers(call, NULL, 4, steps, CM_RANK_MAX, &step_count, &k4, error));
  *known = k1 && k2 && k3 && k4;
  for (uint32_t i = 0; i < x->rank; i++) {
    s->start[i] = 0;
    s->step[i] = 1;
    s->length[i] = x->dims[i];
  }
  if (!*known)
    return CM_OK;
  if (end_count != count || (axis_count != 0 && axis_count != count) || (step_count != 0 && step_count != count))
    return cm_call_fail(call, error, "its starts, ends, axes and steps do not go together");
  for (size_t i = 0; i < count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axis_count > 0 ? axes[i] : (int64_t)i, x->rank, &axis, error));
    int64_t n = x->dims[axis], step = step_count > 0 ? steps[i] : 1, start = starts[i], end = ends[i];
    if (step == 0 || step == INT64_MIN)
      return cm_call_fail(call, error, "has a step of %lld", (long long)step);
    s->step[axis] = step;
    if (n < 0) {
      s->length[axis] = CM_UNKNOWN_DIM;
      continue;
    }
    start = start < 0 ? (start < -n ? -1 : start + n) : start;
    end = end < 0 ? (end < -n ? -1 : end + n) : end;
    if (step > 0) {
      start = start < 0 ? 0 : start > n ? n : start;
      end = end < 0 ? 0 : end > n ? n : end;
      s->length[axis] = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
      start = start < -1 ? -1 : start > n - 1 ? n - 1 : start;
      end = end < -1 ? -1 : end > n - 1 ? n - 1 : end;
      /* A start before the first element walks nowhere. */
      s->length[axis] = start > end ? (start - end - 1) / -step + 1 : 0;
    }
    s->start[axis] = start;
  }
  return CM_OK;
}

cm_status cm_shape_slice(cm_call *call, cm_error *error)
{
  slice s;
  bool known;
  const cm_shape *x = &call->input[0];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_slice(call, x, &s, &known, error));
  for (uint32_t i = 0; i < x->rank; i++)
    call->output[0].dims[i] = known ? s.length[i] : CM_UNKNOWN_DIM;
  return CM_OK;
}

cm_status cm_kernel_slice(cm_call *call, cm_error *error)
{
  slice s;
  bool known;
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  cm_shape shape = cm_shape_of(x);
  int64_t strides[CM_RANK_MAX], offset = 0;
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(read_slice(call, &shape, &s, &known, error));
  if (y->count == 0)
    return CM_OK;
  cm_strides(x->rank, x->dims, strides);
  for (uint32_t i = 0; i < x->rank; i++) {
    offset += s.start[i] * strides[i];
    strides[i] *= s.step[i];
  }
  cm_copy_strided(y->data, x->data, cm_type_bytes(y->type), y->rank, y->dims, offset, strides);
  return CM_OK;
}

/* ---- Gather ---- */

cm_status cm_shape_gather(cm_call *call, cm_error *error)
{
  uint32_t axis;
  cm_shape *out = &call->output[0];
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  out->type = x->type;
  if (x->rank == CM_UNKNOWN_RANK || k->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  if (x->rank + k->rank - 1 > CM_RANK_MAX)
    return cm_call_fail(call, error, "would have %u dimensions, at most %d are supported", x->rank + k->rank - 1, CM_RANK_MAX);
  out->rank = 0;
  for (uint32_t i = 0; i < axis; i++)
    out->dims[out->rank++] = x->dims[i];
  for (uint32_t i = 0; i < k->rank; i++)
    out->dims[out->rank++] = k->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; i++)
    out->dims[out->rank++] = x->dims[i];
  return cm_call_need_indices(call, 1, x->dims[axis], error);
}

cm_status cm_kernel_gather(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *k = call->value[1];
  uint32_t axis;
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  int64_t outer = outer_of(x, axis), inner = 1, length = x->dims[axis];
  for (uint32_t i = axis + 1; i < x->rank; i++)
    inner *= x->dims[i];
  size_t bytes = (size_t)inner * cm_type_bytes(x->type);
  uint8_t *to = call->result[0]->data;
  for (int64_t o = 0; o < outer; o++)
    for (uint64_t i = 0; i < k->count; i++, to += bytes) {
      int64_t index = cm_tensor_integer(k, i);
      memcpy(to, at(x, (o * length + (index < 0 ? index + length : index)) * inner), bytes);
    }
  return CM_OK;
}

/* ---- Pad ---- */

/* Padding before and after for every axis; *known false when not known. */
static cm_status read_pads(const cm_call *call, uint32_t rank, int64_t *before, int64_t *after, bool *known, cm_error *error)
{
  int64_t pads[2 * CM_RANK_MAX], axes[CM_RANK_MAX];
  size_t count, axis_count;
  bool axes_known;
  CM_TRY(cm_call_integers(call, "pads", 1, pads, (size_t)2 * CM_RANK_MAX, &count, known, error));
  CM_TRY(cm_call_integers(call, NULL, 3, axes, CM_RANK_MAX, &axis_count, &axes_known, error));
  *known = *known && axes_known;
  if (!*known)
    return CM_OK;
  size_t named = cm_has(call, 3) ? axis_count : rank;
  if (count != 2 * named)
    return cm_call_fail(call, error, "%zu pads do not go with %zu axes", count, named);
  for (uint32_t i = 0; i < rank; i++)
    before[i] = after[i] = 0;
  for (size_t i = 0; i < named; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, cm_has(call, 3) ? axes[i] : (int64_t)i, rank, &axis, error));
    if (pads[i] < -(1 << 24) || pads[i] > (1 << 24) || pads[i + named] < -(1 << 24) || pads[i + named] > (1 << 24))
      return cm_call_fail(call, error, "pads %lld, which makes no sense", (long long)pads[i]);
    before[axis] = pads[i];
    after[axis] = pads[i + named];
  }
  return CM_OK;
}

cm_status cm_shape_pad(cm_call *call, cm_error *error)
{
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX];
  bool known;
  const cm_shape *x = &call->input[0];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_pads(call, x->rank, before, after, &known, error));
  for (uint32_t i = 0; i < x->rank; i++) {
    int64_t dim = known && x->dims[i] >= 0 ? x->dims[i] + before[i] + after[i] : CM_UNKNOWN_DIM;
    if (known && x->dims[i] >= 0 && dim < 0)
      return cm_call_fail(call, error, "takes more from axis %u than it has", i);
    call->output[0].dims[i] = dim;
  }
  return CM_OK;
}

/* The element of `n` that stands at place `i` outside them; -1: the constant. */
static int64_t padded_place(int64_t i, int64_t n, const char *mode)
{
  if (i >= 0 && i < n)
    return i;
  if (strcmp(mode, "edge") == 0)
    return n == 0 ? -1 : i < 0 ? 0 : n - 1;
  if (strcmp(mode, "wrap") == 0)
    return n == 0 ? -1 : (i % n + n) % n;
  if (strcmp(mode, "reflect") == 0 && n > 1) {
    int64_t period = 2 * (n - 1), k = (i % period + period) % period;
    return k < n ? k : period - k;
  }
  return strcmp(mode, "reflect") == 0 && n == 1 ? 0 : -1;
}

cm_status cm_kernel_pad(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX], strides[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  bool known;
  const char *mode = cm_node_text(call->node, "mode", "constant");
  size_t width = cm_type_bytes(y->type);
  uint8_t fill[16] = {0};
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(read_pads(call, x->rank, before, after, &known, error));
  float number = cm_node_number(call->node, "value", 0);
  if (cm_has(call, 2) && call->value[2]->type == y->type && call->value[2]->count == 1)
    memcpy(fill, call->value[2]->data, width);
  else if (y->type == CM_FLOAT)
    memcpy(fill, &number, sizeof number);
  cm_strides(x->rank, x->dims, strides);
  for (uint64_t k = 0; k < y->count; k++) {
    int64_t place = 0;
    for (uint32_t i = 0; i < y->rank && place >= 0; i++) {
      int64_t p = padded_place(index[i] - before[i], x->dims[i], mode);
      place = p < 0 ? -1 : place + p * strides[i];
    }
    memcpy((uint8_t *)y->data + k * width, place < 0 ? fill : at(x, place), width);
    (void)cm_next_index(y->rank, y->dims, index);
  }
  return CM_OK;
}
