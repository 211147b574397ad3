/* How large pieces are on a chip with many units: several for every unit that computes the operator, small enough that
 * neighbouring operators overlap and their tiles find room, but none so small that its issue counts. */
#include <math.h>
#include <string.h>

#include "core/machine/plan/stretches.h"

/* In how many pieces the operator should be cut. */
static int64_t wanted_pieces(const cm_plan_op *op, const cm_plan_options *options, const cm_need *whole, uint64_t work,
                             double weight_bytes)
{
  const cm_settings *settings = options->settings;
  if (options->division == CM_DIVISION_UNSPLIT)
    return 1;
  double units = op->units,
         bytes = (double)(whole->data + whole->output) / settings->piece_bytes, most = (double)INT32_MAX,
         slices = (double)whole->parameters / weight_bytes, sharing = options->target->memory_count > 0 ? 1 : units;
  /* What runs at once shares a slice of the parameters, or has slices that are as much smaller; of cores with memories of their
   * own each has one. */
  double pieces = fmax(fmax(sharing * slices, units * settings->pieces_a_unit), bytes);
  if (options->target->issue_ns > 0)
    most = (double)work / op->rate / (options->target->issue_ns * settings->issues_min);
  pieces = pieces < most ? pieces : most;
  return pieces < 1 ? 1 : (int64_t)pieces;
}

/* Cuts an axis in up to `parts`; returns in how many it is cut. */
static int64_t cut(cm_sizing *s, uint32_t axis, int64_t parts)
{
  if (axis == CM_NONE || parts < 1)
    return 1;
  int64_t dim = s->whole.to[axis], step = cm_split_extent(s->call, axis, cm_divide_up(dim, parts));
  s->step[axis] = step < s->step[axis] ? step : s->step[axis];
  return cm_divide_up(dim, s->step[axis]);
}

static cm_status choose_steps(cm_sizing *s, const cm_plan_op *op, const cm_plan_options *options, cm_error *error)
{
  cm_need whole;
  cm_split_change change;
  CM_TRY(cm_sizing_measure(s, &whole, error));
  CM_TRY(cm_split_piece(s->call, &s->whole, s->inputs, &change, error));
  const double asked = options->settings->weight_bytes;
  const double weight_bytes = fmax(1, s->plan->memory_count > 0 ? fmin(asked, (double)s->memory / 4) : asked);
  int64_t pieces = wanted_pieces(op, options, &whole, cm_split_work(s->call, &s->whole, s->inputs), weight_bytes),
          slices = options->division == CM_DIVISION_UNSPLIT ? 1 : cm_divide_up((int64_t)whole.parameters, (int64_t)weight_bytes);
  pieces = cm_divide_up(pieces, cut(s, s->frame, pieces));
  /* Rows where activations outweigh parameters: what follows can begin early. */
  if (whole.data + whole.output >= whole.parameters || s->slice == CM_NONE) {
    slices = cut(s, s->slice, slices);
    int64_t bands = cut(s, s->band, cm_divide_up(pieces, slices));
    (void)cut(s, s->slice, cm_divide_up(pieces, bands));
  } else
    (void)cut(s, s->band, cm_divide_up(pieces, cut(s, s->slice, pieces > slices ? pieces : slices)));
  return CM_OK;
}

/* Whether several devices compute an operator that computes anything. */
static bool is_shared(const cm_sizing *s, const cm_plan_op *op)
{
  const cm_target *target = s->plan->target;
  uint32_t devices = 0;
  for (uint32_t d = 0; d < target->device_count; d++)
    devices += op->rates[d] > 0 && target->device[d].units > 0;
  return devices > 1 && cm_box_count(&s->whole) > 0;
}

/* Cuts one axis by device where devices end sooner so: rows, or channels in few bands of rows. */
static cm_status stretch_steps(cm_sizing *s, const cm_plan_op *op, const cm_settings *settings, uint64_t most, cm_error *error)
{
  const bool channels = settings->stretch > 1;
  if (cm_box_count(&s->whole) == 0)
    return CM_OK; /* nothing to cut */
  cm_stretch_wish wish = {.pieces = (double)cm_sizing_cells(s, CM_NONE) / op->units, .lean = settings->lean, .most = most};
  int64_t common[CM_RANK_MAX];
  memcpy(common, s->step, sizeof common);
  CM_TRY(cm_common_end(s, op, &wish.before_ns, error));
  for (int turn = 0; turn < 2 && s->stretches.edge == NULL; turn++) {
    const bool slices = channels == (turn == 0);
    memcpy(s->step, common, sizeof common);
    if (slices && s->band != CM_NONE) {
      s->step[s->band] = s->whole.to[s->band];
      (void)cut(s, s->band, (int64_t)ceil(wish.pieces));
    }
    CM_TRY(cm_stretch_axis(s, op, slices ? s->slice : s->band, wish, error));
  }
  if (s->stretches.edge == NULL)
    memcpy(s->step, common, sizeof common);
  return CM_OK;
}

/* Cuts the axis that is cut into most by how far units are from each other, where no unit has more than one piece. */
static cm_status stretch_by_way(cm_sizing *s, const cm_plan_op *op, const cm_plan_options *options, uint64_t most, cm_error *error)
{
  const int64_t cells = cm_sizing_cells(s, CM_NONE);
  int64_t common[CM_RANK_MAX];
  cm_need need = {0};
  uint32_t axis = s->slice;
  if (s->band != CM_NONE && (axis == CM_NONE || cm_sizing_cells(s, s->band) < cm_sizing_cells(s, axis)))
    axis = s->band;
  if (cells < 2 || (double)cells > op->units)
    return CM_OK;
  memcpy(common, s->step, sizeof common);
  CM_TRY(cm_stretch_by_way(s, op, axis, options->target->issue_ns * options->settings->issues_min, error));
  if (s->stretches.edge != NULL)
    CM_TRY(cm_sizing_measure(s, &need, error));
  if (s->stretches.edge == NULL || cm_need_total(&need) > most) {
    memcpy(s->step, common, sizeof common);
    s->stretches = (cm_stretches){0};
  }
  return CM_OK;
}

cm_status cm_plan_grid_for_units(cm_plan *plan, const cm_plan_op *op, const cm_plan_options *options, uint64_t memory,
                                 cm_plan_value *value, cm_error *error)
{
  cm_sizing s = {.plan = plan, .call = &op->call, .whole = value->whole, .memory = memory};
  cm_need n;
  bool fits = false;
  CM_TRY(CM_ARENA_NEW(&plan->arena, s.inputs, op->call.input_count + 1, error));
  memcpy(s.step, value->whole.to, sizeof s.step);
  cm_sizing_axes(&s);
  const bool inherited = options->division != CM_DIVISION_UNSPLIT && cm_sizing_inherit(&s, op);
  if (!inherited) {
    memcpy(s.step, value->whole.to, sizeof s.step);
    s.stretches = (cm_stretches){0};
    CM_TRY(choose_steps(&s, op, options, error));
  }
  int64_t wished[CM_RANK_MAX];
  memcpy(wished, s.step, sizeof wished);
  CM_TRY(cm_sizing_shrink(&s, memory / 2, &fits, error));
  /* Of cores with memories of their own others have room too: pieces are not made smaller than helps. */
  if (!fits && plan->memory_count > 0) {
    memcpy(s.step, wished, sizeof wished);
    CM_TRY(cm_sizing_shrink(&s, memory, &fits, error));
  }
  if (!fits && (cm_sizing_measure(&s, &n, error) != CM_OK || cm_need_total(&n) > memory))
    return cm_sizing_too_small(&s, error);
  if (s.step[s.stretches.axis] != wished[s.stretches.axis])
    s.stretches = (cm_stretches){0};
  const bool by_device = options->division == CM_DIVISION_CAPABILITY || options->division == CM_DIVISION_LAYERS;
  if (!inherited && fits && by_device && options->settings->stretch >= 1 && is_shared(&s, op) &&
      stretch_steps(&s, op, options->settings, memory / 2, error) != CM_OK)
    return error->status;
  if (!inherited && fits && by_device && options->settings->stretch > 2 && plan->memory_count > 0 && !is_shared(&s, op))
    CM_TRY(stretch_by_way(&s, op, options, memory / 2, error));
  cm_sizing_set(value, s.step, &s.stretches);
  return CM_OK;
}
