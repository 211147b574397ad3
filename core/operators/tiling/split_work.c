/* How much work a piece is. */
#include "core/operators/tiling/split_rules.h"

/* Numbers that one frequency is summed over. */
static int64_t signal_length(const cm_call *call)
{
  int64_t step, length = 1;
  if (call->node->known != NULL && call->node->known->split == CM_SPLIT_STFT)
    return cm_stft_frames(call, &step, &length) ? length : 1;
  for (uint32_t i = 0; i + 1 < call->input[0].rank; i++) /* the one axis that is not cut */
    if (!cm_split_may_cut(call, i))
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
