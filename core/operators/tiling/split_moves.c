/* Cutting operators that move elements by indices, or lines and blocks of them. */
#include "core/operators/tiling/split_rules.h"

/* The axis that an operator works along; CM_NONE: not known before the model runs. */
static uint32_t line_axis(const cm_call *call)
{
  const uint32_t rank = call->output[0].rank;
  const cm_kernel_function kernel = call->node->known->kernel;
  if (kernel != cm_kernel_cum_sum)
    return cm_split_normal(cm_node_integer(call->node, "axis", kernel == cm_kernel_lp_norm || kernel == cm_kernel_top_k ? -1 : 0), rank);
  return cm_has(call, 1) && call->value[1] != NULL && call->value[1]->count == 1
             ? cm_split_normal(cm_tensor_integer(call->value[1], 0), rank) : CM_NONE;
}

/* The axis of the signals of a DFT. */
static uint32_t dft_axis(const cm_call *call)
{
  const uint32_t rank = call->output[0].rank;
  if (call->opset < 20 || !cm_has(call, 2))
    return cm_split_normal(call->opset < 20 ? cm_node_integer(call->node, "axis", 1) : -2, rank);
  return call->value[2] != NULL && call->value[2]->count == 1 ? cm_split_normal(cm_tensor_integer(call->value[2], 0), rank) : CM_NONE;
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
  return cm_split_normal(cm_node_integer(call->node, "axis", -1), call->output[0].rank);
}

bool cm_split_along_einsum(const cm_call *call, CM_UNUSED uint32_t axis)
{
  uint32_t axes[CM_RANK_MAX];
  return cm_einsum_axes(call, 0, axes);
}

bool cm_split_along_lines(const cm_call *call, uint32_t axis)
{
  uint32_t along = line_axis(call);
  return along != CM_NONE && axis != along;
}

CM_SPLIT_ALONG(scatter_elements, cm_split_along_lines(call, axis) && call->input[1].dims[axis] == call->input[0].dims[axis])

bool cm_split_along_scatter_nd(const cm_call *call, uint32_t axis)
{
  uint32_t length;
  (void)named_dims(call, &length);
  return axis >= length;
}

CM_SPLIT_ALONG(one_hot, one_hot_axis(call) != CM_NONE && axis != one_hot_axis(call))
CM_SPLIT_ALONG(reverse_sequence, axis != cm_split_normal(cm_node_integer(call->node, "time_axis", 0), call->input[0].rank))
CM_SPLIT_ALONG(matrices, axis + 2 < call->input[0].rank)

bool cm_split_along_statistics(const cm_call *call, uint32_t axis)
{
  const cm_attribute *axes = cm_node_attribute(call->node, "axes");
  if (axes == NULL)
    return axis == 1;
  for (size_t i = 0; i < axes->count; i++)
    if (cm_split_normal(axes->integers[i], call->output[0].rank) == axis)
      return false;
  return true;
}

bool cm_split_along_dft(const cm_call *call, uint32_t axis)
{
  uint32_t along = dft_axis(call);
  return along != CM_NONE && axis != along && axis + 1 < call->input[0].rank;
}

bool cm_split_along_stft(const cm_call *call, uint32_t axis)
{
  int64_t step, length;
  return axis < 2 && cm_stft_frames(call, &step, &length);
}

CM_SPLIT_ALONG(deform, axis != 1 || cm_node_integer(call->node, "group", 1) == 1)

/* ---- what a piece reads ---- */

void cm_split_boxes_gather_nd(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t length, dims = named_dims(call, &length), batch = (uint32_t)cm_node_integer(call->node, "batch_dims", 0);
  for (uint32_t i = 0; i < dims; i++)
    cm_split_take(&inputs[1], i, out, i);
  for (uint32_t i = 0; i < batch; i++)
    cm_split_take(&inputs[0], i, out, i);
  for (uint32_t i = dims; i < out->rank; i++)
    cm_split_take(&inputs[0], batch + length + i - dims, out, i);
}

void cm_split_boxes_scatter_nd(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t length, dims = named_dims(call, &length);
  for (uint32_t i = length; i < out->rank; i++) {
    cm_split_take(&inputs[0], i, out, i);
    cm_split_take(&inputs[2], dims + i - length, out, i);
  }
}

void cm_split_boxes_einsum(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < call->input_count; i++) {
    uint32_t axes[CM_RANK_MAX];
    for (uint32_t d = 0; cm_einsum_axes(call, i, axes) && d < inputs[i].rank; d++)
      if (axes[d] != CM_NONE)
        cm_split_take(&inputs[i], d, out, axes[d]);
  }
}

/* The image of one side is as many times that of the other. */
static void follow_blocks(const cm_call *call, bool to_space, const cm_box *out, cm_box *input)
{
  const int64_t block = cm_node_integer(call->node, "blocksize", 1);
  cm_split_take(input, 0, out, 0);
  for (uint32_t i = 2; i < out->rank; i++) {
    input->from[i] = to_space ? out->from[i] / block : out->from[i] * block;
    input->to[i] = to_space ? (out->to[i] + block - 1) / block : out->to[i] * block;
  }
}

/* Frames overlap: those of a piece lie from the beginning of its first to the end of its last. */
void cm_split_boxes_stft(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  int64_t step, length;
  cm_split_take(&inputs[0], 0, out, 0);
  if (!cm_stft_frames(call, &step, &length))
    return;
  inputs[0].from[1] = out->from[1] * step;
  inputs[0].to[1] = (out->to[1] - 1) * step + length;
}

/* Offsets may lead anywhere: the image is read whole. */
cm_status cm_split_changes_deform(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change,
                                  CM_UNUSED cm_error *error)
{
  cm_split_take(&inputs[0], 0, out, 0);
  cm_split_take(&inputs[1], 0, out, 1);
  for (uint32_t i = 2; i < call->input_count; i++) {
    if (!cm_has(call, i))
      continue;
    if (i == 3)
      cm_split_take(&inputs[i], 0, out, 1);
    else
      for (uint32_t a = 0; a < out->rank; a++)
        if (a != 1)
          cm_split_take(&inputs[i], a, out, a);
  }
  cm_split_put_place(call, out, &inputs[0], change);
  return CM_OK;
}

void cm_split_boxes_depth_to_space(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  follow_blocks(call, true, out, &inputs[0]);
}

void cm_split_boxes_space_to_depth(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  follow_blocks(call, false, out, &inputs[0]);
}

int64_t cm_split_extent_blocks(const cm_call *call, uint32_t axis, int64_t extent)
{
  int64_t block = axis > 1 ? cm_node_integer(call->node, "blocksize", 1) : 1;
  return extent > block ? extent / block * block : block;
}

void cm_split_boxes_gather_elements(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  cm_split_boxes_follow(call, out, inputs);
  inputs[1] = *out;
}

void cm_split_boxes_scatter_elements(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < 3; i++)
    cm_split_boxes_follow(call, out, &inputs[i]);
}

void cm_split_boxes_one_hot(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t axis = one_hot_axis(call);
  for (uint32_t i = 0; i < inputs[0].rank; i++)
    cm_split_take(&inputs[0], i, out, i < axis ? i : i + 1);
}

void cm_split_boxes_reverse_sequence(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t batch = cm_split_normal(cm_node_integer(call->node, "batch_axis", 1), out->rank);
  cm_split_boxes_follow(call, out, inputs);
  if (batch != CM_NONE)
    cm_split_take(&inputs[1], 0, out, batch);
}

void cm_split_boxes_grid_sample(CM_UNUSED const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < out->rank; i++)
    cm_split_take(&inputs[i == 1 ? 0 : 1], i < 2 ? i : i - 1, out, i);
  cm_split_take(&inputs[0], 0, out, 0);
}

void cm_split_boxes_regions(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  cm_split_take(&inputs[0], 1, out, 1);
  for (uint32_t i = 1; i < call->input_count; i++)
    cm_split_take(&inputs[i], 0, out, 0);
}

/* A channel has so many columns as its blocks have cells. */
void cm_split_boxes_columns(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  const int64_t cells = call->input[0].dims[1] / call->output[0].dims[1];
  cm_split_take(&inputs[0], 0, out, 0);
  inputs[0].from[1] = cells * out->from[1];
  inputs[0].to[1] = cells * out->to[1];
}
