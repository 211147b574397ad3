/* Cutting operators that move elements by indices, or lines and blocks of them. */
#include "core/operators/tiling/split_internal.h"

static uint32_t normal(int64_t axis, uint32_t rank)
{
  axis += axis < 0 ? (int64_t)rank : 0;
  return axis >= 0 && axis < (int64_t)rank ? (uint32_t)axis : CM_NONE;
}

/* The axis that an operator works along; CM_NONE: not known before the model runs. */
static uint32_t line_axis(const cm_call *call)
{
  const uint32_t rank = call->output[0].rank;
  const cm_kernel_function kernel = call->node->known->kernel;
  if (kernel != cm_kernel_cum_sum)
    return normal(cm_node_integer(call->node, "axis", kernel == cm_kernel_lp_norm || kernel == cm_kernel_top_k ? -1 : 0), rank);
  return cm_has(call, 1) && call->value[1] != NULL && call->value[1]->count == 1
             ? normal(cm_tensor_integer(call->value[1], 0), rank) : CM_NONE;
}

/* The axis of the signals of a DFT. */
static uint32_t dft_axis(const cm_call *call)
{
  const uint32_t rank = call->output[0].rank;
  if (call->opset < 20 || !cm_has(call, 2))
    return normal(call->opset < 20 ? cm_node_integer(call->node, "axis", 1) : -2, rank);
  return call->value[2] != NULL && call->value[2]->count == 1 ? normal(cm_tensor_integer(call->value[2], 0), rank) : CM_NONE;
}

/* Dimensions of the output of GatherND that the indices have, and of the input that an index names. */
static uint32_t named_dims(const cm_call *call, uint32_t *length)
{
  const cm_shape *indices = &call->input[1];
  *length = (uint32_t)indices->dims[indices->rank - 1];
  return indices->rank - 1;
}

static uint32_t one_hot_axis(const cm_call *call)
{
  return normal(cm_node_integer(call->node, "axis", -1), call->output[0].rank);
}

static bool is_gathered_over(const cm_call *call, uint32_t axis)
{
  const cm_attribute *axes = cm_node_attribute(call->node, "axes");
  if (axes == NULL)
    return axis != 1;
  for (size_t i = 0; i < axes->count; i++)
    if (normal(axes->integers[i], call->output[0].rank) == axis)
      return true;
  return false;
}

bool cm_split_moves_may_cut(const cm_call *call, cm_split_kind kind, uint32_t axis)
{
  const cm_shape *in = &call->input[0];
  uint32_t at, length, axes[CM_RANK_MAX];
  int64_t step, extent;
  switch (kind) {
  case CM_SPLIT_EINSUM:
    return cm_einsum_axes(call, 0, axes);
  case CM_SPLIT_LINES:
  case CM_SPLIT_GATHER_ELEMENTS:
    at = line_axis(call);
    return at != CM_NONE && axis != at;
  case CM_SPLIT_SCATTER_ELEMENTS:
    at = line_axis(call);
    return at != CM_NONE && axis != at && call->input[1].dims[axis] == in->dims[axis];
  case CM_SPLIT_GATHER_ND:
  case CM_SPLIT_GRID_SAMPLE:
    return true;
  case CM_SPLIT_SCATTER_ND:
    (void)named_dims(call, &length);
    return axis >= length;
  case CM_SPLIT_ONE_HOT:
    return one_hot_axis(call) != CM_NONE && axis != one_hot_axis(call);
  case CM_SPLIT_REVERSE_SEQUENCE:
    return axis != normal(cm_node_integer(call->node, "time_axis", 0), in->rank);
  case CM_SPLIT_MATRICES:
    return axis + 2 < in->rank;
  case CM_SPLIT_STATISTICS:
    return !is_gathered_over(call, axis);
  case CM_SPLIT_REGIONS:
    return axis < 2;
  case CM_SPLIT_COLUMNS:
    return axis < 2;
  case CM_SPLIT_AFFINE_GRID:
    return axis == 0;
  case CM_SPLIT_DFT:
    at = dft_axis(call);
    return at != CM_NONE && axis != at && axis + 1 < in->rank;
  case CM_SPLIT_STFT:
    return axis < 2 && cm_stft_frames(call, &step, &extent);
  case CM_SPLIT_DEFORM:
    return axis != 1 || cm_node_integer(call->node, "group", 1) == 1;
  case CM_SPLIT_DEPTH_TO_SPACE:
  case CM_SPLIT_SPACE_TO_DEPTH:
    return axis != 1;
  case CM_SPLIT_WHOLE:
  case CM_SPLIT_POINTWISE:
  case CM_SPLIT_CONVOLUTION:
  case CM_SPLIT_TRANSPOSED:
  case CM_SPLIT_POOL:
  case CM_SPLIT_CHANNELWISE:
  case CM_SPLIT_FRAMEWISE:
  case CM_SPLIT_CHANNEL_NORM:
  case CM_SPLIT_LAYER_NORM:
  case CM_SPLIT_LRN:
  case CM_SPLIT_SOFTMAX:
  case CM_SPLIT_REDUCE:
  case CM_SPLIT_MATMUL:
  case CM_SPLIT_GEMM:
  case CM_SPLIT_TRANSPOSE:
  case CM_SPLIT_GATHER:
  case CM_SPLIT_RESIZE:
  case CM_SPLIT_UNPOOL:
  case CM_SPLIT_EXPAND:
  case CM_SPLIT_UNTOUCHED:
  case CM_SPLIT_QUANTIZE:
    break; /* their rules are in split.c */
  }
  return false;
}

static void take(cm_box *input, uint32_t axis, const cm_box *out, uint32_t from)
{
  input->from[axis] = out->from[from];
  input->to[axis] = out->to[from];
}

/* All axes that may be cut, one to one. */
static void follow_cut(const cm_call *call, cm_split_kind kind, const cm_box *out, cm_box *input)
{
  for (uint32_t i = 0; i < out->rank && i < input->rank; i++)
    if (cm_split_moves_may_cut(call, kind, i))
      take(input, i, out, i);
}

static void gather_nd_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t length, dims = named_dims(call, &length), batch = (uint32_t)cm_node_integer(call->node, "batch_dims", 0);
  for (uint32_t i = 0; i < dims; i++)
    take(&inputs[1], i, out, i);
  for (uint32_t i = 0; i < batch; i++)
    take(&inputs[0], i, out, i);
  for (uint32_t i = dims; i < out->rank; i++)
    take(&inputs[0], batch + length + i - dims, out, i);
}

static void scatter_nd_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t length, dims = named_dims(call, &length);
  for (uint32_t i = length; i < out->rank; i++) {
    take(&inputs[0], i, out, i);
    take(&inputs[2], dims + i - length, out, i);
  }
}

static void einsum_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < call->input_count; i++) {
    uint32_t axes[CM_RANK_MAX];
    for (uint32_t d = 0; cm_einsum_axes(call, i, axes) && d < inputs[i].rank; d++)
      if (axes[d] != CM_NONE)
        take(&inputs[i], d, out, axes[d]);
  }
}

/* The image of one side is as many times that of the other. */
static void block_boxes(const cm_call *call, bool to_space, const cm_box *out, cm_box *input)
{
  const int64_t block = cm_node_integer(call->node, "blocksize", 1);
  take(input, 0, out, 0);
  for (uint32_t i = 2; i < out->rank; i++) {
    input->from[i] = to_space ? out->from[i] / block : out->from[i] * block;
    input->to[i] = to_space ? (out->to[i] + block - 1) / block : out->to[i] * block;
  }
}

/* Frames overlap: those of a piece lie from the beginning of its first to the end of its last. */
static void stft_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  int64_t step, length;
  take(&inputs[0], 0, out, 0);
  if (!cm_stft_frames(call, &step, &length))
    return;
  inputs[0].from[1] = out->from[1] * step;
  inputs[0].to[1] = (out->to[1] - 1) * step + length;
}

/* Offsets may lead anywhere: the image is read whole. */
static void deform_boxes(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  take(&inputs[0], 0, out, 0);
  take(&inputs[1], 0, out, 1);
  for (uint32_t i = 2; i < call->input_count; i++) {
    if (!cm_has(call, i))
      continue;
    if (i == 3)
      take(&inputs[i], 0, out, 1);
    else
      for (uint32_t a = 0; a < out->rank; a++)
        if (a != 1)
          take(&inputs[i], a, out, a);
  }
}

void cm_split_moves_boxes(const cm_call *call, cm_split_kind kind, const cm_box *out, cm_box *inputs)
{
  uint32_t axis;
  switch (kind) {
  case CM_SPLIT_EINSUM:
    einsum_boxes(call, out, inputs);
    return;
  case CM_SPLIT_GATHER_ELEMENTS:
    follow_cut(call, kind, out, &inputs[0]);
    inputs[1] = *out;
    return;
  case CM_SPLIT_SCATTER_ELEMENTS:
    for (uint32_t i = 0; i < 3; i++)
      follow_cut(call, kind, out, &inputs[i]);
    return;
  case CM_SPLIT_GATHER_ND:
    gather_nd_boxes(call, out, inputs);
    return;
  case CM_SPLIT_SCATTER_ND:
    scatter_nd_boxes(call, out, inputs);
    return;
  case CM_SPLIT_ONE_HOT:
    axis = one_hot_axis(call);
    for (uint32_t i = 0; i < inputs[0].rank; i++)
      take(&inputs[0], i, out, i < axis ? i : i + 1);
    return;
  case CM_SPLIT_REVERSE_SEQUENCE:
    follow_cut(call, kind, out, &inputs[0]);
    axis = normal(cm_node_integer(call->node, "batch_axis", 1), out->rank);
    if (axis != CM_NONE)
      take(&inputs[1], 0, out, axis);
    return;
  case CM_SPLIT_GRID_SAMPLE:
    for (uint32_t i = 0; i < out->rank; i++)
      take(&inputs[i == 1 ? 0 : 1], i < 2 ? i : i - 1, out, i);
    take(&inputs[0], 0, out, 0);
    return;
  case CM_SPLIT_REGIONS:
    take(&inputs[0], 1, out, 1);
    take(&inputs[1], 0, out, 0);
    if (call->input_count > 2)
      take(&inputs[2], 0, out, 0);
    return;
  case CM_SPLIT_COLUMNS: /* a channel has so many columns as its blocks have cells */
    take(&inputs[0], 0, out, 0);
    inputs[0].from[1] = call->input[0].dims[1] / call->output[0].dims[1] * out->from[1];
    inputs[0].to[1] = call->input[0].dims[1] / call->output[0].dims[1] * out->to[1];
    return;
  case CM_SPLIT_STFT:
    stft_boxes(call, out, inputs);
    return;
  case CM_SPLIT_DEFORM:
    deform_boxes(call, out, inputs);
    return;
  case CM_SPLIT_DEPTH_TO_SPACE:
  case CM_SPLIT_SPACE_TO_DEPTH:
    block_boxes(call, kind == CM_SPLIT_DEPTH_TO_SPACE, out, &inputs[0]);
    return;
  case CM_SPLIT_LINES:
  case CM_SPLIT_MATRICES:
  case CM_SPLIT_STATISTICS:
  case CM_SPLIT_DFT:
    follow_cut(call, kind, out, &inputs[0]);
    return;
  case CM_SPLIT_WHOLE:
  case CM_SPLIT_POINTWISE:
  case CM_SPLIT_CONVOLUTION:
  case CM_SPLIT_TRANSPOSED:
  case CM_SPLIT_POOL:
  case CM_SPLIT_CHANNELWISE:
  case CM_SPLIT_FRAMEWISE:
  case CM_SPLIT_CHANNEL_NORM:
  case CM_SPLIT_LAYER_NORM:
  case CM_SPLIT_LRN:
  case CM_SPLIT_SOFTMAX:
  case CM_SPLIT_REDUCE:
  case CM_SPLIT_MATMUL:
  case CM_SPLIT_GEMM:
  case CM_SPLIT_TRANSPOSE:
  case CM_SPLIT_GATHER:
  case CM_SPLIT_RESIZE:
  case CM_SPLIT_UNPOOL:
  case CM_SPLIT_EXPAND:
  case CM_SPLIT_UNTOUCHED:
  case CM_SPLIT_QUANTIZE:
  case CM_SPLIT_AFFINE_GRID:
    return; /* their rules are in split_boxes.c */
  }
}
