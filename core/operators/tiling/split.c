/* Rules of cutting, by the family of the operator. Sliding windows are in split_window.c. */
#include "core/operators/tiling/split.h"

#include <string.h>

#include "core/operators/tiling/split_internal.h"

/* ---- boxes ---- */

cm_box cm_box_whole(const cm_shape *shape)
{
  cm_box box = {.rank = shape->rank};
  memcpy(box.to, shape->dims, shape->rank * sizeof *box.to);
  return box;
}

uint64_t cm_box_count(const cm_box *box)
{
  uint64_t count = 1;
  for (uint32_t i = 0; i < box->rank; i++)
    count *= box->to[i] > box->from[i] ? (uint64_t)(box->to[i] - box->from[i]) : 0;
  return count;
}

bool cm_box_equal(const cm_box *a, const cm_box *b)
{
  return a->rank == b->rank && memcmp(a->from, b->from, a->rank * sizeof *a->from) == 0 &&
         memcmp(a->to, b->to, a->rank * sizeof *a->to) == 0;
}

bool cm_box_intersect(const cm_box *a, const cm_box *b, cm_box *both)
{
  cm_box made = {.rank = a->rank};
  for (uint32_t i = 0; i < a->rank; i++) {
    made.from[i] = a->from[i] > b->from[i] ? a->from[i] : b->from[i];
    made.to[i] = a->to[i] < b->to[i] ? a->to[i] : b->to[i];
    if (made.from[i] >= made.to[i])
      return false;
  }
  *both = made;
  return true;
}

/* ---- kinds ---- */

typedef cm_split_kind kind;

static kind kind_of(const cm_operator *known)
{
  return known != NULL ? known->split : CM_SPLIT_WHOLE;
}

bool cm_split_is_matrix(const cm_operator *known)
{
  kind k = kind_of(known);
  return k == CM_SPLIT_CONVOLUTION || k == CM_SPLIT_TRANSPOSED || k == CM_SPLIT_MATMUL || k == CM_SPLIT_GEMM;
}

bool cm_split_in_place(const cm_call *call)
{
  kind k = kind_of(call->node->known);
  return k == CM_SPLIT_POINTWISE || k == CM_SPLIT_CHANNEL_NORM;
}

/* Axis attribute within the rank; CM_NONE when it makes no sense. */
static uint32_t axis_of(const cm_call *call, int64_t otherwise, uint32_t rank)
{
  int64_t axis = cm_node_integer(call->node, "axis", otherwise);
  axis += axis < 0 ? (int64_t)rank : 0;
  return axis >= 0 && axis < (int64_t)rank ? (uint32_t)axis : CM_NONE;
}

static uint32_t softmax_axis(const cm_call *call)
{
  return axis_of(call, call->opset < 13 ? 1 : -1, call->output[0].rank);
}

/* ---- where an operator may be cut ---- */

static bool reduced_axes(const cm_call *call, bool *reduced)
{
  uint32_t rank = call->input[0].rank;
  int64_t axes[CM_RANK_MAX];
  size_t count;
  bool known;
  cm_error ignored;
  memset(reduced, 0, CM_RANK_MAX * sizeof *reduced);
  if (call->node->known->kernel == cm_kernel_arg_reduce) {
    uint32_t axis = axis_of(call, 0, rank);
    if (axis != CM_NONE)
      reduced[axis] = true;
    return axis != CM_NONE;
  }
  if (cm_call_integers(call, "axes", 1, axes, CM_RANK_MAX, &count, &known, &ignored) != CM_OK || !known)
    return false;
  bool all = count == 0 && cm_node_integer(call->node, "noop_with_empty_axes", 0) == 0;
  for (uint32_t i = 0; i < rank; i++)
    reduced[i] = all;
  for (size_t i = 0; i < count; i++)
    reduced[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
  return true;
}

/* Input axis that is output axis `out` of a reduction; CM_NONE for one that is reduced to 1. */
static uint32_t reduce_source(const cm_call *call, const bool *reduced, uint32_t out)
{
  if (cm_node_integer(call->node, "keepdims", 1) != 0)
    return reduced[out] ? CM_NONE : out;
  for (uint32_t i = 0, at = 0; i < call->input[0].rank; i++)
    if (!reduced[i] && at++ == out)
      return i;
  return CM_NONE;
}

static bool no_negative_pads(const cm_call *call)
{
  int64_t pads[2 * CM_RANK_MAX];
  size_t count;
  bool known;
  cm_error ignored;
  if (call->node->known->kernel != cm_kernel_pad)
    return true;
  if (cm_call_integers(call, "pads", 1, pads, 2 * CM_RANK_MAX, &count, &known, &ignored) != CM_OK || !known)
    return false;
  for (size_t i = 0; i < count; i++)
    if (pads[i] < 0)
      return false;
  return true;
}

/* A slice that keeps the extent may still turn an axis round. */
static bool slice_keeps(const cm_call *call, uint32_t axis)
{
  int64_t axes[CM_RANK_MAX], starts[CM_RANK_MAX];
  size_t count, start_count;
  bool known, starts_known;
  cm_error ignored;
  if (call->node->known->kernel != cm_kernel_slice)
    return true;
  if (cm_call_integers(call, "axes", 3, axes, CM_RANK_MAX, &count, &known, &ignored) != CM_OK || !known ||
      cm_call_integers(call, "starts", 1, starts, CM_RANK_MAX, &start_count, &starts_known, &ignored) != CM_OK ||
      !starts_known)
    return false;
  for (size_t i = 0; i < start_count; i++) {
    int64_t named = count > 0 ? axes[i] : (int64_t)i;
    if ((named < 0 ? named + call->input[0].rank : named) == axis && starts[i] != 0)
      return false;
  }
  return true;
}

static bool may_cut(const cm_call *call, kind k, uint32_t axis)
{
  const cm_shape *out = &call->output[0], *in = &call->input[0];
  uint32_t rank = out->rank, at;
  bool reduced[CM_RANK_MAX];
  switch (k) {
  case CM_SPLIT_WHOLE:
    return false;
  case CM_SPLIT_POINTWISE:
  case CM_SPLIT_CONVOLUTION:
  case CM_SPLIT_POOL:
  case CM_SPLIT_CHANNEL_NORM:
  case CM_SPLIT_MATMUL:
  case CM_SPLIT_GEMM:
  case CM_SPLIT_TRANSPOSE:
  case CM_SPLIT_EXPAND:
  case CM_SPLIT_UNPOOL:
    return true;
  case CM_SPLIT_QUANTIZE: /* blocks of an axis stay together */
    return cm_node_integer(call->node, "block_size", 0) == 0 || axis != axis_of(call, 1, rank);
  case CM_SPLIT_TRANSPOSED:
    return axis < 2 || cm_split_transposed_rows(call);
  case CM_SPLIT_CHANNELWISE:
    return axis < 2;
  case CM_SPLIT_FRAMEWISE:
    return axis == 0;
  case CM_SPLIT_LRN:
    return axis != 1;
  case CM_SPLIT_LAYER_NORM:
    at = axis_of(call, -1, rank);
    return at != CM_NONE && axis < at;
  case CM_SPLIT_SOFTMAX:
    at = softmax_axis(call);
    return at != CM_NONE && (call->opset < 13 ? axis < at : axis != at);
  case CM_SPLIT_REDUCE:
    return reduced_axes(call, reduced) && reduce_source(call, reduced, axis) != CM_NONE;
  case CM_SPLIT_GATHER:
    return axis_of(call, 0, in->rank) != CM_NONE;
  case CM_SPLIT_RESIZE:
    return cm_resize_reads(call, axis, 0, 1, (int64_t[2]){0});
  case CM_SPLIT_UNTOUCHED:
    return in->rank == rank && in->dims[axis] == out->dims[axis] && no_negative_pads(call) && slice_keeps(call, axis);
  default:
    return cm_split_moves_may_cut(call, k, axis);
  }
}

bool cm_split_outputs_alike(const cm_call *call)
{
  const cm_kernel_function kernel = call->node->known->kernel;
  const cm_shape *first = &call->output[0];
  if (call->node->outputs[0] == CM_NONE)
    return false;
  for (uint32_t o = 1; o < call->output_count; o++) {
    const cm_shape *other = &call->output[o];
    if (call->node->outputs[o] != CM_NONE &&
        ((kernel != cm_kernel_top_k && kernel != cm_kernel_pool) || other->rank != first->rank ||
         memcmp(other->dims, first->dims, first->rank * sizeof *first->dims) != 0))
      return false;
  }
  return true;
}

uint32_t cm_split_axes(const cm_call *call, uint32_t *axes)
{
  kind k = kind_of(call->node->known);
  uint32_t count = 0;
  /* Several outputs that differ (a recurrent operator's) are made at once. */
  if (call->output_count == 0 || call->output[0].rank == CM_UNKNOWN_RANK || !cm_split_outputs_alike(call))
    return 0;
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] == 0)
      return 0; /* nothing to cut */
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] > 1 && may_cut(call, k, i))
      axes[count++] = i;
  return count;
}

int64_t cm_split_extent(const cm_call *call, uint32_t axis, int64_t extent)
{
  kind k = kind_of(call->node->known);
  int64_t group = cm_node_integer(call->node, "group", 1);
  extent = extent < 1 ? 1 : extent;
  if (k == CM_SPLIT_DEPTH_TO_SPACE && axis > 1) {
    int64_t block = cm_node_integer(call->node, "blocksize", 1);
    return extent > block ? extent / block * block : block;
  }
  if ((k != CM_SPLIT_CONVOLUTION && k != CM_SPLIT_TRANSPOSED) || axis != 1 || group <= 1)
    return extent;
  int64_t filters = call->output[0].dims[1] / group;
  if (extent >= filters)
    return extent / filters * filters;
  if (k == CM_SPLIT_TRANSPOSED)
    return filters;
  while (filters % extent != 0)
    extent--;
  return extent;
}

/* ---- what a piece reads ---- */

/* The box of an input that broadcasts to the output. */
static cm_box broadcast_box(const cm_shape *in, const cm_box *out)
{
  cm_box box = {.rank = in->rank};
  for (uint32_t i = 0; i < in->rank; i++) {
    uint32_t o = i + out->rank - in->rank;
    box.to[i] = 1;
    if (in->dims[i] != 1) {
      box.from[i] = out->from[o];
      box.to[i] = out->to[o];
    }
  }
  return box;
}

uint32_t cm_split_weights(const cm_call *call)
{
  cm_kernel_function kernel = call->node->known->kernel;
  return kernel == cm_kernel_qlinear_conv || kernel == cm_kernel_qlinear_matmul ? 3 : 1;
}

/* Scales and zero points of a product, one a row of the left side (before `right`) or a column of the right side. */
static void product_steps(const cm_call *call, uint32_t right, const cm_box *rows, const cm_box *columns, cm_box *inputs)
{
  for (uint32_t i = 1; i < call->input_count; i++) {
    bool plain = call->node->known->kernel == cm_kernel_matmul_integer, of_left = plain ? i == 2 : i < right;
    const cm_box *from = of_left ? rows : columns;
    uint32_t axis = of_left ? from->rank - 2 : from->rank - 1;
    if (i == right || !cm_has(call, i) || call->input[i].rank != 1 || call->input[i].dims[0] < 2 || from->rank < 2)
      continue;
    inputs[i].from[0] = from->from[axis];
    inputs[i].to[0] = from->to[axis];
  }
}

static void matmul_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t right = cm_split_weights(call);
  cm_shape a = call->input[0], b = call->input[right];
  uint32_t batch = out->rank - (a.rank > 1) - (b.rank > 1);
  cm_box leading = *out;
  leading.rank = batch;
  for (uint32_t i = 0; i < 2; i++) {
    cm_shape s = i == 0 ? a : b;
    cm_box whole = cm_box_whole(&s), *box = &inputs[i == 0 ? 0 : right];
    uint32_t own = s.rank > 2 ? s.rank - 2 : 0;
    s.rank = own;
    *box = broadcast_box(&s, &leading);
    memcpy(box->from + own, whole.from + own, (whole.rank - own) * sizeof *whole.from);
    memcpy(box->to + own, whole.to + own, (whole.rank - own) * sizeof *whole.to);
    box->rank = whole.rank;
  }
  if (a.rank > 1) {
    inputs[0].from[a.rank - 2] = out->from[batch];
    inputs[0].to[a.rank - 2] = out->to[batch];
  }
  if (b.rank > 1) {
    inputs[right].from[b.rank - 1] = out->from[out->rank - 1];
    inputs[right].to[b.rank - 1] = out->to[out->rank - 1];
  }
  if (call->node->known->kernel != cm_kernel_matmul)
    product_steps(call, right, &inputs[0], &inputs[right], inputs);
}

static void gemm_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t row = cm_node_integer(call->node, "transA", 0) != 0 ? 1 : 0,
           column = cm_node_integer(call->node, "transB", 0) != 0 ? 0 : 1;
  inputs[0].from[row] = out->from[0];
  inputs[0].to[row] = out->to[0];
  inputs[1].from[column] = out->from[1];
  inputs[1].to[column] = out->to[1];
  if (cm_has(call, 2))
    inputs[2] = broadcast_box(&call->input[2], out);
}

static void gather_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t axis = axis_of(call, 0, call->input[0].rank), names = call->input[1].rank;
  for (uint32_t i = 0; i < call->input[0].rank; i++)
    if (i != axis) {
      uint32_t o = i < axis ? i : i + names - 1;
      inputs[0].from[i] = out->from[o];
      inputs[0].to[i] = out->to[o];
    }
  for (uint32_t i = 0; i < names; i++) {
    inputs[1].from[i] = out->from[axis + i];
    inputs[1].to[i] = out->to[axis + i];
  }
}

static void transpose_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  const cm_attribute *perm = cm_node_attribute(call->node, "perm");
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t from = perm != NULL && perm->count == out->rank ? perm->integers[i] : (int64_t)(out->rank - 1 - i);
    inputs[0].from[from] = out->from[i];
    inputs[0].to[from] = out->to[i];
  }
}

/* The first input follows the output along axes [0, axes); the others stay whole. */
static void follow(const cm_box *out, uint32_t axes, cm_box *input)
{
  for (uint32_t i = 0; i < axes; i++) {
    input->from[i] = out->from[i];
    input->to[i] = out->to[i];
  }
}

static void channel_boxes(const cm_call *call, const cm_box *out, uint32_t axis, cm_box *inputs)
{
  for (uint32_t i = 1; i < call->input_count; i++)
    if (cm_has(call, i) && call->input[i].rank == 1 && call->input[i].dims[0] == call->output[0].dims[axis] &&
        call->input[i].dims[0] > 1) {
      inputs[i].from[0] = out->from[axis];
      inputs[i].to[0] = out->to[axis];
    }
}

/* Scales of blocks follow the output along all axes but that of the blocks, which is whole. */
static void block_boxes(const cm_call *call, const cm_box *out, uint32_t axis, cm_box *inputs)
{
  for (uint32_t i = 1; i < call->input_count; i++)
    for (uint32_t k = 0; cm_has(call, i) && call->input[i].rank == out->rank && k < out->rank; k++)
      if (k != axis) {
        inputs[i].from[k] = out->from[k];
        inputs[i].to[k] = out->to[k];
      }
}

static void put_place(const cm_call *call, const cm_box *out, const cm_box *input, cm_split_change *change)
{
  const uint32_t rank = out->rank;
  change->placed = rank;
  for (uint32_t i = 0; i < rank; i++) {
    change->place[i] = call->input[0].dims[i];
    change->place[rank + i] = input->from[i];
    change->place[2 * rank + i] = out->from[i];
    change->place[3 * rank + i] = out->to[i] - out->from[i];
  }
}

static cm_status resize_boxes(const cm_call *call, const cm_box *out, cm_box *input, cm_split_change *change, cm_error *error)
{
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t reads[2];
    if (!cm_resize_reads(call, i, out->from[i], out->to[i], reads))
      return cm_call_fail(call, error, "cannot be cut along axis %u", i);
    input->from[i] = reads[0];
    input->to[i] = reads[1];
  }
  put_place(call, out, input, change);
  return CM_OK;
}

static void replace(cm_split_change *change, uint32_t input, const cm_box *out)
{
  change->replaced = input;
  change->number_count = out->rank;
  for (uint32_t i = 0; i < out->rank; i++)
    change->numbers[i] = out->to[i] - out->from[i];
}

static cm_status boxes_of_kind(const cm_call *call, kind k, const cm_box *out, cm_box *inputs, cm_split_change *change,
                               cm_error *error)
{
  bool reduced[CM_RANK_MAX];
  switch (k) {
  case CM_SPLIT_WHOLE:
    return CM_OK;
  case CM_SPLIT_POINTWISE:
    for (uint32_t i = 0; i < call->input_count; i++)
      if (cm_has(call, i))
        inputs[i] = broadcast_box(&call->input[i], out);
    return CM_OK;
  case CM_SPLIT_CONVOLUTION:
    return cm_split_convolution(call, out, inputs, change, error);
  case CM_SPLIT_POOL:
    if (cm_split_pool(call, out, inputs, change, error) != CM_OK)
      return error->status;
    if (call->output_count > 1 && call->node->outputs[1] != CM_NONE) /* indices count in the whole input */
      put_place(call, out, &inputs[0], change);
    return CM_OK;
  case CM_SPLIT_TRANSPOSED:
    return cm_split_transposed(call, out, inputs, change, error);
  case CM_SPLIT_MATMUL:
    matmul_boxes(call, out, inputs);
    return CM_OK;
  case CM_SPLIT_GEMM:
    gemm_boxes(call, out, inputs);
    return CM_OK;
  case CM_SPLIT_TRANSPOSE:
    transpose_boxes(call, out, inputs);
    return CM_OK;
  case CM_SPLIT_GATHER:
    gather_boxes(call, out, inputs);
    return CM_OK;
  case CM_SPLIT_REDUCE:
    if (!reduced_axes(call, reduced))
      return CM_OK;
    for (uint32_t i = 0; i < out->rank; i++) {
      uint32_t from = reduce_source(call, reduced, i);
      if (from != CM_NONE) {
        inputs[0].from[from] = out->from[i];
        inputs[0].to[from] = out->to[i];
      }
    }
    return CM_OK;
  case CM_SPLIT_CHANNEL_NORM:
    follow(out, out->rank, &inputs[0]);
    if (out->rank > 1)
      channel_boxes(call, out, 1, inputs);
    return CM_OK;
  case CM_SPLIT_QUANTIZE:
    follow(out, out->rank, &inputs[0]);
    if (cm_node_integer(call->node, "block_size", 0) != 0)
      block_boxes(call, out, axis_of(call, 1, out->rank), inputs);
    else if (axis_of(call, 1, out->rank) != CM_NONE)
      channel_boxes(call, out, axis_of(call, 1, out->rank), inputs);
    return CM_OK;
  case CM_SPLIT_CHANNELWISE:
    follow(out, 2, &inputs[0]);
    channel_boxes(call, out, 1, inputs);
    return CM_OK;
  case CM_SPLIT_LRN:
    follow(out, out->rank, &inputs[0]);
    return CM_OK;
  case CM_SPLIT_SOFTMAX:
    follow(out, out->rank, &inputs[0]);
    return CM_OK;
  case CM_SPLIT_LAYER_NORM:
    follow(out, out->rank, &inputs[0]);
    return CM_OK;
  case CM_SPLIT_FRAMEWISE:
    follow(out, 1, &inputs[0]);
    return CM_OK;
  case CM_SPLIT_RESIZE:
    return resize_boxes(call, out, &inputs[0], change, error);
  case CM_SPLIT_UNPOOL: /* an index may name any place: all are read */
    put_place(call, out, &inputs[0], change);
    return CM_OK;
  case CM_SPLIT_EXPAND:
    inputs[0] = broadcast_box(&call->input[0], out);
    replace(change, 1, out);
    return CM_OK;
  case CM_SPLIT_UNTOUCHED:
    for (uint32_t i = 0; i < out->rank; i++)
      if (call->input[0].dims[i] == out->to[i] - out->from[i] || !may_cut(call, k, i))
        continue;
      else {
        inputs[0].from[i] = out->from[i];
        inputs[0].to[i] = out->to[i];
      }
    return CM_OK;
  case CM_SPLIT_AFFINE_GRID: /* the size names frames and channels, then the grid */
    follow(out, 1, &inputs[0]);
    change->replaced = 1;
    change->number_count = out->rank;
    change->numbers[0] = out->to[0] - out->from[0];
    change->numbers[1] = 1;
    for (uint32_t i = 2; i < out->rank; i++)
      change->numbers[i] = call->output[0].dims[i - 1];
    return CM_OK;
  default:
    cm_split_moves_boxes(call, k, out, inputs);
    if (k == CM_SPLIT_DEFORM)
      put_place(call, out, &inputs[0], change);
    return CM_OK;
  }
}

cm_status cm_split_piece(const cm_call *call, const cm_box *output, cm_box *inputs, cm_split_change *change,
                         cm_error *error)
{
  kind k = kind_of(call->node->known);
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  *change = (cm_split_change){.replaced = CM_NONE};
  for (uint32_t i = 0; i < call->input_count; i++)
    inputs[i] = cm_has(call, i) ? cm_box_whole(&call->input[i]) : (cm_box){0};
  bool whole = true;
  for (uint32_t i = 0; i < output->rank; i++) {
    bool cut = output->to[i] - output->from[i] != call->output[0].dims[i], allowed = false;
    for (uint32_t a = 0; a < count; a++)
      allowed = allowed || axes[a] == i;
    if (cut && !allowed)
      return cm_call_fail(call, error, "cannot be cut along axis %u", i);
    whole = whole && !cut;
  }
  return whole ? CM_OK : boxes_of_kind(call, k, output, inputs, change, error);
}

/* ---- work ---- */

/* Numbers that one frequency is summed over. */
static int64_t signal_length(const cm_call *call)
{
  int64_t step, length = 1;
  if (kind_of(call->node->known) == CM_SPLIT_STFT)
    return cm_stft_frames(call, &step, &length) ? length : 1;
  for (uint32_t i = 0; i + 1 < call->input[0].rank; i++) /* the one axis that is not cut */
    if (!may_cut(call, CM_SPLIT_DFT, i))
      length = call->input[0].dims[i];
  return length > 0 ? length : 1;
}

uint64_t cm_split_work(const cm_call *call, const cm_box *output, const cm_box *inputs)
{
  kind k = kind_of(call->node->known);
  uint64_t out = cm_box_count(output), work = out;
  switch (k) {
  case CM_SPLIT_CONVOLUTION: /* every output element meets the weights of one filter */
    inputs += cm_split_weights(call);
    return out * (cm_box_count(inputs) / (uint64_t)(inputs->to[0] - inputs->from[0]));
  case CM_SPLIT_TRANSPOSED: { /* every element of the input meets the weights of its channel: a whole share each of the output */
    const cm_box x = cm_box_whole(&call->input[0]), w = cm_box_whole(&call->input[1]), y = cm_box_whole(&call->output[0]);
    double share = (double)cm_box_count(&x) * (double)cm_box_count(&w) / ((double)w.to[0] * (double)cm_box_count(&y));
    return out == 0 ? 0 : out * (share > 1 ? (uint64_t)share : 1);
  }
  case CM_SPLIT_MATMUL:
    return out * (uint64_t)call->input[0].dims[call->input[0].rank - 1];
  case CM_SPLIT_GEMM:
    return out * (uint64_t)call->input[0].dims[cm_node_integer(call->node, "transA", 0) != 0 ? 0 : 1];
  case CM_SPLIT_POOL:
    return out * cm_split_window_cells(call);
  case CM_SPLIT_EINSUM:
    return out * cm_einsum_sums(call);
  case CM_SPLIT_DEFORM:
    return out * (cm_box_count(&inputs[1]) / (uint64_t)(inputs[1].to[0] > inputs[1].from[0] ? inputs[1].to[0] - inputs[1].from[0] : 1));
  case CM_SPLIT_DFT:
  case CM_SPLIT_STFT: /* every number of the output meets a line of the input */
    return out * (uint64_t)signal_length(call);
  default:
    for (uint32_t i = 0; i < call->input_count; i++)
      if (cm_has(call, i) && cm_box_count(&inputs[i]) > work)
        work = cm_box_count(&inputs[i]);
    return work;
  }
}
