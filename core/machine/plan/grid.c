/* How large pieces are: thin bands where the parameters stay on the chip beside them, so that neighbouring operators can
 * go band by band; slices of channels where the parameters are too large for that. */
#include <string.h>

#include "core/machine/plan/sizing.h"

/* ---- thin bands ---- */

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
  s->step[axis] = cm_split_extent(s->call, axis, cm_divide_up(most, cm_divide_up(most, step)));
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
      s->step[s->slice] = cm_split_extent(s->call, s->slice, cm_divide_up(dim, pieces));
    CM_TRY(cm_sizing_measure(s, &n, error));
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
  CM_TRY(cm_sizing_measure(s, &whole, error));
  for (int64_t bands = 1; bands <= dim; bands = bands < 16 ? bands + 1 : bands + bands / 4) {
    bool fits;
    cm_need n;
    if (s->band != CM_NONE)
      s->step[s->band] = cm_divide_up(dim, bands);
    CM_TRY(widest_slice(s, most, &fits, error));
    if (!fits)
      continue;
    CM_TRY(cm_sizing_measure(s, &n, error));
    uint64_t slices = s->slice == CM_NONE
                          ? 1
                          : (uint64_t)cm_divide_up(s->call->output[0].dims[s->slice], s->step[s->slice]),
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

cm_status cm_plan_grid(cm_plan *plan, const cm_plan_op *op, const cm_plan_options *options, uint64_t memory,
                       cm_plan_value *value, cm_error *error)
{
  if (options->settings != NULL)
    return cm_plan_grid_for_units(plan, op, options, memory, value, error);
  cm_sizing s = {.plan = plan, .call = &op->call, .memory = memory, .tile_bytes = memory / options->tile_share};
  cm_need n;
  bool fits = false;
  CM_TRY(CM_ARENA_NEW(&plan->arena, s.inputs, op->call.input_count + 1, error));
  memcpy(s.step, op->call.output[0].dims, sizeof s.step);
  cm_sizing_axes(&s);
  CM_TRY(cm_sizing_measure(&s, &n, error));
  /* Room is left for what is loaded while a piece runs; slices have counted it in already. */
  uint64_t most = memory * 6 / 10;
  if (cm_split_is_matrix(s.call) && n.parameters > memory / 3) {
    most = memory;
    if (s.frame != CM_NONE)
      s.step[s.frame] = 1;
    CM_TRY(choose_slices(&s, n.parameters, error));
  } else if (!cm_sizing_inherit(&s, op)) {
    cut_to(&s, s.frame, s.tile_bytes);
    cut_to(&s, s.band, s.tile_bytes);
    if (s.band == CM_NONE)
      cut_to(&s, s.slice, s.tile_bytes);
  }
  CM_TRY(cm_sizing_shrink(&s, most, &fits, error));
  if (!fits && (cm_sizing_measure(&s, &n, error) != CM_OK || cm_need_total(&n) > memory))
    return cm_sizing_too_small(&s, error);
  cm_sizing_set(value, s.step, &(cm_stretches){0});
  return CM_OK;
}

/* What is larger than the memory of a core is cut to `most` bytes along its longest axes: it could be loaded nowhere. */
static void cut_longest(uint32_t rank, uint64_t width, uint64_t memory, uint64_t most, int64_t *step)
{
  for (;;) {
    uint64_t bytes = width;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < rank; i++) {
      bytes *= (uint64_t)step[i];
      longest = step[i] > step[longest] ? i : longest;
    }
    if (bytes <= memory || rank == 0 || step[longest] <= 1)
      return;
    step[longest] = cm_divide_up(step[longest], (int64_t)((bytes + most - 1) / most));
  }
}

void cm_plan_input_grid(const cm_plan *plan, const cm_plan_options *options, uint64_t width, cm_plan_value *value)
{
  uint32_t rank = value->whole.rank;
  int64_t step[CM_RANK_MAX];
  uint64_t most = options->settings != NULL ? (uint64_t)options->settings->piece_bytes
                                            : plan->memory_bytes / options->tile_share,
           bytes = width * cm_box_count(&value->whole);
  if (plan->memory_count > 0 && most > plan->cut_bytes / 2)
    most = plan->cut_bytes / 2;
  most = most > 0 ? most : 1;
  memcpy(step, value->whole.to, sizeof step);
  /* Rows of an image: the third dimension, or the second where channels come last. */
  uint32_t axis = rank > 3 && value->whole.to[rank - 1] < value->whole.to[1] ? 1
                  : rank > 3                                                  ? 2
                  : rank == 3                                                 ? 1
                                                                              : 0;
  if (rank > 2 && step[0] > 1) { /* small frames come together */
    const uint64_t frame = bytes / (uint64_t)step[0], frames = frame > 0 && most / frame > 1 ? most / frame : 1;
    step[0] = frames < (uint64_t)step[0] ? (int64_t)frames : step[0];
    bytes = frame * (uint64_t)step[0];
  }
  if (rank > 0 && bytes > most && step[axis] > 1) {
    int64_t parts = (int64_t)((bytes + most - 1) / most);
    step[axis] = parts >= step[axis] ? 1 : cm_divide_up(step[axis], parts);
  }
  if (plan->memory_count > 0)
    cut_longest(rank, width, plan->cut_bytes, most, step);
  cm_sizing_set(value, step, &(cm_stretches){0});
}
