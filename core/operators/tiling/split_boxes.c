/* What a piece of an operator reads, by the family of the operator. Sliding windows are in split_window.c. */
#include <string.h>

#include "core/operators/tiling/split_internal.h"

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
  uint32_t axis = cm_split_axis(call, 0, call->input[0].rank), names = call->input[1].rank;
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

cm_status cm_split_boxes(const cm_call *call, cm_split_kind k, const cm_box *out, cm_box *inputs, cm_split_change *change,
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
    if (!cm_split_reduced_axes(call, reduced))
      return CM_OK;
    for (uint32_t i = 0; i < out->rank; i++) {
      uint32_t from = cm_split_reduce_source(call, reduced, i);
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
      block_boxes(call, out, cm_split_axis(call, 1, out->rank), inputs);
    else if (cm_split_axis(call, 1, out->rank) != CM_NONE)
      channel_boxes(call, out, cm_split_axis(call, 1, out->rank), inputs);
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
      if (call->input[0].dims[i] == out->to[i] - out->from[i] || !cm_split_may_cut(call, k, i))
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
  case CM_SPLIT_COLUMNS:
  case CM_SPLIT_EINSUM:
    break;
  }
  cm_split_moves_boxes(call, k, out, inputs);
  if (k == CM_SPLIT_DEFORM)
    put_place(call, out, &inputs[0], change);
  return CM_OK;
}
