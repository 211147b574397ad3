/* Operators that pick and place elements by indices: GatherElements, GatherND, ScatterElements, ScatterND, OneHot. */
#include <string.h>

#include "core/operators/operator.h"

/* The index brought into 0 .. extent-1. */
static cm_status within(const cm_call *call, int64_t index, int64_t extent, int64_t *normal, cm_error *error)
{
  if (index < -extent || index >= extent)
    return cm_call_fail(call, error, "index %lld is not within %lld", (long long)index, (long long)extent);
  *normal = index < 0 ? index + extent : index;
  return CM_OK;
}

static void copy_elements(cm_tensor *to, int64_t at, const cm_tensor *from, int64_t first, int64_t count)
{
  size_t width = cm_type_bytes(to->type);
  memcpy((uint8_t *)to->data + (size_t)at * width, (const uint8_t *)from->data + (size_t)first * width, (size_t)count * width);
}

static int64_t product(const int64_t *dims, uint32_t from, uint32_t to)
{
  int64_t all = 1;
  for (uint32_t i = from; i < to; i++)
    all *= dims[i];
  return all;
}

/* ---- what a scattered element does to the one that is there ---- */

typedef enum reduction { REPLACE, ADD, MULTIPLY, LARGEST, SMALLEST, UNKNOWN_REDUCTION } reduction;

static reduction reduction_of(const cm_call *call)
{
  static const char *const names[] = {"none", "add", "mul", "max", "min"};
  const char *name = cm_node_text(call->node, "reduction", "none");
  reduction r = REPLACE;
  while (r < UNKNOWN_REDUCTION && strcmp(names[r], name) != 0)
    r++;
  return r;
}

cm_status cm_check_scatter(const cm_call *call, cm_error *error)
{
  cm_type type = call->input[0].type;
  reduction r = reduction_of(call);
  if (r == UNKNOWN_REDUCTION)
    return cm_call_fail(call, error, "has the reduction '%.20s', which is not computed",
                        cm_node_text(call->node, "reduction", ""));
  return r != REPLACE && (type == CM_COMPLEX64 || type == CM_COMPLEX128) ? cm_call_bad_type(call, type, error) : CM_OK;
}

static void combine(reduction r, cm_tensor *y, int64_t at, const cm_tensor *update, int64_t from)
{
  if (r == REPLACE) {
    copy_elements(y, at, update, from, 1);
    return;
  }
  if (cm_type_is_integer(y->type)) {
    int64_t a = cm_tensor_integer(y, (uint64_t)at), b = cm_tensor_integer(update, (uint64_t)from);
    uint64_t sum = (uint64_t)a + (uint64_t)b, times = (uint64_t)a * (uint64_t)b;
    cm_tensor_put_integer(y, (uint64_t)at,
                          r == ADD        ? (int64_t)sum
                          : r == MULTIPLY ? (int64_t)times
                          : r == LARGEST  ? (a > b ? a : b)
                                          : (a < b ? a : b));
    return;
  }
  double a = cm_tensor_number(y, (uint64_t)at), b = cm_tensor_number(update, (uint64_t)from);
  cm_tensor_put_number(y, (uint64_t)at,
                       r == ADD        ? a + b
                       : r == MULTIPLY ? a * b
                       : r == LARGEST  ? (a > b ? a : b)
                                       : (a < b ? a : b),
                       false);
}

/* ---- GatherElements, ScatterElements ---- */

/* Along the other axes indices are not larger than what they are of; those that are known are within the axis. */
static cm_status need_places(const cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  uint32_t axis;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis && x->dims[i] >= 0 && k->dims[i] > x->dims[i])
      return cm_call_fail(call, error, "its indices are larger than its input along axis %u", i);
  return cm_call_need_indices(call, 1, x->dims[axis], error);
}

cm_status cm_shape_gather_elements(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  call->output[0] = call->input[1];
  call->output[0].type = x->type;
  if (x->rank == CM_UNKNOWN_RANK || call->input[1].rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank != call->input[1].rank || x->rank == 0)
    return cm_call_fail(call, error, "indices of rank %u do not go with an input of rank %u", call->input[1].rank, x->rank);
  return need_places(call, error);
}

/* Where a walk over the indices stands in the input. */
typedef struct walk {
  int64_t strides[CM_RANK_MAX], odometer[CM_RANK_MAX];
  uint32_t axis;
} walk;

static cm_status walk_begin(const cm_call *call, walk *w, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  *w = (walk){0};
  cm_strides(x->rank, x->dims, w->strides);
  return cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &w->axis, error);
}

/* The element of the input that the next index, number i, names along the axis. */
static cm_status walk_on(const cm_call *call, walk *w, uint64_t i, int64_t *place, cm_error *error)
{
  const cm_tensor *x = call->value[0], *k = call->value[1];
  int64_t normal = 0, at = 0;
  CM_TRY(within(call, cm_tensor_integer(k, i), x->dims[w->axis], &normal, error));
  for (uint32_t d = 0; d < x->rank; d++)
    at += (d == w->axis ? normal : w->odometer[d]) * w->strides[d];
  (void)cm_next_index(k->rank, k->dims, w->odometer);
  *place = at;
  return CM_OK;
}

cm_status cm_kernel_gather_elements(cm_call *call, cm_error *error)
{
  walk w;
  int64_t from;
  CM_TRY(walk_begin(call, &w, error));
  for (uint64_t i = 0; i < call->value[1]->count; i++) {
    CM_TRY(walk_on(call, &w, i, &from, error));
    copy_elements(call->result[0], (int64_t)i, call->value[0], from, 1);
  }
  return CM_OK;
}

cm_status cm_shape_scatter_elements(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1], *update = &call->input[2];
  call->output[0] = *x;
  if (!cm_shape_known(x) || !cm_shape_known(k) || !cm_shape_known(update))
    return CM_OK;
  if (k->rank != x->rank || update->rank != k->rank || memcmp(update->dims, k->dims, k->rank * sizeof *k->dims) != 0 ||
      update->type != x->type)
    return cm_call_fail(call, error, "its indices and updates do not go with its input");
  return need_places(call, error);
}

cm_status cm_kernel_scatter_elements(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *update = call->value[2];
  cm_tensor *y = call->result[0];
  walk w;
  int64_t to;
  CM_TRY(walk_begin(call, &w, error));
  copy_elements(y, 0, x, 0, (int64_t)x->count);
  for (uint64_t i = 0; i < call->value[1]->count; i++) {
    CM_TRY(walk_on(call, &w, i, &to, error));
    combine(reduction_of(call), y, to, update, (int64_t)i);
  }
  return CM_OK;
}

/* ---- GatherND, ScatterND: an index names the first dimensions, the rest comes along ---- */

/* Indices that are known are each within the dimension that they are of. */
static cm_status need_tuples(const cm_call *call, uint32_t batch, cm_error *error)
{
  const cm_tensor *k = call->value[1];
  int64_t normal, length = call->input[1].dims[call->input[1].rank - 1];
  for (uint64_t i = 0; k != NULL && i < k->count; i++) {
    int64_t extent = call->input[0].dims[batch + i % (uint64_t)length];
    CM_TRY_IF(extent >= 0, within(call, cm_tensor_integer(k, i), extent, &normal, error));
  }
  return CM_OK;
}

cm_status cm_shape_gather_nd(cm_call *call, cm_error *error)
{
  cm_shape *out = &call->output[0];
  int64_t batch = cm_node_integer(call->node, "batch_dims", 0);
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  out->type = x->type;
  if (x->rank == CM_UNKNOWN_RANK || k->rank == CM_UNKNOWN_RANK || (k->rank > 0 && k->dims[k->rank - 1] < 0))
    return CM_OK;
  if (k->rank == 0 || batch < 0 || batch >= (int64_t)k->rank || batch + k->dims[k->rank - 1] > (int64_t)x->rank ||
      k->dims[k->rank - 1] < 1)
    return cm_call_fail(call, error, "its indices do not go with an input of rank %u", x->rank);
  uint32_t from = (uint32_t)(batch + k->dims[k->rank - 1]);
  if (k->rank - 1 + x->rank - from > CM_RANK_MAX)
    return cm_call_fail(call, error, "would have more than %d dimensions", CM_RANK_MAX);
  for (uint32_t i = 0; i < batch; i++)
    if (k->dims[i] >= 0 && x->dims[i] >= 0 && k->dims[i] != x->dims[i])
      return cm_call_fail(call, error, "its indices and its input have other batches");
  out->rank = 0;
  for (uint32_t i = 0; i + 1 < k->rank; i++)
    out->dims[out->rank++] = k->dims[i];
  for (uint32_t i = from; i < x->rank; i++)
    out->dims[out->rank++] = x->dims[i];
  return need_tuples(call, (uint32_t)batch, error);
}

/* First element of the block that index number `i` names, among `batch` leading dimensions whose place is `base`. */
static cm_status block_of(const cm_call *call, uint64_t i, uint32_t batch, int64_t base, int64_t *first, cm_error *error)
{
  const cm_tensor *x = call->value[0], *k = call->value[1];
  uint64_t length = (uint64_t)k->dims[k->rank - 1];
  int64_t strides[CM_RANK_MAX], normal = 0;
  cm_strides(x->rank, x->dims, strides);
  *first = base;
  for (uint32_t j = 0; j < length; j++) {
    CM_TRY(within(call, cm_tensor_integer(k, i * length + j), x->dims[batch + j], &normal, error));
    *first += normal * strides[batch + j];
  }
  return CM_OK;
}

cm_status cm_kernel_gather_nd(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *k = call->value[1];
  uint32_t batch = (uint32_t)cm_node_integer(call->node, "batch_dims", 0);
  uint32_t length = (uint32_t)k->dims[k->rank - 1];
  int64_t block = product(x->dims, batch + length, x->rank), batches = product(k->dims, 0, batch),
          frame = product(x->dims, batch, x->rank);
  uint64_t count = length > 0 ? k->count / length : 0, each = batches > 0 ? count / (uint64_t)batches : 0;
  for (uint64_t i = 0; i < count; i++) {
    int64_t first;
    CM_TRY(block_of(call, i, batch, (int64_t)(i / each) * frame, &first, error));
    copy_elements(call->result[0], (int64_t)i * block, x, first, block);
  }
  return CM_OK;
}

cm_status cm_shape_scatter_nd(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1], *update = &call->input[2];
  call->output[0] = *x;
  if (!cm_shape_known(x) || !cm_shape_known(k) || !cm_shape_known(update))
    return CM_OK;
  if (k->rank == 0 || k->dims[k->rank - 1] < 1 || k->dims[k->rank - 1] > (int64_t)x->rank || update->type != x->type)
    return cm_call_fail(call, error, "its indices do not go with its input");
  if (product(update->dims, 0, update->rank) != product(k->dims, 0, k->rank - 1) * product(x->dims, (uint32_t)k->dims[k->rank - 1], x->rank))
    return cm_call_fail(call, error, "its updates do not go with its indices");
  return need_tuples(call, 0, error);
}

cm_status cm_kernel_scatter_nd(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *k = call->value[1], *update = call->value[2];
  cm_tensor *y = call->result[0];
  uint32_t length = (uint32_t)k->dims[k->rank - 1];
  int64_t block = product(x->dims, length, x->rank);
  uint64_t count = k->count / length;
  copy_elements(y, 0, x, 0, (int64_t)x->count);
  for (uint64_t i = 0; i < count; i++) {
    int64_t first;
    CM_TRY(block_of(call, i, 0, 0, &first, error));
    for (int64_t j = 0; j < block; j++)
      combine(reduction_of(call), y, first + j, update, (int64_t)i * block + j);
  }
  return CM_OK;
}

/* ---- OneHot ---- */

static cm_status one_hot_axis(const cm_call *call, uint32_t rank, uint32_t *axis, cm_error *error)
{
  return cm_call_axis(call, cm_node_integer(call->node, "axis", -1), rank + 1, axis, error);
}

cm_status cm_shape_one_hot(cm_call *call, cm_error *error)
{
  uint32_t axis;
  const cm_shape *x = &call->input[0], *values = &call->input[2];
  uint64_t count;
  cm_shape *out = &call->output[0];
  out->type = values->type;
  if (cm_shape_known(values) && cm_dims_count(values->rank, values->dims, &count) && count != 2)
    return cm_call_fail(call, error, "needs two values");
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank == CM_RANK_MAX || one_hot_axis(call, x->rank, &axis, error) != CM_OK)
    return x->rank == CM_RANK_MAX ? cm_call_fail(call, error, "its output would have more than %d dimensions", CM_RANK_MAX) : error->status;
  out->rank = x->rank + 1;
  for (uint32_t i = 0; i < out->rank; i++)
    out->dims[i] = i == axis ? CM_UNKNOWN_DIM : x->dims[i - (i > axis)];
  if (call->value[1] != NULL && call->value[1]->count == 1)
    out->dims[axis] = cm_tensor_integer(call->value[1], 0);
  if (out->dims[axis] > 1 << 24 || (call->value[1] != NULL && out->dims[axis] < 0))
    return cm_call_fail(call, error, "has a depth of %lld", (long long)out->dims[axis]);
  return CM_OK;
}

cm_status cm_kernel_one_hot(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *values = call->value[2];
  cm_tensor *y = call->result[0];
  uint32_t axis;
  CM_TRY(one_hot_axis(call, x->rank, &axis, error));
  int64_t depth = y->dims[axis], inner = product(y->dims, axis + 1, y->rank);
  for (int64_t i = 0; i < (int64_t)y->count; i++)
    copy_elements(y, i, values, 0, 1);
  for (int64_t i = 0; i < (int64_t)x->count; i++) {
    int64_t index = cm_tensor_integer(x, (uint64_t)i);
    index += index < 0 ? depth : 0;
    if (index >= 0 && index < depth) /* what is outside is nowhere hot */
      copy_elements(y, (i / inner * depth + index) * inner + i % inner, values, 1, 1);
  }
  return CM_OK;
}
