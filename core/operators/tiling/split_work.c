/* How much work a piece is: what the kinds of variant.h count. */
#include <string.h>

#include "core/operators/tiling/split_rules.h"

static uint64_t extent(const cm_box *box, uint32_t axis)
{
  return box->to[axis] > box->from[axis] ? (uint64_t)(box->to[axis] - box->from[axis]) : 0;
}

static uint64_t at_least_one(int64_t number)
{
  return number > 1 ? (uint64_t)number : 1;
}

static uint64_t touched(const cm_call *call, const cm_box *output, const cm_box *inputs)
{
  uint64_t most = cm_box_count(output);
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i) && cm_box_count(&inputs[i]) > most)
      most = cm_box_count(&inputs[i]);
  return most;
}

static uint64_t operands(const cm_call *call)
{
  uint64_t there = 0;
  for (uint32_t i = 0; i < call->input_count; i++)
    there += cm_has(call, i);
  return there > 2 ? there - 1 : 1;
}

/* A whole share of what all filters spread for each element of the output. */
static uint64_t spread(const cm_call *call)
{
  const cm_box x = cm_box_whole(&call->input[0]), w = cm_box_whole(&call->input[1]), y = cm_box_whole(&call->output[0]);
  double share = (double)cm_box_count(&x) * (double)cm_box_count(&w) / ((double)w.to[0] * (double)cm_box_count(&y));
  return share > 1 ? (uint64_t)share : 1;
}

/* Samples between four pixels, a place and cell of the filter each, and the filters that share them. */
static uint64_t deformed(const cm_box *output, const cm_box *weights)
{
  const uint64_t filters = extent(output, 1), each = filters > 0 ? cm_box_count(weights) / filters : 0;
  return filters > 0 ? cm_box_count(output) / filters * each * (4 + filters) : 0;
}

/* Numbers that one frequency is summed over. */
static uint64_t signal_length(const cm_call *call)
{
  int64_t step, length = 1;
  if (call->node->known->split == CM_SPLIT_STFT)
    return cm_stft_frames(call, &step, &length) ? at_least_one(length) : 1;
  for (uint32_t i = 0; i + 1 < call->input[0].rank; i++) /* the one axis that is not cut */
    if (!cm_split_may_cut(call, i))
      length = call->input[0].dims[i];
  return at_least_one(length);
}

/* Pixels around a point: one, or two or four along every axis. */
static uint64_t pixels(const cm_call *call)
{
  const char *mode = cm_node_text(call->node, "mode", "linear");
  uint64_t all = 1;
  for (uint32_t i = 2; i < call->output[0].rank && strcmp(mode, "nearest") != 0; i++)
    all *= strstr(mode, "cubic") != NULL ? 4 : 2;
  return all;
}

/* Of the axes in turn: what is left of them are those of the output, what is right those of the input. */
static uint64_t resized(const cm_call *call, const cm_box *output, const cm_box *input)
{
  uint64_t work = 0;
  for (uint32_t axis = 0; axis < output->rank; axis++) {
    uint64_t made = cm_resize_taps(call, axis);
    for (uint32_t i = 0; i < output->rank; i++)
      made *= i <= axis ? extent(output, i) : extent(input, i);
    work += made;
  }
  return work > cm_box_count(output) ? work : cm_box_count(output);
}

/* Elements that a share of a region meets; a region whose size decides is taken for the whole image. */
static uint64_t region_cells(const cm_call *call)
{
  const int64_t samples = cm_node_integer(call->node, "sampling_ratio", 0);
  uint64_t cells = 1;
  for (uint32_t i = 2; i < call->output[0].rank; i++) {
    const int64_t shares = call->output[0].dims[i] > 1 ? call->output[0].dims[i] : 1;
    cells *= samples > 0 ? (uint64_t)samples : at_least_one((call->input[0].dims[i] + shares - 1) / shares);
  }
  return cm_node_is(call->node, cm_kernel_roi_align) ? 4 * cells : cells; /* each of them between four pixels */
}

/* Comparisons of an element when a line is put in order. */
static uint64_t sorting(const cm_call *call, const cm_box *input)
{
  const uint32_t axis = cm_split_axis(call, -1, input->rank);
  const bool flat = axis == CM_NONE || (cm_node_is(call->node, cm_kernel_unique) && cm_node_attribute(call->node, "axis") == NULL);
  const uint64_t line = flat ? cm_box_count(input) : extent(input, axis);
  uint64_t levels = 1;
  while (levels < 63 && UINT64_C(1) << levels < line)
    levels++;
  return levels;
}

/* For each class of an image: the scores put in order, and each box that stays beside those before it, ten operations a pair. */
static uint64_t suppression(const cm_call *call, const cm_box *scores)
{
  const uint64_t boxes = extent(scores, 2);
  const cm_tensor *given = cm_has(call, 2) ? call->value[2] : NULL;
  uint64_t stay = cm_has(call, 2) ? boxes : 0, levels = 1;
  if (given != NULL && given->count > 0 && cm_tensor_number(given, 0) < (double)boxes)
    stay = at_least_one(cm_tensor_integer(given, 0));
  while (levels < 63 && UINT64_C(1) << levels < boxes)
    levels++;
  return extent(scores, 0) * extent(scores, 1) * (boxes * levels + 10 * (stay * boxes - stay * stay / 2));
}

uint64_t cm_split_work(const cm_call *call, const cm_box *output, const cm_box *inputs)
{
  const uint64_t out = cm_box_count(output);
  switch (call->node->known != NULL ? call->node->known->work : CM_WORK_TOUCHED) {
  case CM_WORK_MADE: return out;
  case CM_WORK_TOUCHED: return touched(call, output, inputs);
  case CM_WORK_TWO_PASSES: return 2 * touched(call, output, inputs);
  case CM_WORK_FOUR_PASSES: return 4 * touched(call, output, inputs);
  case CM_WORK_OPERANDS: return out * operands(call);
  case CM_WORK_FILTER:
    inputs += cm_split_weights(call->node);
    return out * (cm_box_count(inputs) / at_least_one((int64_t)extent(inputs, 0)));
  case CM_WORK_SPREAD: return out > 0 ? out * spread(call) : 0;
  case CM_WORK_INNER: return out * (uint64_t)call->input[0].dims[call->input[0].rank - 1];
  case CM_WORK_GEMM: return out * (uint64_t)call->input[0].dims[cm_node_integer(call->node, "transA", 0) != 0 ? 0 : 1];
  case CM_WORK_WINDOW: return out * cm_split_window_cells(call);
  case CM_WORK_CHANNELS: return out * (at_least_one(cm_node_integer(call->node, "size", 1)) + 2); /* a power and a quotient */
  case CM_WORK_DEFORM: return deformed(output, &inputs[1]);
  case CM_WORK_SUMS: return out * cm_einsum_sums(call) * operands(call);
  case CM_WORK_SIGNAL: return out * signal_length(call);
  case CM_WORK_SAMPLES: return out * pixels(call);
  case CM_WORK_RESIZED: return resized(call, output, &inputs[0]);
  case CM_WORK_REGIONS: return out * region_cells(call);
  case CM_WORK_SORTED: return cm_box_count(&inputs[0]) * sorting(call, &inputs[0]);
  case CM_WORK_ELIMINATION: return cm_box_count(&inputs[0]) * ((uint64_t)call->input[0].dims[call->input[0].rank - 1] + 2) / 3;
  case CM_WORK_PAIRS: return suppression(call, &inputs[1]);
  case CM_WORK_TREES: return cm_box_count(output) * cm_trees_work(call);
  case CM_WORK_STEPS: return cm_recurrent_work(call);
  }
  return out;
}
