/* How large the pieces of an operator may be: what a piece needs, which axes are cut, how small they get. */
#include <string.h>

#include "core/machine/plan/cutter.h"
#include "core/machine/plan/sizing.h"

static uint64_t shape_bytes(const cm_shape *shape, const cm_box *box)
{
  return cm_aligned(cm_box_count(box) * cm_type_bytes(shape->type));
}

cm_box cm_box_typical(const cm_shape *whole, const int64_t *steps)
{
  cm_box box = cm_box_whole(whole);
  for (uint32_t i = 0; i < box.rank; i++) {
    int64_t dim = box.to[i], step = steps[i];
    if (step >= dim)
      continue;
    box.from[i] = 2 * step <= dim ? step : 0;
    box.to[i] = box.from[i] + step;
  }
  return box;
}

cm_status cm_sizing_measure(cm_sizing *s, cm_need *made, cm_error *error)
{
  cm_split_change change;
  cm_box box = cm_box_typical(&s->call->output[0], s->step);
  *made = (cm_need){0};
  CM_TRY(cm_split_piece(s->call, &box, s->inputs, &change, error));
  for (uint32_t i = 0; i < s->call->input_count; i++)
    if (cm_has(s->call, i)) {
      uint32_t value = s->call->node->inputs[i];
      bool constant = s->plan->values[value].kind == CM_VALUE_CONSTANT;
      cm_box loaded = constant ? cm_plan_constant_box(s->plan, value, &s->inputs[i]) : s->inputs[i];
      *(constant ? &made->parameters : &made->data) += shape_bytes(&s->call->input[i], &loaded);
    }
  made->output = shape_bytes(&s->call->output[0], &box);
  for (uint32_t o = 1; o < s->call->output_count; o++) {
    cm_box other = cm_split_outputs_alike(s->call) ? box : cm_box_whole(&s->call->output[o]);
    made->output += shape_bytes(&s->call->output[o], &other);
  }
  return CM_OK;
}

cm_status cm_sizing_work(cm_sizing *s, cm_work *work, cm_error *error)
{
  cm_split_change change;
  cm_box box = cm_box_typical(&s->call->output[0], s->step);
  CM_TRY(cm_split_piece(s->call, &box, s->inputs, &change, error));
  *work = cm_piece_work(s->call, &box, s->inputs, change.replaced);
  return CM_OK;
}

static bool contains(const uint32_t *axes, uint32_t count, uint32_t axis)
{
  for (uint32_t i = 0; i < count; i++)
    if (axes[i] == axis)
      return true;
  return false;
}

/* Images have rows as their third dimension, sequences of tokens as their second, matrices as their first. */
void cm_sizing_axes(cm_sizing *s)
{
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(s->call, axes), rank = s->call->output[0].rank;
  bool image = rank > 3 || (rank == 3 && cm_has(s->call, 1) && cm_split_is_matrix(s->call) &&
                            s->call->input[1].rank == 3 && cm_node_attribute(s->call->node, "kernel_shape") != NULL);
  uint32_t band = image ? 2 : rank == 3 ? 1 : 0, slice = image ? 1 : rank > 0 ? rank - 1 : 0;
  s->frame = rank > 2 && contains(axes, count, 0) ? 0 : CM_NONE;
  s->band = contains(axes, count, band) ? band : CM_NONE;
  s->slice = slice != band && contains(axes, count, slice) ? slice : CM_NONE;
  for (uint32_t i = 0; i < count && s->band == CM_NONE; i++)
    if (axes[i] != s->slice && axes[i] != s->frame)
      s->band = axes[i];
}

cm_status cm_sizing_shrink(cm_sizing *s, uint64_t most, bool *fits, cm_error *error)
{
  const uint32_t axes[3] = {s->frame, s->band, s->slice};
  for (;;) {
    cm_need n;
    uint32_t axis = CM_NONE;
    CM_TRY(cm_sizing_measure(s, &n, error));
    *fits = cm_need_total(&n) <= most;
    for (uint32_t i = 0; i < 3 && axis == CM_NONE; i++)
      if (axes[i] != CM_NONE && s->step[axes[i]] > 1 &&
          cm_split_extent(s->call, axes[i], s->step[axes[i]] / 2) < s->step[axes[i]])
        axis = axes[i];
    if (*fits || axis == CM_NONE)
      return CM_OK;
    s->step[axis] = cm_split_extent(s->call, axis, s->step[axis] / 2);
  }
}

bool cm_sizing_inherit(cm_sizing *s, const cm_plan_op *op)
{
  const cm_shape *out = &s->call->output[0];
  uint32_t value = op->copied != CM_NONE ? CM_NONE : s->call->node->inputs[0];
  for (uint32_t i = 0; i < s->call->input_count && op->copied == CM_NONE; i++)
    if (cm_has(s->call, i) && s->plan->values[s->call->node->inputs[i]].kind != CM_VALUE_CONSTANT &&
        cm_box_count(&s->plan->values[s->call->node->inputs[i]].whole) >=
            cm_box_count(&s->plan->values[value].whole)) {
      value = s->call->node->inputs[i];
      break;
    }
  if (value == CM_NONE || s->plan->values[value].kind == CM_VALUE_CONSTANT)
    return false;
  uint32_t source = cm_plan_source(s->plan, value);
  if (source == CM_NONE || s->plan->values[source].whole.rank != out->rank)
    return false;
  const cm_plan_value *v = &s->plan->values[source];
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(s->call, axes);
  bool same = cm_split_in_place(s->call), any = false;
  for (uint32_t i = 0; i < out->rank; i++) {
    if (!contains(axes, count, i) || v->count[i] <= 1 || (!same && i != s->slice))
      continue;
    if (s->plan->model->values[source].shape.dims[i] != out->dims[i])
      continue;
    s->step[i] = cm_split_extent(s->call, i, v->step[i]);
    if (same && v->stretches.edge != NULL && v->stretches.axis == i && s->step[i] == v->step[i]) {
      s->stretches = v->stretches;
      s->stretches.device = NULL;
    }
    any = true;
  }
  return any && same;
}

void cm_sizing_set(cm_plan_value *value, const int64_t *step, const cm_stretches *stretches)
{
  value->tile_count = 1;
  value->stretches = *stretches;
  for (uint32_t i = 0; i < value->whole.rank; i++) {
    int64_t dim = value->whole.to[i];
    value->step[i] = step[i] < 1 ? 1 : step[i];
    value->count[i] = stretches->edge != NULL && stretches->axis == i ? stretches->count
                      : dim < 1                                          ? 1
                                                                         : cm_divide_up(dim, value->step[i]);
    value->tile_count *= (uint32_t)value->count[i];
  }
}

cm_status cm_plan_too_small(const cm_plan *plan, const cm_node *node, uint64_t needed, cm_error *error)
{
  char label[160];
  if (plan->memory_count > 0) /* in one of the memories: so much of all of them */
    needed *= plan->cut_bytes > 0 ? (plan->memory_bytes + plan->cut_bytes - 1) / plan->cut_bytes : plan->memory_count;
  (void)cm_fail(error, CM_TOO_LARGE,
                "node %s: its smallest piece (inputs, parameters and output) needs %llu bytes on the chip, and there are "
                "%llu; a memory of %llu bytes would do for it",
                cm_node_label(node, label, sizeof label), (unsigned long long)needed,
                (unsigned long long)plan->memory_bytes, (unsigned long long)needed);
  (void)cm_fail_at(error, "node %.80s", node->name);
  cm_error_figure(error, "needed_bytes", needed);
  cm_error_figure(error, "memory_bytes", plan->memory_bytes);
  return error->status;
}

void cm_sizing_least(cm_sizing *s)
{
  memcpy(s->step, s->call->output[0].dims, sizeof s->step);
  cm_sizing_axes(s);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t axis = (const uint32_t[]){s->frame, s->band, s->slice}[i];
    if (axis != CM_NONE)
      s->step[axis] = cm_split_extent(s->call, axis, 1);
  }
}

cm_status cm_sizing_too_small(cm_sizing *s, cm_error *error)
{
  cm_need n;
  cm_sizing_least(s);
  return cm_sizing_measure(s, &n, error) == CM_OK ? cm_plan_too_small(s->plan, s->call->node, cm_need_total(&n), error) : error->status;
}
