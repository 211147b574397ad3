/* What the families of operators share. */
#include "core/operators/operator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cm_node_is(const cm_node *node, cm_kernel_function kernel)
{
  return node->known != NULL && node->known->kernel == kernel;
}

bool cm_has(const cm_call *call, uint32_t i)
{
  return i < call->input_count && call->node->inputs[i] != CM_NONE;
}

bool cm_shape_known(const cm_shape *shape)
{
  if (shape->rank == CM_UNKNOWN_RANK)
    return false;
  for (uint32_t i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return false;
  return true;
}

cm_shape cm_shape_of(const cm_tensor *tensor)
{
  cm_shape shape = {.type = tensor->type, .rank = tensor->rank};
  memcpy(shape.dims, tensor->dims, sizeof shape.dims);
  return shape;
}

cm_status cm_call_fail(const cm_call *call, cm_error *error, const char *format, ...)
{
  char label[160], text[320];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  (void)cm_fail(error, CM_BAD_NETWORK, "node %s: %s", cm_node_label(call->node, label, sizeof label), text);
  return cm_fail_at(error, "node %.80s", call->node->name);
}

cm_status cm_call_bad_type(const cm_call *call, cm_type type, cm_error *error)
{
  return cm_call_fail(call, error, "cannot be computed for %s", cm_type_name(type));
}

cm_status cm_call_need_elements(const cm_call *call, cm_error *error)
{
  cm_type type = call->value[0]->type;
  return cm_type_bytes(type) == 0 ? cm_call_bad_type(call, type, error) : CM_OK;
}

cm_status cm_call_axis(const cm_call *call, int64_t axis, uint32_t rank, uint32_t *normal, cm_error *error)
{
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return cm_call_fail(call, error, "axis %lld is not within a rank of %u", (long long)axis, rank);
  *normal = (uint32_t)(axis < 0 ? axis + rank : axis);
  return CM_OK;
}

cm_status cm_call_own_axis(const cm_call *call, int64_t otherwise, cm_error *error)
{
  uint32_t rank = call->input[0].rank, axis;
  return rank == CM_UNKNOWN_RANK ? CM_OK : cm_call_axis(call, cm_node_integer(call->node, "axis", otherwise), rank, &axis, error);
}

/* Whether a shape stands at the end of another, maybe with ones in front. */
static bool ends_with(const cm_shape *whole, const cm_shape *end)
{
  bool ones = false;
  if (end->rank > whole->rank)
    return false;
  for (uint32_t i = 1; i <= end->rank; i++) {
    int64_t there = whole->dims[whole->rank - i], here = end->dims[end->rank - i];
    ones = ones || (here == 1 && there != 1);
    if (there >= 0 && here >= 0 && here != (ones ? 1 : there))
      return false;
  }
  return true;
}

cm_status cm_call_need_scale(const cm_call *call, uint32_t from, uint32_t to, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  uint32_t axis = 0;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error));
  cm_shape normal = {.rank = x->rank - axis};
  memcpy(normal.dims, x->dims + axis, normal.rank * sizeof *normal.dims);
  for (uint32_t i = from; i < to; i++)
    if (cm_has(call, i) && call->input[i].rank != CM_UNKNOWN_RANK && !ends_with(&normal, &call->input[i]))
      return cm_call_fail(call, error, "input %u does not go with what is normalized, from axis %u on", i, axis);
  return CM_OK;
}

/* The first number of an input that is known which is not from `least` to `most`; false: none. */
static bool has_beyond(const cm_call *call, uint32_t input, int64_t least, int64_t most, int64_t *number)
{
  const cm_tensor *t = cm_has(call, input) ? call->value[input] : NULL;
  for (uint64_t i = 0; t != NULL && i < t->count; i++)
    if ((*number = cm_tensor_integer(t, i)) < least || *number > most)
      return true;
  return false;
}

cm_status cm_call_need_indices(const cm_call *call, uint32_t input, int64_t extent, cm_error *error)
{
  int64_t index;
  return extent >= 0 && has_beyond(call, input, -extent, extent - 1, &index)
           ? cm_call_fail(call, error, "index %lld is not within %lld", (long long)index, (long long)extent)
           : CM_OK;
}

cm_status cm_call_need_lengths(const cm_call *call, uint32_t input, int64_t extent, cm_error *error)
{
  int64_t length;
  return extent >= 0 && has_beyond(call, input, 0, extent, &length)
           ? cm_call_fail(call, error, "has a sequence of %lld out of %lld", (long long)length, (long long)extent)
           : CM_OK;
}

cm_status cm_call_need_lists(const cm_call *call, uint32_t from, uint32_t to, int64_t count, cm_error *error)
{
  for (uint32_t i = from; i < to; i++) {
    const cm_shape *s = &call->input[i];
    if (cm_has(call, i) && s->rank != CM_UNKNOWN_RANK && (s->rank != 1 || (s->dims[0] >= 0 && count >= 0 && s->dims[0] != count)))
      return cm_call_fail(call, error, "input %u should be a list of %lld numbers", i, (long long)count);
  }
  return CM_OK;
}

cm_status cm_call_integers(const cm_call *call, const char *attribute, uint32_t input, int64_t *numbers, size_t maximum,
                           size_t *count, bool *known, cm_error *error)
{
  const cm_attribute *a = attribute != NULL ? cm_node_attribute(call->node, attribute) : NULL;
  *known = true;
  *count = 0;
  if (a != NULL) {
    if (a->count > maximum)
      return cm_call_fail(call, error, "%zu numbers in %s, at most %zu make sense", a->count, attribute, maximum);
    memcpy(numbers, a->integers, a->count * sizeof *numbers);
    *count = a->count;
    return CM_OK;
  }
  if (!cm_has(call, input))
    return CM_OK;
  const cm_tensor *t = call->value[input];
  if (t == NULL) {
    *known = false;
    return CM_OK;
  }
  if (t->count > maximum || t->rank > 1)
    return cm_call_fail(call, error, "input %u holds %llu numbers, at most %zu make sense", input,
                        (unsigned long long)t->count, maximum);
  for (uint64_t i = 0; i < t->count; i++)
    numbers[i] = cm_tensor_integer(t, i);
  *count = t->count;
  return CM_OK;
}

bool cm_call_place(const cm_call *call, cm_piece_place *place)
{
  const cm_attribute *a = cm_node_attribute(call->node, CM_PLACE_ATTRIBUTE);
  uint32_t rank = call->input[0].rank;
  *place = (cm_piece_place){.rank = rank == CM_UNKNOWN_RANK ? 0 : rank};
  memcpy(place->whole, call->input[0].dims, place->rank * sizeof *place->whole);
  if (a == NULL || a->count != (size_t)4 * place->rank)
    return false;
  for (size_t i = 0; i < a->count; i++)
    if (a->integers[i] < 0 || a->integers[i] > INT64_C(1) << 40)
      return false;
  memcpy(place->whole, a->integers, rank * sizeof *place->whole);
  memcpy(place->from, a->integers + rank, rank * sizeof *place->whole);
  memcpy(place->out_from, a->integers + 2 * rank, rank * sizeof *place->whole);
  memcpy(place->extent, a->integers + 3 * rank, rank * sizeof *place->whole);
  return true;
}

cm_status cm_call_broadcast(const cm_call *call, const cm_shape *a, const cm_shape *b, cm_shape *both, cm_error *error)
{
  if (a->rank == CM_UNKNOWN_RANK || b->rank == CM_UNKNOWN_RANK) {
    both->rank = CM_UNKNOWN_RANK;
    return CM_OK;
  }
  cm_shape made = *both;
  made.rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < made.rank; i++) {
    int64_t x = i + a->rank >= made.rank ? a->dims[i + a->rank - made.rank] : 1,
            y = i + b->rank >= made.rank ? b->dims[i + b->rank - made.rank] : 1;
    if (x >= 0 && y >= 0 && x != 1 && y != 1 && x != y)
      return cm_call_fail(call, error, "inputs of %lld and %lld in one dimension do not broadcast", (long long)x, (long long)y);
    /* An unknown dim beside one above 1 must be that or 1. */
    made.dims[i] = x == 1 ? y : y == 1 || x == y ? x : x < 0 ? y : y < 0 ? x : 0;
  }
  *both = made;
  return CM_OK;
}

void cm_strides(uint32_t rank, const int64_t *dims, int64_t *strides)
{
  int64_t step = 1;
  for (uint32_t i = rank; i-- > 0; step *= dims[i])
    strides[i] = step;
}

void cm_broadcast_strides(const cm_tensor *tensor, const cm_shape *wide, int64_t *strides)
{
  int64_t own[CM_RANK_MAX];
  cm_strides(tensor->rank, tensor->dims, own);
  for (uint32_t i = 0; i < wide->rank; i++) {
    bool there = i + tensor->rank >= wide->rank;
    uint32_t j = there ? i + tensor->rank - wide->rank : 0;
    strides[i] = there && tensor->dims[j] != 1 ? own[j] : 0;
  }
}

bool cm_next_index(uint32_t rank, const int64_t *dims, int64_t *index)
{
  for (uint32_t i = rank; i-- > 0;) {
    if (++index[i] < dims[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/* One run along the last dimension. */
static void copy_run(uint8_t *out, const uint8_t *from, size_t width, int64_t count, int64_t stride)
{
  if (stride == 1) {
    memcpy(out, from, (size_t)count * width);
    return;
  }
  switch (width) {
  case 1:
    for (int64_t i = 0; i < count; i++)
      out[i] = from[i * stride];
    return;
  case 4:
    for (int64_t i = 0; i < count; i++)
      ((uint32_t *)out)[i] = ((const uint32_t *)from)[i * stride];
    return;
  case 8:
    for (int64_t i = 0; i < count; i++)
      ((uint64_t *)out)[i] = ((const uint64_t *)from)[i * stride];
    return;
  default:
    for (int64_t i = 0; i < count; i++)
      memcpy(out + (size_t)i * width, from + i * stride * (int64_t)width, width);
  }
}

void cm_copy_strided(void *out, const void *data, size_t width, uint32_t rank, const int64_t *dims, int64_t offset,
                     const int64_t *strides)
{
  int64_t index[CM_RANK_MAX] = {0}, last = rank > 0 ? dims[rank - 1] : 1,
          last_stride = rank > 0 ? strides[rank - 1] : 1;
  uint32_t outer = rank > 0 ? rank - 1 : 0;
  uint8_t *to = out;
  for (uint32_t i = 0; i < rank; i++)
    if (dims[i] == 0)
      return;
  do {
    int64_t at = offset;
    for (uint32_t i = 0; i < outer; i++)
      at += index[i] * strides[i];
    copy_run(to, (const uint8_t *)data + at * (int64_t)width, width, last, last_stride);
    to += (size_t)last * width;
  } while (cm_next_index(outer, dims, index));
}
