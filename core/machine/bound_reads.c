#include "core/machine/bound_reads.h"

#include "core/operators/operator.h"

enum { INPUTS_CUT = 8 }; /* of operators of which less than the whole is known */

/* Channels of a grouped convolution that one piece may make: of several groups the whole ones. */
static void whole_groups(const cm_call *call, cm_box *box)
{
  int64_t group = cm_node_integer(call->node, "group", 1), filters = call->output[0].dims[1] / (group > 0 ? group : 1);
  if (group <= 1 || filters < 1 || box->from[1] / filters == (box->to[1] - 1) / filters)
    return;
  int64_t from = (box->from[1] + filters - 1) / filters * filters, to = box->to[1] / filters * filters;
  if (from < to) {
    box->from[1] = from;
    box->to[1] = to;
  } else
    box->to[1] = from; /* the part in the first of two */
}

cm_box cm_bound_piece_box(const cm_call *call, const cm_box *box)
{
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  cm_box made = cm_box_whole(&call->output[0]);
  for (uint32_t i = 0; i < count; i++) {
    made.from[axes[i]] = box->from[axes[i]];
    made.to[axes[i]] = box->to[axes[i]];
    int64_t least = cm_split_extent(call, axes[i], 1);
    if (least > 1) { /* groups stay whole */
      made.from[axes[i]] = made.from[axes[i]] / least * least;
      made.to[axes[i]] = (made.to[axes[i]] + least - 1) / least * least;
    } else if (axes[i] == 1 && made.rank > 2 && cm_split_is_matrix(call))
      whole_groups(call, &made);
  }
  return made;
}

/* What the first element along an axis (of groups, the first group) and the others read together. */
static cm_status read_cut(const cm_call *call, const cm_box *box, uint32_t axis, cm_box *inputs, cm_error *error)
{
  cm_split_change change;
  cm_box other[INPUTS_CUT], head = *box, rest = *box;
  int64_t group = cm_node_integer(call->node, "group", 1), first = axis == 1 && group > 1 ? call->output[0].dims[1] / group : 1;
  head.to[axis] = rest.from[axis] = box->from[axis] + first;
  CM_TRY(cm_split_piece(call, &head, inputs, &change, error));
  CM_TRY(cm_split_piece(call, &rest, other, &change, error));
  for (uint32_t i = 0; i < call->input_count; i++)
    for (uint32_t a = 0; a < inputs[i].rank; a++) {
      inputs[i].from[a] = other[i].from[a] < inputs[i].from[a] ? other[i].from[a] : inputs[i].from[a];
      inputs[i].to[a] = other[i].to[a] > inputs[i].to[a] ? other[i].to[a] : inputs[i].to[a];
    }
  return CM_OK;
}

cm_status cm_bound_read_boxes(const cm_call *call, const cm_box *box, cm_box *inputs, cm_error *error)
{
  cm_split_change change;
  cm_box whole = cm_box_whole(&call->output[0]), cut[INPUTS_CUT], both;
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes), rank = box->rank, band = rank > 3 ? 2 : rank == 3 ? 1 : 0;
  const cm_split_kind kind = call->node->known->split;
  bool window = kind == CM_SPLIT_CONVOLUTION || kind == CM_SPLIT_POOL || kind == CM_SPLIT_TRANSPOSED;
  CM_TRY(cm_split_piece(call, box, inputs, &change, error));
  if (!cm_box_equal(box, &whole) || call->input_count > INPUTS_CUT)
    return CM_OK;
  for (uint32_t k = 0; k < count; k++) {
    if (!window && axes[k] != band)
      continue;
    CM_TRY(read_cut(call, box, axes[k], cut, error));
    for (uint32_t i = 0; i < call->input_count; i++)
      if (inputs[i].rank > 0 && cm_box_intersect(&inputs[i], &cut[i], &both))
        inputs[i] = both;
  }
  return CM_OK;
}

static int64_t length(const cm_box *box, uint32_t axis)
{
  return box->to[axis] - box->from[axis];
}

/* The first input's interval for one place of a box along an axis. */
static cm_status read_place(const cm_call *call, const cm_box *box, uint32_t axis, int64_t place, cm_box *input,
                            cm_error *error)
{
  cm_split_change change;
  cm_box inputs[INPUTS_CUT], one = *box;
  one.from[axis] = place;
  one.to[axis] = place + 1;
  CM_TRY(cm_split_piece(call, &one, inputs, &change, error));
  *input = inputs[0];
  return CM_OK;
}

cm_status cm_bound_leave_gaps(const cm_call *call, const cm_box *box, bool last, cm_box *input, int64_t *reads,
                              cm_error *error)
{
  const cm_split_kind kind = call->node->known->split;
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  for (uint32_t a = 0; a < input->rank; a++)
    reads[a] = length(input, a);
  if ((kind != CM_SPLIT_CONVOLUTION && kind != CM_SPLIT_POOL) || call->input_count > INPUTS_CUT)
    return CM_OK;
  for (uint32_t k = 0; k < count; k++) {
    cm_box first, second, end;
    uint32_t a = axes[k];
    int64_t places = length(box, a);
    if (a < 2 || places < 2)
      continue;
    CM_TRY(read_place(call, box, a, box->from[a], &first, error));
    CM_TRY(read_place(call, box, a, box->from[a] + 1, &second, error));
    CM_TRY(read_place(call, box, a, box->to[a] - 1, &end, error));
    if (second.from[a] <= first.to[a])
      continue;
    int64_t least = length(&first, a) < length(&second, a) ? length(&first, a) : length(&second, a);
    least = least < length(&end, a) ? least : length(&end, a);
    reads[a] = length(&first, a) + (places - 2) * least + length(&end, a);
    input->from[a] = last ? end.from[a] : first.from[a];
    input->to[a] = last ? end.to[a] : first.to[a];
  }
  return CM_OK;
}
