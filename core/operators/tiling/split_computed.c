/* Cutting operators that compute each element of the output of those at its place, or of a row, a column or a line. */
#include <string.h>

#include "core/operators/tiling/split_rules.h"

/* ---- where an operator may be cut ---- */

bool cm_split_along_none(const cm_call *call, uint32_t axis)
{
  (void)call, (void)axis;
  return false;
}

bool cm_split_along_any(const cm_call *call, uint32_t axis)
{
  (void)call, (void)axis;
  return true;
}

bool cm_split_along_frames(const cm_call *call, uint32_t axis)
{
  (void)call;
  return axis == 0;
}

bool cm_split_along_frames_channels(const cm_call *call, uint32_t axis)
{
  (void)call;
  return axis < 2;
}

bool cm_split_along_but_channels(const cm_call *call, uint32_t axis)
{
  (void)call;
  return axis != 1;
}

/* Blocks of an axis stay together. */
bool cm_split_along_but_blocks(const cm_call *call, uint32_t axis)
{
  return cm_node_integer(call->node, "block_size", 0) == 0 || axis != cm_split_axis(call, 1, call->output[0].rank);
}

bool cm_split_along_layer_norm(const cm_call *call, uint32_t axis)
{
  uint32_t first = cm_split_axis(call, -1, call->output[0].rank);
  return first != CM_NONE && axis < first;
}

/* Before opset 13 all axes from the named one on are one line. */
bool cm_split_along_softmax(const cm_call *call, uint32_t axis)
{
  bool lines = call->opset >= 13;
  uint32_t along = cm_split_axis(call, lines ? -1 : 1, call->output[0].rank);
  return along != CM_NONE && (lines ? axis != along : axis < along);
}

bool cm_split_along_gather(const cm_call *call, uint32_t axis)
{
  (void)axis;
  return cm_split_axis(call, 0, call->input[0].rank) != CM_NONE;
}

bool cm_split_along_resize(const cm_call *call, uint32_t axis)
{
  return cm_resize_reads(call, axis, 0, 1, (int64_t[2]){0});
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
      cm_call_integers(call, "starts", 1, starts, CM_RANK_MAX, &start_count, &starts_known, &ignored) != CM_OK || !starts_known)
    return false;
  for (size_t i = 0; i < start_count; i++) {
    int64_t named = count > 0 ? axes[i] : (int64_t)i;
    if ((named < 0 ? named + call->input[0].rank : named) == axis && starts[i] != 0)
      return false;
  }
  return true;
}

bool cm_split_along_untouched(const cm_call *call, uint32_t axis)
{
  const cm_shape *out = &call->output[0], *in = &call->input[0];
  return in->rank == out->rank && in->dims[axis] == out->dims[axis] && no_negative_pads(call) && slice_keeps(call, axis);
}

/* Which axes of its input a reduction reduces, of CM_RANK_MAX; false: only known when the model runs. */
static bool reduced_axes(const cm_call *call, bool *reduced)
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
static uint32_t reduce_source(const cm_call *call, const bool *reduced, uint32_t out)
{
  if (cm_node_integer(call->node, "keepdims", 1) != 0)
    return reduced[out] ? CM_NONE : out;
  for (uint32_t i = 0, at = 0; i < call->input[0].rank; i++)
    if (!reduced[i] && at++ == out)
      return i;
  return CM_NONE;
}

bool cm_split_along_reduce(const cm_call *call, uint32_t axis)
{
  bool reduced[CM_RANK_MAX];
  return reduced_axes(call, reduced) && reduce_source(call, reduced, axis) != CM_NONE;
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

uint32_t cm_split_weights(const cm_node *node)
{
  cm_kernel_function kernel = node->known->kernel;
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
    cm_split_take(&inputs[i], 0, from, axis);
  }
}

void cm_split_boxes_matmul(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t right = cm_split_weights(call->node);
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
  if (a.rank > 1)
    cm_split_take(&inputs[0], a.rank - 2, out, batch);
  if (b.rank > 1)
    cm_split_take(&inputs[right], b.rank - 1, out, out->rank - 1);
  if (call->node->known->kernel != cm_kernel_matmul)
    product_steps(call, right, &inputs[0], &inputs[right], inputs);
}

void cm_split_boxes_gemm(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t row = cm_node_integer(call->node, "transA", 0) != 0 ? 1 : 0,
           column = cm_node_integer(call->node, "transB", 0) != 0 ? 0 : 1;
  cm_split_take(&inputs[0], row, out, 0);
  cm_split_take(&inputs[1], column, out, 1);
  if (cm_has(call, 2))
    inputs[2] = broadcast_box(&call->input[2], out);
}

void cm_split_boxes_gather(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t axis = cm_split_axis(call, 0, call->input[0].rank), names = call->input[1].rank;
  for (uint32_t i = 0; i < call->input[0].rank; i++)
    if (i != axis)
      cm_split_take(&inputs[0], i, out, i < axis ? i : i + names - 1);
  for (uint32_t i = 0; i < names; i++)
    cm_split_take(&inputs[1], i, out, axis + i);
}

void cm_split_boxes_transpose(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  const cm_attribute *perm = cm_node_attribute(call->node, "perm");
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t from = perm != NULL && perm->count == out->rank ? perm->integers[i] : (int64_t)(out->rank - 1 - i);
    cm_split_take(&inputs[0], (uint32_t)from, out, i);
  }
}

/* The first input follows the output along the axes that may be cut. */
void cm_split_boxes_follow(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < out->rank && i < inputs[0].rank; i++)
    if (cm_split_may_cut(call, i))
      cm_split_take(&inputs[0], i, out, i);
}

static void channel_boxes(const cm_call *call, const cm_box *out, uint32_t axis, cm_box *inputs)
{
  for (uint32_t i = 1; i < call->input_count; i++)
    if (cm_has(call, i) && call->input[i].rank == 1 && call->input[i].dims[0] == call->output[0].dims[axis] &&
        call->input[i].dims[0] > 1)
      cm_split_take(&inputs[i], 0, out, axis);
}

/* Scales of blocks follow the output along all axes but that of the blocks, which is whole. */
static void block_boxes(const cm_call *call, const cm_box *out, uint32_t axis, cm_box *inputs)
{
  for (uint32_t i = 1; i < call->input_count; i++)
    for (uint32_t k = 0; cm_has(call, i) && call->input[i].rank == out->rank && k < out->rank; k++)
      if (k != axis)
        cm_split_take(&inputs[i], k, out, k);
}

cm_status cm_split_changes_resize(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t reads[2];
    if (!cm_resize_reads(call, i, out->from[i], out->to[i], reads))
      return cm_call_fail(call, error, "cannot be cut along axis %u", i);
    inputs[0].from[i] = reads[0];
    inputs[0].to[i] = reads[1];
  }
  cm_split_put_place(call, out, &inputs[0], change);
  return CM_OK;
}

void cm_split_boxes_broadcast(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i))
      inputs[i] = broadcast_box(&call->input[i], out);
}

void cm_split_boxes_reduce(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  bool reduced[CM_RANK_MAX];
  if (!reduced_axes(call, reduced))
    return;
  for (uint32_t i = 0; i < out->rank; i++) {
    uint32_t from = reduce_source(call, reduced, i);
    if (from != CM_NONE)
      cm_split_take(&inputs[0], from, out, i);
  }
}

void cm_split_boxes_channel_norm(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  cm_split_boxes_follow(call, out, inputs);
  if (out->rank > 1)
    channel_boxes(call, out, 1, inputs);
}

void cm_split_boxes_quantize(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  uint32_t axis = cm_split_axis(call, 1, out->rank);
  cm_split_boxes_follow(call, out, inputs);
  if (cm_node_integer(call->node, "block_size", 0) != 0)
    block_boxes(call, out, axis, inputs);
  else if (axis != CM_NONE)
    channel_boxes(call, out, axis, inputs);
}

cm_status cm_split_changes_unpool(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  (void)error;
  cm_split_put_place(call, out, &inputs[0], change);
  return CM_OK;
}

cm_status cm_split_changes_expand(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  (void)error;
  inputs[0] = broadcast_box(&call->input[0], out);
  change->replaced = 1;
  change->number_count = out->rank;
  for (uint32_t i = 0; i < out->rank; i++)
    change->numbers[i] = out->to[i] - out->from[i];
  return CM_OK;
}

/* The size names frames and channels, then the grid. */
cm_status cm_split_changes_affine_grid(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  (void)error;
  cm_split_boxes_follow(call, out, inputs);
  change->replaced = 1;
  change->number_count = out->rank;
  change->numbers[0] = out->to[0] - out->from[0];
  change->numbers[1] = 1;
  for (uint32_t i = 2; i < out->rank; i++)
    change->numbers[i] = call->output[0].dims[i - 1];
  return CM_OK;
}

/* Sequences come first, units last. */
void cm_split_boxes_cell(const cm_call *call, const cm_box *out, cm_box *inputs)
{
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!cm_has(call, i))
      continue;
    if (inputs[i].to[0] == call->output[0].dims[0])
      cm_split_take(&inputs[i], 0, out, 0);
    cm_split_take(&inputs[i], inputs[i].rank - 1, out, 1);
  }
}
