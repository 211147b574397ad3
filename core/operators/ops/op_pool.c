/* MaxPool and its MaxUnpool, AveragePool and the global pools. */
#include <math.h>
#include <string.h>

#include "core/operators/ops/window.h"

static cm_status pool_window(const cm_call *call, cm_window *w, cm_error *error)
{
  return cm_window_read(call, &call->input[0], NULL, cm_node_integer(call->node, "ceil_mode", 0) != 0, w, error);
}

cm_status cm_shape_pool(cm_call *call, cm_error *error)
{
  cm_window w;
  const cm_shape *x = &call->input[0];
  if (x->rank == CM_UNKNOWN_RANK) {
    call->output[0].type = x->type;
    return CM_OK;
  }
  CM_TRY(pool_window(call, &w, error));
  call->output[0] = *x;
  memcpy(call->output[0].dims + 2, w.out, w.rank * sizeof *w.out);
  if (call->output_count > 1) {
    call->output[1] = call->output[0];
    call->output[1].type = CM_INT64;
  }
  return CM_OK;
}

/* The window at one output position: largest element and its place, sum, number of cells inside the input and inside
 * the padded input. */
typedef struct window_sum {
  double largest, sum;
  int64_t place, inside, padded;
} window_sum;

static window_sum look(const cm_window *w, const cm_tensor *x, uint64_t base, const int64_t *position)
{
  window_sum s = {.largest = -INFINITY, .place = -1};
  int64_t cell[CM_RANK_MAX] = {0};
  do {
    int64_t at = 0;
    bool inside = true, padded = true;
    for (uint32_t i = 0; i < w->rank; i++) {
      int64_t p = position[i] * w->stride[i] - w->before[i] + cell[i] * w->dilation[i];
      inside = inside && p >= 0 && p < w->in[i];
      padded = padded && p < w->in[i] + w->after[i];
      at = at * w->in[i] + p;
    }
    s.padded += padded;
    if (!inside)
      continue;
    double value = cm_tensor_number(x, base + (uint64_t)at);
    s.inside++;
    s.sum += value;
    if (s.place < 0 || value > s.largest || isnan(value)) {
      s.largest = value;
      s.place = at;
    }
  } while (cm_next_index(w->rank, w->kernel, cell));
  return s;
}

/* MaxPool's second output: flat indices into the whole input, spatial part column-major when storage_order is 1. `cell`:
 * in the plane of the piece that is there. */
static int64_t flat_index(const cm_window *w, const cm_piece_place *at, int64_t plane, int64_t channels, int64_t cell, bool column_major)
{
  int64_t index[CM_RANK_MAX] = {0}, size = 1, flat = 0;
  int64_t whole_plane = (plane / channels + at->from[0]) * at->whole[1] + plane % channels + at->from[1];
  for (uint32_t i = w->rank; i-- > 0; cell /= w->in[i])
    index[i] = cell % w->in[i] + at->from[i + 2];
  for (uint32_t k = 0; k < w->rank; k++) {
    uint32_t i = column_major ? k : w->rank - 1 - k;
    flat += index[i] * size;
    size *= at->whole[i + 2];
  }
  return whole_plane * size + flat;
}

cm_status cm_kernel_pool(cm_call *call, cm_error *error)
{
  cm_window w;
  cm_piece_place at;
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  bool average = call->node->known->variant == CM_VARIANT_MEAN, all = cm_node_integer(call->node, "count_include_pad", 0) != 0,
       column_major = cm_node_integer(call->node, "storage_order", 0) != 0;
  CM_TRY(pool_window(call, &w, error));
  (void)cm_call_place(call, &at);
  uint64_t in_size = 1, k = 0;
  for (uint32_t i = 0; i < w.rank; i++)
    in_size *= (uint64_t)w.in[i];
  for (int64_t plane = 0; y->count > 0 && plane < x->dims[0] * x->dims[1]; plane++) {
    int64_t position[CM_RANK_MAX] = {0};
    uint64_t base = (uint64_t)plane * in_size;
    do {
      window_sum s = look(&w, x, base, position);
      int64_t cells = all ? s.padded : s.inside;
      double value = !average ? s.largest : cells > 0 ? s.sum / (double)cells : 0;
      cm_tensor_put_number(y, k, value, false);
      if (call->output_count > 1 && call->result[1] != NULL)
        ((int64_t *)call->result[1]->data)[k] = /* a window of padding alone has none, wherever a piece of it lies */
          s.place < 0 ? -1 : flat_index(&w, &at, plane, x->dims[1], s.place, column_major);
      k++;
    } while (cm_next_index(w.rank, w.out, position));
  }
  return CM_OK;
}

cm_status cm_shape_global_pool(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = call->input[0];
  for (uint32_t i = 2; call->input[0].rank != CM_UNKNOWN_RANK && i < call->input[0].rank; i++)
    call->output[0].dims[i] = 1;
  return CM_OK;
}

cm_status cm_kernel_global_pool(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  bool average = call->node->known->variant == CM_VARIANT_MEAN;
  if (x->type != CM_FLOAT || x->rank < 2)
    return cm_call_bad_type(call, x->type, error);
  uint64_t planes = call->result[0]->count, size = planes > 0 ? x->count / planes : 0;
  for (uint64_t p = 0; p < planes; p++) {
    const float *from = (const float *)x->data + p * size;
    double sum = 0, largest = -INFINITY;
    for (uint64_t i = 0; i < size; i++) {
      sum += (double)from[i];
      largest = (double)from[i] > largest ? (double)from[i] : largest;
    }
    ((float *)call->result[0]->data)[p] = (float)(average ? sum / (double)size : largest);
  }
  return CM_OK;
}

/* ---- MaxUnpool ---- */

/* Indices count in the output that the window asks for; with another shape given, they are places of that smaller one. */
typedef struct unpooling {
  uint32_t rank;
  int64_t own[CM_RANK_MAX], most[CM_RANK_MAX];
} unpooling;

static cm_status read_unpooling(const cm_call *call, unpooling *u, cm_error *error)
{
  cm_window w;
  const cm_shape *x = &call->input[0];
  const cm_tensor *given = cm_has(call, 2) ? call->value[2] : NULL;
  u->rank = x->rank;
  memcpy(u->own, x->dims, sizeof u->own);
  CM_TRY(cm_window_read(call, x, NULL, false, &w, error));
  for (uint32_t i = 0; i < w.rank; i++)
    u->own[i + 2] =
      x->dims[i + 2] < 0 ? CM_UNKNOWN_DIM : (x->dims[i + 2] - 1) * w.stride[i] - w.before[i] - w.after[i] + w.kernel[i];
  for (uint32_t i = 0; i < u->rank; i++)
    u->most[i] = !cm_has(call, 2)                           ? u->own[i]
                 : given != NULL && given->count == u->rank ? cm_tensor_integer(given, i)
                                                            : CM_UNKNOWN_DIM;
  return CM_OK;
}

/* Where an index lies; false: outside. */
static bool unpool_to(const unpooling *u, int64_t place, int64_t index[CM_RANK_MAX])
{
  bool there = place >= 0;
  for (uint32_t i = u->rank; i-- > 0; place /= u->own[i] > 0 ? u->own[i] : 1) {
    index[i] = u->own[i] > 0 ? place % u->own[i] : 0;
    there = there && index[i] < u->most[i];
  }
  return there && place == 0;
}

/* An index for every element; those that are known lie in the output. */
static cm_status need_unpooled(const cm_call *call, const unpooling *u, cm_error *error)
{
  const cm_shape *x = &call->input[0], *places = &call->input[1];
  const cm_tensor *known = call->value[1];
  uint64_t count, indices;
  int64_t index[CM_RANK_MAX];
  if (!cm_shape_known(x) || !cm_shape_known(places))
    return CM_OK;
  if (!cm_dims_count(x->rank, x->dims, &count) || !cm_dims_count(places->rank, places->dims, &indices) || count != indices)
    return cm_call_fail(call, error, "needs an index for every element");
  for (uint64_t k = 0; known != NULL && (!cm_has(call, 2) || call->value[2] != NULL) && k < count; k++)
    if (!unpool_to(u, cm_tensor_integer(known, k), index))
      return cm_call_fail(call, error, "index %lld lies outside", (long long)cm_tensor_integer(known, k));
  return CM_OK;
}

cm_status cm_shape_max_unpool(cm_call *call, cm_error *error)
{
  unpooling u;
  cm_piece_place piece;
  cm_shape *out = &call->output[0];
  *out = call->input[0];
  if (out->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_unpooling(call, &u, error));
  memcpy(out->dims, cm_call_place(call, &piece) ? piece.extent : u.most, sizeof out->dims);
  return need_unpooled(call, &u, error);
}

/* A piece takes what lies in it. */
cm_status cm_kernel_max_unpool(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t strides[CM_RANK_MAX], index[CM_RANK_MAX];
  unpooling u;
  cm_piece_place piece;
  CM_TRY(read_unpooling(call, &u, error));
  (void)cm_call_place(call, &piece);
  cm_strides(y->rank, y->dims, strides);
  for (uint64_t k = 0; k < x->count; k++) {
    int64_t at = 0;
    bool here = unpool_to(&u, cm_tensor_integer(call->value[1], k), index);
    for (uint32_t i = 0; i < y->rank; i++) {
      int64_t inside = index[i] - piece.out_from[i];
      here = here && inside >= 0 && inside < y->dims[i];
      at += inside * strides[i];
    }
    if (here)
      cm_tensor_put_number(y, (uint64_t)at, cm_tensor_number(x, k), false);
  }
  return CM_OK;
}
