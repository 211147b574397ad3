/* Where operators may be cut, by their family, and what a piece costs. What pieces read is in split_boxes.c. */
#include "core/operators/tiling/split.h"

#include <string.h>

#include "core/operators/tiling/split_internal.h"

/* ---- kinds ---- */

cm_split_kind cm_split_kind_of(const cm_operator *known)
{
  return known != NULL ? known->split : CM_SPLIT_WHOLE;
}

bool cm_split_is_matrix(const cm_operator *known)
{
  return known != NULL && known->runs == CM_RUNS_MATRIX;
}

bool cm_split_in_place(const cm_call *call)
{
  return call->node->known != NULL && call->node->known->runs == CM_RUNS_IN_PLACE;
}

/* Axis attribute within the rank; CM_NONE when it makes no sense. */
uint32_t cm_split_axis(const cm_call *call, int64_t otherwise, uint32_t rank)
{
  int64_t axis = cm_node_integer(call->node, "axis", otherwise);
  axis += axis < 0 ? (int64_t)rank : 0;
  return axis >= 0 && axis < (int64_t)rank ? (uint32_t)axis : CM_NONE;
}

static uint32_t softmax_axis(const cm_call *call)
{
  return cm_split_axis(call, call->opset < 13 ? 1 : -1, call->output[0].rank);
}

/* ---- where an operator may be cut ---- */

bool cm_split_reduced_axes(const cm_call *call, bool *reduced)
{
  uint32_t rank = call->input[0].rank;
  int64_t axes[CM_RANK_MAX];
  size_t count;
  bool known;
  cm_error ignored;
  memset(reduced, 0, CM_RANK_MAX * sizeof *reduced);
  if (call->node->known->kernel == cm_kernel_arg_reduce) {
    uint32_t axis = cm_split_axis(call, 0, rank);
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
uint32_t cm_split_reduce_source(const cm_call *call, const bool *reduced, uint32_t out)
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

/* Every kind stands in this switch, so that one without a rule does not compile. */
bool cm_split_may_cut(const cm_call *call, cm_split_kind k, uint32_t axis)
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
    return cm_node_integer(call->node, "block_size", 0) == 0 || axis != cm_split_axis(call, 1, rank);
  case CM_SPLIT_TRANSPOSED:
    return axis < 2 || cm_split_transposed_rows(call);
  case CM_SPLIT_CHANNELWISE:
    return axis < 2;
  case CM_SPLIT_FRAMEWISE:
    return axis == 0;
  case CM_SPLIT_LRN:
    return axis != 1;
  case CM_SPLIT_LAYER_NORM:
    at = cm_split_axis(call, -1, rank);
    return at != CM_NONE && axis < at;
  case CM_SPLIT_SOFTMAX:
    at = softmax_axis(call);
    return at != CM_NONE && (call->opset < 13 ? axis < at : axis != at);
  case CM_SPLIT_REDUCE:
    return cm_split_reduced_axes(call, reduced) && cm_split_reduce_source(call, reduced, axis) != CM_NONE;
  case CM_SPLIT_GATHER:
    return cm_split_axis(call, 0, in->rank) != CM_NONE;
  case CM_SPLIT_RESIZE:
    return cm_resize_reads(call, axis, 0, 1, (int64_t[2]){0});
  case CM_SPLIT_UNTOUCHED:
    return in->rank == rank && in->dims[axis] == out->dims[axis] && no_negative_pads(call) && slice_keeps(call, axis);
  case CM_SPLIT_LINES:
  case CM_SPLIT_GATHER_ELEMENTS:
  case CM_SPLIT_SCATTER_ELEMENTS:
  case CM_SPLIT_GATHER_ND:
  case CM_SPLIT_SCATTER_ND:
  case CM_SPLIT_ONE_HOT:
  case CM_SPLIT_REVERSE_SEQUENCE:
  case CM_SPLIT_MATRICES:
  case CM_SPLIT_STATISTICS:
  case CM_SPLIT_GRID_SAMPLE:
  case CM_SPLIT_REGIONS:
  case CM_SPLIT_DEPTH_TO_SPACE:
  case CM_SPLIT_SPACE_TO_DEPTH:
  case CM_SPLIT_DFT:
  case CM_SPLIT_STFT:
  case CM_SPLIT_DEFORM:
  case CM_SPLIT_AFFINE_GRID:
  case CM_SPLIT_COLUMNS:
  case CM_SPLIT_EINSUM:
    break;
  }
  return cm_split_moves_may_cut(call, k, axis);
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
  cm_split_kind k = cm_split_kind_of(call->node->known);
  uint32_t count = 0;
  /* Several outputs that differ (a recurrent operator's) are made at once. */
  if (call->output_count == 0 || call->output[0].rank == CM_UNKNOWN_RANK || !cm_split_outputs_alike(call))
    return 0;
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] == 0)
      return 0; /* nothing to cut */
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] > 1 && cm_split_may_cut(call, k, i))
      axes[count++] = i;
  return count;
}

int64_t cm_split_extent(const cm_call *call, uint32_t axis, int64_t extent)
{
  cm_split_kind k = cm_split_kind_of(call->node->known);
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
/* ---- pieces ---- */

cm_status cm_split_piece(const cm_call *call, const cm_box *output, cm_box *inputs, cm_split_change *change,
                         cm_error *error)
{
  cm_split_kind k = cm_split_kind_of(call->node->known);
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
  return whole ? CM_OK : cm_split_boxes(call, k, output, inputs, change, error);
}

/* ---- work ---- */

/* Numbers that one frequency is summed over. */
static int64_t signal_length(const cm_call *call)
{
  int64_t step, length = 1;
  if (cm_split_kind_of(call->node->known) == CM_SPLIT_STFT)
    return cm_stft_frames(call, &step, &length) ? length : 1;
  for (uint32_t i = 0; i + 1 < call->input[0].rank; i++) /* the one axis that is not cut */
    if (!cm_split_may_cut(call, CM_SPLIT_DFT, i))
      length = call->input[0].dims[i];
  return length > 0 ? length : 1;
}

uint64_t cm_split_work(const cm_call *call, const cm_box *output, const cm_box *inputs)
{
  uint64_t out = cm_box_count(output), work = out;
  switch (call->node->known != NULL ? call->node->known->work : CM_WORK_TOUCHED) {
  case CM_WORK_FILTER:
    inputs += cm_split_weights(call);
    return out * (cm_box_count(inputs) / (uint64_t)(inputs->to[0] - inputs->from[0]));
  case CM_WORK_SPREAD: { /* a whole share for each element of the output */
    const cm_box x = cm_box_whole(&call->input[0]), w = cm_box_whole(&call->input[1]), y = cm_box_whole(&call->output[0]);
    double share = (double)cm_box_count(&x) * (double)cm_box_count(&w) / ((double)w.to[0] * (double)cm_box_count(&y));
    return out == 0 ? 0 : out * (share > 1 ? (uint64_t)share : 1);
  }
  case CM_WORK_INNER:
    return out * (uint64_t)call->input[0].dims[call->input[0].rank - 1];
  case CM_WORK_GEMM:
    return out * (uint64_t)call->input[0].dims[cm_node_integer(call->node, "transA", 0) != 0 ? 0 : 1];
  case CM_WORK_WINDOW:
    return out * cm_split_window_cells(call);
  case CM_WORK_SUMS:
    return out * cm_einsum_sums(call);
  case CM_WORK_DEFORM:
    return out * (cm_box_count(&inputs[1]) / (uint64_t)(inputs[1].to[0] > inputs[1].from[0] ? inputs[1].to[0] - inputs[1].from[0] : 1));
  case CM_WORK_SIGNAL:
    return out * (uint64_t)signal_length(call);
  case CM_WORK_TOUCHED:
    break;
  }
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i) && cm_box_count(&inputs[i]) > work)
      work = cm_box_count(&inputs[i]);
  return work;
}
