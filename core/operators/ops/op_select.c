/* Operators that find, order and choose elements: TopK, NonZero, Unique, Compress, ReverseSequence, CumSum, Hardmax. */
#include <stdlib.h>
#include <string.h>

#include "core/operators/operator.h"

/* Elements of an axis: those before it, of it and after it. */
typedef struct lines {
  int64_t outer, extent, inner;
} lines;

static cm_status lines_of(const cm_call *call, const cm_tensor *x, int64_t axis, lines *l, cm_error *error)
{
  uint32_t at;
  CM_TRY(cm_call_axis(call, axis, x->rank, &at, error));
  *l = (lines){.outer = 1, .extent = x->dims[at], .inner = 1};
  for (uint32_t i = 0; i < x->rank; i++) {
    l->outer *= i < at ? x->dims[i] : 1;
    l->inner *= i > at ? x->dims[i] : 1;
  }
  return CM_OK;
}

static void copy_elements(cm_tensor *to, int64_t at, const cm_tensor *from, int64_t first, int64_t count)
{
  size_t width = cm_type_bytes(to->type);
  memcpy((uint8_t *)to->data + (size_t)at * width, (const uint8_t *)from->data + (size_t)first * width, (size_t)count * width);
}

/* ---- TopK ---- */

cm_status cm_shape_top_k(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  uint32_t axis;
  int64_t k = call->opset < 10 ? cm_node_integer(call->node, "k", CM_UNKNOWN_DIM) : CM_UNKNOWN_DIM;
  if (call->opset >= 10 && !cm_has(call, 1))
    return cm_call_fail(call, error, "needs a number of elements");
  if (call->opset >= 10 && call->value[1] != NULL && call->value[1]->count == 1 && (k = cm_tensor_integer(call->value[1], 0)) < 0)
    return cm_call_fail(call, error, "should give %lld elements", (long long)k);
  for (uint32_t o = 0; o < call->output_count; o++)
    call->output[o] = *x;
  if (call->output_count > 1)
    call->output[1].type = CM_INT64;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error));
  if (x->dims[axis] >= 0 && k > x->dims[axis])
    return cm_call_fail(call, error, "should give %lld of %lld elements", (long long)k, (long long)x->dims[axis]);
  for (uint32_t o = 0; o < call->output_count; o++)
    call->output[o].dims[axis] = k;
  return CM_OK;
}

/* A number with its place; whole numbers are compared exactly. */
typedef struct ranked {
  double number;
  int64_t whole, place;
} ranked;

static int by_number(const void *first, const void *second)
{
  const ranked *a = first, *b = second;
  int order = a->number < b->number ? -1 : a->number > b->number;
  order = order != 0 ? order : a->whole < b->whole ? -1 : a->whole > b->whole;
  return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

static int by_number_down(const void *first, const void *second)
{
  const ranked *a = first, *b = second;
  int order = a->number > b->number ? -1 : a->number < b->number;
  order = order != 0 ? order : a->whole > b->whole ? -1 : a->whole < b->whole;
  return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

static ranked rank_element(const cm_tensor *x, int64_t at, int64_t place)
{
  return (ranked){.number = cm_tensor_number(x, (uint64_t)at), .place = place,
                  .whole = cm_type_is_integer(x->type) ? cm_tensor_integer(x, (uint64_t)at) : 0};
}

cm_status cm_kernel_top_k(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  lines l, made;
  ranked *line;
  int64_t axis = cm_node_integer(call->node, "axis", -1);
  bool largest = cm_node_integer(call->node, "largest", 1) != 0;
  cm_tensor *some = call->result[0] != NULL ? call->result[0] : call->result[1];
  CM_TRY(lines_of(call, x, axis, &l, error));
  CM_TRY(lines_of(call, some, axis, &made, error));
  CM_TRY(CM_NEW(call->memory, line, l.extent + 1, error));
  for (int64_t r = 0; r < l.outer * l.inner; r++) {
    int64_t from = r / l.inner * l.extent * l.inner + r % l.inner, to = r / l.inner * made.extent * l.inner + r % l.inner;
    for (int64_t i = 0; i < l.extent; i++)
      line[i] = rank_element(x, from + i * l.inner, i);
    qsort(line, (size_t)l.extent, sizeof *line, largest ? by_number_down : by_number);
    for (int64_t i = 0; i < made.extent; i++) {
      if (call->result[0] != NULL)
        copy_elements(call->result[0], to + i * l.inner, x, from + line[i].place * l.inner, 1);
      if (call->output_count > 1 && call->result[1] != NULL)
        ((int64_t *)call->result[1]->data)[to + i * l.inner] = line[i].place;
    }
  }
  cm_free(line);
  return CM_OK;
}

/* ---- NonZero ---- */

cm_status cm_shape_non_zero(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  (void)error;
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 2, .dims = {CM_UNKNOWN_DIM, CM_UNKNOWN_DIM}};
  if (call->input[0].rank != CM_UNKNOWN_RANK)
    call->output[0].dims[0] = call->input[0].rank;
  if (x == NULL)
    return CM_OK;
  call->output[0].dims[1] = 0;
  for (uint64_t i = 0; i < x->count; i++)
    call->output[0].dims[1] += cm_tensor_number(x, i) != 0;
  return CM_OK;
}

cm_status cm_kernel_non_zero(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  int64_t index[CM_RANK_MAX] = {0}, count = call->result[0]->dims[1], at = 0;
  (void)error;
  for (uint64_t i = 0; i < x->count; i++) {
    for (uint32_t k = 0; cm_tensor_number(x, i) != 0 && k < x->rank; k++)
      ((int64_t *)call->result[0]->data)[k * count + at] = index[k];
    at += cm_tensor_number(x, i) != 0;
    (void)cm_next_index(x->rank, x->dims, index);
  }
  return CM_OK;
}

/* ---- Unique: slices of an axis, or single elements ---- */

typedef struct unique {
  const cm_tensor *x;
  lines l;
  int64_t *first, *number; /* of each slice: the first one equal to it; of each first one: how many before it */
  int64_t *order;          /* first ones in the order of the output */
  int64_t count;
} unique;

/* Slices compare as their elements do, from the first one on. */
static int compare_slices(const unique *u, int64_t a, int64_t b)
{
  for (int64_t o = 0; o < u->l.outer; o++)
    for (int64_t i = 0; i < u->l.inner; i++) {
      ranked x = rank_element(u->x, (o * u->l.extent + a) * u->l.inner + i, 0),
             y = rank_element(u->x, (o * u->l.extent + b) * u->l.inner + i, 0);
      int order = by_number(&x, &y);
      if (order != 0)
        return order;
    }
  return 0;
}

static void end_unique(unique *u)
{
  CM_FREE(u->first, u->number, u->order);
}

static cm_status find_unique(const cm_call *call, unique *u, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  *u = (unique){.x = x, .l = {.outer = 1, .extent = (int64_t)x->count, .inner = 1}};
  CM_TRY_IF(cm_node_attribute(call->node, "axis") != NULL, lines_of(call, x, cm_node_integer(call->node, "axis", 0), &u->l, error));
  if (CM_NEW_ALL(call->memory, error, CM_ARRAY(u->first, u->l.extent + 1), CM_ARRAY(u->number, u->l.extent + 1),
                 CM_ARRAY(u->order, u->l.extent + 1)) != CM_OK) {
    end_unique(u);
    return error->status;
  }
  bool sorted = cm_node_integer(call->node, "sorted", 1) != 0;
  for (int64_t i = 0; i < u->l.extent; i++) {
    int64_t at = 0, order = 1;
    while (at < u->count && (order = compare_slices(u, i, u->order[at])) != 0 && (!sorted || order > 0))
      at++;
    if (at < u->count && order == 0) {
      u->first[i] = u->order[at];
      continue;
    }
    memmove(u->order + at + 1, u->order + at, (size_t)(u->count - at) * sizeof *u->order);
    u->order[at] = u->first[i] = i;
    u->count++;
  }
  for (int64_t i = 0; i < u->count; i++)
    u->number[u->order[i]] = i;
  return CM_OK;
}

cm_status cm_shape_unique(cm_call *call, cm_error *error)
{
  bool along = cm_node_attribute(call->node, "axis") != NULL;
  unique u = {.count = CM_UNKNOWN_DIM, .l = {.extent = CM_UNKNOWN_DIM}};
  uint32_t axis = 0;
  cm_shape *out = &call->output[0];
  if (call->value[0] != NULL) {
    CM_TRY(find_unique(call, &u, error));
    end_unique(&u);
  }
  *out = along ? call->input[0] : (cm_shape){.type = call->input[0].type, .rank = 1};
  CM_TRY_IF(along && out->rank != CM_UNKNOWN_RANK, cm_call_axis(call, cm_node_integer(call->node, "axis", 0), out->rank, &axis, error));
  if (out->rank != CM_UNKNOWN_RANK)
    out->dims[axis] = u.count;
  for (uint32_t o = 1; o < call->output_count; o++)
    call->output[o] = (cm_shape){.type = CM_INT64, .rank = 1, .dims = {o == 2 ? u.l.extent : u.count}};
  return CM_OK;
}

cm_status cm_kernel_unique(cm_call *call, cm_error *error)
{
  unique u;
  CM_TRY(find_unique(call, &u, error));
  cm_tensor *r[4] = {NULL};
  for (uint32_t o = 0; o < call->output_count && o < 4; o++)
    r[o] = call->result[o];
  for (int64_t i = 0; i < u.count; i++) {
    for (int64_t o = 0; r[0] != NULL && o < u.l.outer; o++)
      copy_elements(r[0], (o * u.count + i) * u.l.inner, u.x, (o * u.l.extent + u.order[i]) * u.l.inner, u.l.inner);
    if (r[1] != NULL)
      ((int64_t *)r[1]->data)[i] = u.order[i];
  }
  for (int64_t i = 0; i < u.l.extent; i++) {
    int64_t number = u.number[u.first[i]];
    if (r[2] != NULL)
      ((int64_t *)r[2]->data)[i] = number;
    if (r[3] != NULL)
      ((int64_t *)r[3]->data)[number]++;
  }
  end_unique(&u);
  return CM_OK;
}

/* ---- Compress ---- */

cm_status cm_shape_compress(cm_call *call, cm_error *error)
{
  const bool one_axis = cm_node_attribute(call->node, "axis") != NULL;
  const cm_shape *x = &call->input[0];
  cm_shape *out = &call->output[0];
  uint32_t axis = 0;
  uint64_t all = 0;
  *out = one_axis ? *x : (cm_shape){.type = x->type, .rank = 1};
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY_IF(one_axis, cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  int64_t extent = one_axis ? x->dims[axis] : cm_shape_known(x) && cm_dims_count(x->rank, x->dims, &all) ? (int64_t)all : -1;
  out->dims[axis] = CM_UNKNOWN_DIM;
  if (call->value[1] == NULL)
    return CM_OK;
  out->dims[axis] = 0;
  for (uint64_t i = 0; i < call->value[1]->count; i++)
    if (cm_tensor_integer(call->value[1], i) != 0) {
      if (extent >= 0 && (int64_t)i >= extent)
        return cm_call_fail(call, error, "chooses element %llu of %lld", (unsigned long long)i, (long long)extent);
      out->dims[axis]++;
    }
  return CM_OK;
}

cm_status cm_kernel_compress(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *choice = call->value[1];
  lines l = {.outer = 1, .extent = (int64_t)x->count, .inner = 1};
  int64_t to = 0;
  CM_TRY_IF(cm_node_attribute(call->node, "axis") != NULL, lines_of(call, x, cm_node_integer(call->node, "axis", 0), &l, error));
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < (int64_t)choice->count; i++) {
      if (cm_tensor_integer(choice, (uint64_t)i) == 0)
        continue;
      copy_elements(call->result[0], to, x, (o * l.extent + i) * l.inner, l.inner);
      to += l.inner;
    }
  return CM_OK;
}

/* ---- ReverseSequence ---- */

cm_status cm_shape_reverse_sequence(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  const cm_shape *x = &call->input[0], *lengths = &call->input[1];
  uint32_t batch, time;
  if (x->rank == CM_UNKNOWN_RANK || !cm_shape_known(lengths))
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "time_axis", 0), x->rank, &time, error));
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "batch_axis", 1), x->rank, &batch, error));
  if (lengths->rank != 1 || (x->dims[batch] >= 0 && lengths->dims[0] != x->dims[batch]))
    return cm_call_fail(call, error, "needs %lld lengths", (long long)x->dims[batch]);
  return cm_call_need_lengths(call, 1, x->dims[time], error);
}

cm_status cm_kernel_reverse_sequence(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *length = call->value[1];
  uint32_t time, batch;
  int64_t index[CM_RANK_MAX] = {0}, strides[CM_RANK_MAX];
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "time_axis", 0), x->rank, &time, error));
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "batch_axis", 1), x->rank, &batch, error));
  cm_strides(x->rank, x->dims, strides);
  for (uint64_t i = 0; i < x->count; i++) {
    int64_t n = cm_tensor_integer(length, (uint64_t)index[batch]), t = index[time];
    copy_elements(call->result[0], (int64_t)i, x, (int64_t)i + (t < n ? (n - 1 - t - t) * strides[time] : 0), 1);
    (void)cm_next_index(x->rank, x->dims, index);
  }
  return CM_OK;
}

/* ---- CumSum ---- */

cm_status cm_shape_cum_sum(cm_call *call, cm_error *error)
{
  const cm_shape *axis = &call->input[1];
  uint64_t count;
  call->output[0] = call->input[0];
  if (cm_shape_known(axis) && cm_dims_count(axis->rank, axis->dims, &count) && count != 1)
    return cm_call_fail(call, error, "needs one axis");
  return call->input[0].rank == CM_UNKNOWN_RANK ? CM_OK : cm_call_need_indices(call, 1, call->input[0].rank, error);
}

cm_status cm_kernel_cum_sum(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  bool exclusive = cm_node_integer(call->node, "exclusive", 0) != 0,
       reverse = cm_node_integer(call->node, "reverse", 0) != 0, whole = cm_type_is_integer(x->type);
  lines l;
  CM_TRY(lines_of(call, x, cm_tensor_integer(call->value[1], 0), &l, error));
  for (int64_t r = 0; r < l.outer * l.inner; r++) {
    double sum = 0;
    uint64_t whole_sum = 0;
    for (int64_t k = 0; k < l.extent; k++) {
      int64_t i = reverse ? l.extent - 1 - k : k;
      uint64_t at = (uint64_t)((r / l.inner * l.extent + i) * l.inner + r % l.inner);
      uint64_t add = whole ? (uint64_t)cm_tensor_integer(x, at) : 0;
      double number = whole ? 0 : cm_tensor_number(x, at);
      if (whole)
        cm_tensor_put_integer(call->result[0], at, (int64_t)(exclusive ? whole_sum : whole_sum + add));
      else
        cm_tensor_put_number(call->result[0], at, exclusive ? sum : sum + number, false);
      whole_sum += add;
      sum += number;
    }
  }
  return CM_OK;
}

/* ---- Hardmax: 1 where the first of the largest stands ---- */

cm_status cm_shape_hardmax(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return cm_call_own_axis(call, call->opset < 13 ? 1 : -1, error);
}

cm_status cm_kernel_hardmax(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  lines l;
  CM_TRY(lines_of(call, x, cm_node_integer(call->node, "axis", call->opset < 13 ? 1 : -1), &l, error));
  if (call->opset < 13) {
    l.extent *= l.inner;
    l.inner = 1;
  }
  for (int64_t r = 0; l.extent > 0 && r < l.outer * l.inner; r++) {
    int64_t from = r / l.inner * l.extent * l.inner + r % l.inner, best = from;
    for (int64_t i = 1; i < l.extent; i++)
      if (cm_tensor_number(x, (uint64_t)(from + i * l.inner)) > cm_tensor_number(x, (uint64_t)best))
        best = from + i * l.inner;
    cm_tensor_put_number(call->result[0], (uint64_t)best, 1, false);
  }
  return CM_OK;
}
