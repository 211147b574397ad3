/* Cutting convolutions and pools: rows with their halos, channels with their groups, which are cut evenly or kept whole. */
#include <string.h>

#include "core/operators/tiling/split_rules.h"
#include "core/operators/ops/window.h"

/* The rows of the input that output rows [out->from, out->to) see, and the padding that is left of theirs.
 *
 * A piece keeps the part of the padding that its windows reach into. At the far end no more than the whole has: a pool
 * with ceil_mode lets its last window hang over the padding, and so must the piece. */
static void window_rows(const cm_window *w, const cm_box *out, cm_box *in, cm_split_change *change)
{
  change->spatial = w->rank;
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t first = out->from[i + 2] * w->stride[i] - w->before[i],
            last = (out->to[i + 2] - 1) * w->stride[i] - w->before[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
    int64_t from = first < 0 ? 0 : first, to = last > w->in[i] ? w->in[i] : last;
    /* Windows that lie in the padding alone still need a row to be counted from. */
    if (from >= w->in[i])
      from = w->in[i] - 1;
    if (to <= from)
      to = from + 1;
    in->from[i + 2] = from;
    in->to[i + 2] = to;
    change->before[i] = from - first;
    int64_t over = last - to, most = w->after[i] > 0 ? w->after[i] : 0;
    change->after[i] = to < w->in[i] || over < most ? over : most;
  }
}

/* The far padding of a convolution is what its windows reach, whatever the file says of the rest. */
cm_status cm_split_changes_convolution(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  cm_window w;
  int64_t group = cm_node_integer(call->node, "group", 1), filters = call->output[0].dims[1] / (group > 0 ? group : 1),
          first = out->from[1], last = out->to[1];
  uint32_t weights = cm_split_weights(call->node);
  int64_t channels = call->input[weights].dims[1];
  CM_TRY(cm_window_read(call, &call->input[0], call->input[weights].dims + 2, false, &w, error));
  window_rows(&w, out, &inputs[0], change);
  cm_split_take(&inputs[0], 0, out, 0);
  cm_split_take(&inputs[weights], 0, out, 1);
  /* Biases, and scales and zero points of the weights: one a filter. */
  for (uint32_t i = weights + 1; i < call->input_count; i++)
    if (cm_has(call, i) && call->input[i].rank == 1 && call->input[i].dims[0] == call->output[0].dims[1] &&
        call->input[i].dims[0] > 1)
      cm_split_take(&inputs[i], 0, out, 1);
  if (call->node->known->kernel == cm_kernel_fused_conv && cm_has(call, 3))
    inputs[3] = *out;
  int64_t group_from = first / filters, group_to = (last + filters - 1) / filters;
  if (group > 1) {
    bool inside = group_to - group_from == 1;
    if (!inside && (first % filters != 0 || last % filters != 0))
      return cm_call_fail(call, error, "its groups of %lld filters cannot be cut at %lld and %lld", (long long)filters,
                          (long long)first, (long long)last);
    change->group = group_to - group_from;
    inputs[0].from[1] = group_from * channels;
    inputs[0].to[1] = group_to * channels;
  }
  return CM_OK;
}

cm_status cm_split_changes_pool(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  cm_window w;
  CM_TRY(cm_window_read(call, &call->input[0], NULL, cm_node_integer(call->node, "ceil_mode", 0) != 0, &w, error));
  window_rows(&w, out, &inputs[0], change);
  for (uint32_t i = 0; i < 2; i++)
    cm_split_take(&inputs[0], i, out, i);
  if (call->output_count > 1) /* indices count in the whole input */
    cm_split_put_place(call, out, &inputs[0], change);
  return CM_OK;
}

/* Rows of the image of a transposed convolution may be cut: nothing states the size of the whole. */
static bool transposed_by_rows(const cm_call *call)
{
  return cm_node_attribute(call->node, "output_shape") == NULL &&
         strncmp(cm_node_text(call->node, "auto_pad", "NOTSET"), "SAME", 4) != 0;
}

CM_SPLIT_ALONG(transposed, axis < 2 || transposed_by_rows(call))

/* The rows of the input that meet output rows [out->from, out->to): output o is made of inputs i with o + before =
 * i * stride + cell * dilation. Those in front that meet it in part are cut off by the padding, which is never negative. */
static void transposed_rows(const cm_window *w, const cm_box *out, cm_box *in, cm_split_change *change)
{
  change->spatial = w->rank;
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t first = out->from[i + 2] + w->before[i], last = out->to[i + 2] - 1 + w->before[i], stride = w->stride[i],
            reach = (w->kernel[i] - 1) * w->dilation[i], extent = w->out[i];
    int64_t from = first > reach ? (first - reach + stride - 1) / stride : 0, to = last / stride + 1;
    from = from > first / stride ? first / stride : from;
    from = from < extent ? from : extent - 1;
    to = to < extent ? to : extent;
    int64_t extra = w->in[i] + w->before[i] + w->after[i] - ((extent - 1) * stride + reach + 1); /* output_padding */
    if (to < extent && (to - 1) * stride + reach + 1 + extra < last + 1)
      to++; /* the last row ends in a gap */
    in->from[i + 2] = from;
    in->to[i + 2] = to;
    change->before[i] = first - from * stride;
    change->after[i] = (to - from - 1) * stride + reach + 1 + extra - change->before[i] - (out->to[i + 2] - out->from[i + 2]);
  }
}

cm_status cm_split_changes_transposed(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  int64_t group = cm_node_integer(call->node, "group", 1), filters = call->input[1].dims[1],
          channels = call->input[0].dims[1] / (group > 0 ? group : 1), first = out->from[1], last = out->to[1];
  cm_window w;
  if (transposed_by_rows(call)) {
    CM_TRY(cm_window_transposed(call, &w, error));
    transposed_rows(&w, out, &inputs[0], change);
  }
  cm_split_take(&inputs[0], 0, out, 0);
  if (group > 1) {
    if (first % filters != 0 || last % filters != 0)
      return cm_call_fail(call, error, "its groups of %lld filters cannot be cut", (long long)filters);
    change->group = (last - first) / filters;
    inputs[0].from[1] = inputs[1].from[0] = first / filters * channels;
    inputs[0].to[1] = inputs[1].to[0] = last / filters * channels;
  } else
    cm_split_take(&inputs[1], 1, out, 1);
  if (cm_has(call, 2))
    cm_split_take(&inputs[2], 0, out, 1);
  return CM_OK;
}

uint64_t cm_split_window_cells(const cm_call *call)
{
  const cm_attribute *kernel = cm_node_attribute(call->node, "kernel_shape");
  uint64_t cells = 1;
  for (size_t i = 0; kernel != NULL && i < kernel->count; i++)
    cells *= (uint64_t)(kernel->integers[i] > 0 ? kernel->integers[i] : 1);
  return cells;
}

/* Filters of one group of a convolution; 0: it has no groups. */
static int64_t group_filters(const cm_call *call)
{
  int64_t group = cm_node_integer(call->node, "group", 1);
  return group > 1 ? call->output[0].dims[1] / group : 0;
}

int64_t cm_split_extent_groups(const cm_call *call, uint32_t axis, int64_t extent)
{
  int64_t filters = axis == 1 ? group_filters(call) : 0;
  if (filters == 0)
    return extent;
  if (extent >= filters)
    return extent / filters * filters;
  while (filters % extent != 0)
    extent--;
  return extent;
}

int64_t cm_split_extent_whole_groups(const cm_call *call, uint32_t axis, int64_t extent)
{
  int64_t filters = axis == 1 ? group_filters(call) : 0;
  return filters == 0 ? extent : extent > filters ? extent / filters * filters : filters;
}
