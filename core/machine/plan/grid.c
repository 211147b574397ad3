/* How large pieces are: thin bands where the parameters stay on the chip beside them, so that neighbouring operators can
 * go band by band; slices of channels where the parameters are too large for that. */
#include <string.h>

#include "core/machine/plan/grid.h"

/* ---- what a piece needs ---- */

static uint64_t shape_bytes(const cm_shape *shape, const cm_box *box)
{
  return cm_aligned(cm_box_count(box) * cm_type_bytes(shape->type));
}

/* A typical piece: the second along every axis that is cut, which has both neighbours. */
static cm_box typical(const cm_sizing *s)
{
  cm_box box = cm_box_whole(&s->call->output[0]);
  for (uint32_t i = 0; i < box.rank; i++) {
    int64_t dim = box.to[i], step = s->step[i];
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
  cm_box box = typical(s);
  *made = (cm_need){0};
  if (cm_split_piece(s->call, &box, s->inputs, &change, error) != CM_OK)
    return error->status;
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

static int64_t divide_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* ---- axes ---- */

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
  bool image = rank > 3 || (rank == 3 && cm_has(s->call, 1) && cm_split_is_matrix(s->call->node->known) &&
                            s->call->input[1].rank == 3 && cm_node_attribute(s->call->node, "kernel_shape") != NULL);
  uint32_t band = image ? 2 : rank == 3 ? 1 : 0, slice = image ? 1 : rank > 0 ? rank - 1 : 0;
  s->frame = rank > 2 && contains(axes, count, 0) ? 0 : CM_NONE;
  s->band = contains(axes, count, band) ? band : CM_NONE;
  s->slice = slice != band && contains(axes, count, slice) ? slice : CM_NONE;
  for (uint32_t i = 0; i < count && s->band == CM_NONE; i++)
    if (axes[i] != s->slice && axes[i] != s->frame)
      s->band = axes[i];
}

/* ---- thin bands ---- */

/* Cuts until a piece fits in `most`: frames, then rows, then channels. False when the smallest does not. */
cm_status cm_sizing_shrink(cm_sizing *s, uint64_t most, bool *fits, cm_error *error)
{
  const uint32_t axes[3] = {s->frame, s->band, s->slice};
  for (;;) {
    cm_need n;
    uint32_t axis = CM_NONE;
    if (cm_sizing_measure(s, &n, error) != CM_OK)
      return error->status;
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

/* Bytes of the output per unit of an axis at the present steps. */
static uint64_t unit_bytes(const cm_sizing *s, uint32_t axis)
{
  uint64_t bytes = cm_type_bytes(s->call->output[0].type);
  for (uint32_t i = 0; i < s->call->output[0].rank; i++)
    bytes *= i == axis ? 1 : (uint64_t)s->step[i];
  return bytes > 0 ? bytes : 1;
}

static void cut_to(cm_sizing *s, uint32_t axis, uint64_t bytes)
{
  if (axis == CM_NONE)
    return;
  uint64_t units = bytes / unit_bytes(s, axis);
  int64_t most = s->step[axis], step = units < 1 ? 1 : units > (uint64_t)most ? most : (int64_t)units;
  /* Equal bands rather than a thin last one. */
  s->step[axis] = cm_split_extent(s->call, axis, divide_up(most, divide_up(most, step)));
}

/* The same cells as the input where the operator goes place by place, slices kept where channels are independent. */
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
    if (v->whole.to[i] != out->dims[i])
      continue;
    s->step[i] = cm_split_extent(s->call, i, v->step[i]);
    any = true;
  }
  return any && same;
}

/* ---- slices of large parameters ---- */

/* The most slices' worth of channels that fit in `room` twice over (one works while the next is loaded). */
static cm_status widest_slice(cm_sizing *s, uint64_t most, bool *fits, cm_error *error)
{
  int64_t dim = s->slice == CM_NONE ? 1 : s->call->output[0].dims[s->slice];
  *fits = false;
  for (int64_t pieces = 1; pieces <= dim; pieces = pieces < 8 ? pieces + 1 : pieces + pieces / 4) {
    cm_need n;
    if (s->slice != CM_NONE)
      s->step[s->slice] = cm_split_extent(s->call, s->slice, divide_up(dim, pieces));
    if (cm_sizing_measure(s, &n, error) != CM_OK)
      return error->status;
    if (n.data + 2 * (n.parameters + n.output) <= most) {
      *fits = true;
      return CM_OK;
    }
  }
  return CM_OK;
}

/* Few bands with the parameters loaded again for each, or few slices with the input loaded again for each. */
static cm_status choose_slices(cm_sizing *s, uint64_t parameters, cm_error *error)
{
  uint64_t most = s->memory - s->memory / 10, best = UINT64_MAX;
  int64_t dim = s->band == CM_NONE ? 1 : s->call->output[0].dims[s->band], chosen[CM_RANK_MAX];
  cm_need whole;
  memcpy(chosen, s->step, sizeof chosen);
  if (cm_sizing_measure(s, &whole, error) != CM_OK)
    return error->status;
  for (int64_t bands = 1; bands <= dim; bands = bands < 16 ? bands + 1 : bands + bands / 4) {
    bool fits;
    cm_need n;
    if (s->band != CM_NONE)
      s->step[s->band] = divide_up(dim, bands);
    if (widest_slice(s, most, &fits, error) != CM_OK)
      return error->status;
    if (!fits)
      continue;
    if (cm_sizing_measure(s, &n, error) != CM_OK)
      return error->status;
    uint64_t slices = s->slice == CM_NONE
                          ? 1
                          : (uint64_t)divide_up(s->call->output[0].dims[s->slice], s->step[s->slice]),
             halo = (uint64_t)bands * n.data > whole.data ? (uint64_t)bands * n.data - whole.data : 0,
             by_band = (uint64_t)(bands - 1) * parameters + halo, by_slice = (slices - 1) * (whole.data + halo),
             cost = by_band < by_slice ? by_band : by_slice;
    if (cost < best) {
      best = cost;
      memcpy(chosen, s->step, sizeof chosen);
    }
  }
  memcpy(s->step, chosen, sizeof chosen);
  return CM_OK;
}

/* ---- the whole ---- */

void cm_sizing_set(cm_plan_value *value, const int64_t *step)
{
  value->tile_count = 1;
  for (uint32_t i = 0; i < value->whole.rank; i++) {
    int64_t dim = value->whole.to[i];
    value->step[i] = step[i] < 1 ? 1 : step[i];
    value->count[i] = dim < 1 ? 1 : divide_up(dim, value->step[i]);
    value->tile_count *= (uint32_t)value->count[i];
  }
}

cm_status cm_plan_too_small(const cm_plan *plan, const cm_node *node, uint64_t needed, cm_error *error)
{
  char label[160];
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

/* The least that any cut of the operator needs. */
cm_status cm_sizing_too_small(cm_sizing *s, cm_error *error)
{
  cm_need n;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t axis = (const uint32_t[]){s->frame, s->band, s->slice}[i];
    if (axis != CM_NONE)
      s->step[axis] = cm_split_extent(s->call, axis, 1);
  }
  return cm_sizing_measure(s, &n, error) == CM_OK ? cm_plan_too_small(s->plan, s->call->node, cm_need_total(&n), error) : error->status;
}

cm_status cm_plan_grid(cm_plan *plan, const cm_plan_op *op, const cm_plan_options *options, uint64_t memory,
                       cm_plan_value *value, cm_error *error)
{
  if (options->settings != NULL)
    return cm_plan_grid_for_units(plan, op, options, memory, value, error);
  cm_sizing s = {.plan = plan, .call = &op->call, .memory = memory, .tile_bytes = memory / options->tile_share};
  cm_need n;
  bool fits = false;
  if (CM_ARENA_NEW(&plan->arena, s.inputs, op->call.input_count + 1, error) != CM_OK)
    return error->status;
  memcpy(s.step, op->call.output[0].dims, sizeof s.step);
  cm_sizing_axes(&s);
  if (cm_sizing_measure(&s, &n, error) != CM_OK)
    return error->status;
  /* Room is left for what is loaded while a piece runs; slices have counted it in already. */
  uint64_t most = memory * 6 / 10;
  if (cm_split_is_matrix(s.call->node->known) && n.parameters > memory / 3) {
    most = memory;
    if (s.frame != CM_NONE)
      s.step[s.frame] = 1;
    if (choose_slices(&s, n.parameters, error) != CM_OK)
      return error->status;
  } else if (!cm_sizing_inherit(&s, op)) {
    cut_to(&s, s.frame, s.tile_bytes);
    cut_to(&s, s.band, s.tile_bytes);
    if (s.band == CM_NONE)
      cut_to(&s, s.slice, s.tile_bytes);
  }
  if (cm_sizing_shrink(&s, most, &fits, error) != CM_OK)
    return error->status;
  if (!fits && (cm_sizing_measure(&s, &n, error) != CM_OK || cm_need_total(&n) > memory))
    return cm_sizing_too_small(&s, error);
  cm_sizing_set(value, s.step);
  return CM_OK;
}

void cm_plan_input_grid(const cm_plan *plan, const cm_plan_options *options, uint64_t width, cm_plan_value *value)
{
  uint32_t rank = value->whole.rank;
  int64_t step[CM_RANK_MAX];
  uint64_t most = options->settings != NULL ? (uint64_t)options->settings->piece_bytes
                                            : plan->memory_bytes / options->tile_share,
           bytes = width * cm_box_count(&value->whole);
  most = most > 0 ? most : 1;
  memcpy(step, value->whole.to, sizeof step);
  /* Rows of an image: the third dimension, or the second where channels come last. */
  uint32_t axis = rank > 3 && value->whole.to[rank - 1] < value->whole.to[1] ? 1
                  : rank > 3                                                  ? 2
                  : rank == 3                                                 ? 1
                                                                              : 0;
  if (rank > 2 && step[0] > 1) {
    bytes /= (uint64_t)step[0];
    step[0] = 1;
  }
  if (rank > 0 && bytes > most && step[axis] > 1) {
    int64_t parts = (int64_t)((bytes + most - 1) / most);
    step[axis] = parts >= step[axis] ? 1 : divide_up(step[axis], parts);
  }
  cm_sizing_set(value, step);
}
