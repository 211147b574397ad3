/* Grids whose steps differ by device (source 4): of an axis of length L device d gets l_d in proportion to its capability
 * p_d = K L_d / T_d, in n_d = ceil(l_d / L_d) tiles. Rows are whole: the proportions are where the search for lengths begins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/machine/cost.h"
#include "core/machine/plan/stretches.h"

enum { ROUNDS = 3, MOVES = 4 * CM_TARGET_DEVICES_MAX };

/* What a device is given of the axis. */
typedef struct stretch {
  double before_ns, row_ns; /* of a piece, and of each row that it has */
  int64_t tiles, rows;      /* n and l; 0 tiles: it cannot compute the operator */
} stretch;

typedef struct stretching {
  cm_sizing *sizing;
  const cm_plan_op *op;
  const cm_target *target;
  uint32_t axis, fastest;
  int64_t length, others; /* of the axis; cells along the other axes */
  double lean;
  stretch of[CM_TARGET_DEVICES_MAX];
} stretching;

/* ---- when devices end ---- */

/* In how many tiles a device cuts so many rows. */
static int64_t tiles_of(const stretch *of, int64_t rows)
{
  return of->tiles < rows ? of->tiles : rows;
}

/* A device with so many rows: the most that a unit has to do. */
static double end_of(const stretching *s, uint32_t device, int64_t rows)
{
  const stretch *d = &s->of[device];
  const int64_t tiles = tiles_of(d, rows);
  if (rows <= 0)
    return 0;
  return (double)cm_divide_up(tiles * s->others, s->target->device[device].units) *
         (d->before_ns + (double)cm_divide_up(rows, tiles) * d->row_ns);
}

static uint32_t last(const stretching *s, double *end)
{
  uint32_t latest = 0;
  *end = 0;
  for (uint32_t d = 0; d < s->target->device_count; d++)
    if (end_of(s, d, s->of[d].rows) > *end) {
      *end = end_of(s, d, s->of[d].rows);
      latest = d;
    }
  return latest;
}

/* Gives rows, one at a time, to the device that ends first with one more. */
static void give(stretching *s, int64_t rows)
{
  for (; rows > 0; rows--) {
    uint32_t best = s->fastest;
    for (uint32_t d = 0; d < s->target->device_count; d++)
      if (s->of[d].tiles > 0 && end_of(s, d, s->of[d].rows + 1) < end_of(s, best, s->of[best].rows + 1))
        best = d;
    s->of[best].rows++;
  }
}

/* Rows of whoever ends last go to others as long as all ends sooner. */
static void level(stretching *s)
{
  for (int move = 0; move < MOVES; move++) {
    stretch before[CM_TARGET_DEVICES_MAX];
    double end, after;
    uint32_t d = last(s, &end);
    const int64_t rows = s->of[d].rows, tiles = tiles_of(&s->of[d], rows);
    memcpy(before, s->of, sizeof before);
    s->of[d].rows = (rows - 1) / tiles * tiles;
    give(s, rows - s->of[d].rows);
    (void)last(s, &after);
    if (after < end)
      continue;
    memcpy(s->of, before, sizeof before);
    return;
  }
}

/* ---- capability ---- */

/* A piece of each device with so many rows. */
static cm_status measure(stretching *s, uint32_t device, int64_t rows, double *capability, cm_error *error)
{
  const cm_device *d = &s->target->device[device];
  cm_work work;
  s->sizing->step[s->axis] = rows < 1 ? 1 : rows;
  CM_TRY(cm_sizing_work(s->sizing, &work, error));
  const double rate = s->op->rates[device], extent = (double)s->sizing->step[s->axis];
  s->of[device].before_ns = s->target->issue_ns + d->latency_ns;
  s->of[device].row_ns = (cm_compute_ns(s->target, d, &work, rate) - s->of[device].before_ns) / extent;
  *capability = cm_capability(s->target, d, &work, rate) * extent * (device == s->fastest ? 1 : s->lean);
  return CM_OK;
}

/* l_d in proportion to p_d, whose L_d follows from l_d. */
static cm_status share(stretching *s, cm_error *error)
{
  double p[CM_TARGET_DEVICES_MAX];
  int64_t given = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double all = 0;
    given = 0;
    for (uint32_t d = 0; d < s->target->device_count; d++) {
      CM_TRY_IF(s->of[d].tiles > 0, measure(s, d, s->of[d].rows / s->of[d].tiles, &p[d], error));
      all += s->of[d].tiles > 0 ? p[d] : 0;
    }
    for (uint32_t d = 0; d < s->target->device_count; d++) {
      s->of[d].rows = s->of[d].tiles > 0 ? (int64_t)((double)s->length * p[d] / all) : 0;
      given += s->of[d].rows;
    }
  }
  for (uint32_t d = 0; d < s->target->device_count; d++)
    s->of[d].row_ns *= d == s->fastest ? 1 : 1 / s->lean;
  give(s, s->length - given);
  level(s);
  return CM_OK;
}

/* ---- the grid ---- */

static cm_status put(stretching *s, cm_error *error)
{
  cm_arena *arena = &s->sizing->plan->arena;
  int64_t count = 0, from = 0, largest = 1, *edge;
  uint32_t *device, at = 0;
  for (uint32_t d = 0; d < s->target->device_count; d++)
    count += tiles_of(&s->of[d], s->of[d].rows);
  CM_TRY(CM_ARENA_NEW(arena, edge, (size_t)count + 1, error));
  CM_TRY(CM_ARENA_NEW(arena, device, (size_t)count, error));
  for (uint32_t d = 0; d < s->target->device_count; d++) {
    const int64_t rows = s->of[d].rows, tiles = tiles_of(&s->of[d], rows);
    for (int64_t t = 0; t < tiles; t++) {
      edge[at] = from + rows * t / tiles;
      device[at++] = d;
    }
    from += rows;
    if (tiles > 0 && cm_divide_up(rows, tiles) > largest)
      largest = cm_divide_up(rows, tiles);
  }
  edge[at] = from;
  s->sizing->step[s->axis] = largest;
  s->sizing->stretches = (cm_stretches){.axis = s->axis, .count = count, .edge = edge, .device = device};
  return CM_OK;
}

/* Sets how many tiles each device gets for so many pieces a unit. */
static void choose_tiles(stretching *s, double pieces)
{
  s->others = cm_sizing_cells(s->sizing, s->axis);
  for (uint32_t d = 0; d < s->target->device_count; d++) {
    const uint32_t units = s->target->device[d].units;
    s->of[d] = (stretch){0};
    if (s->op->rates[d] <= 0 || units == 0)
      continue;
    s->of[d].tiles = (int64_t)fmax(1, ceil(units * pieces / (double)s->others - 1e-9));
    s->of[d].rows = (int64_t)((double)s->length * units * s->op->rates[d] / (s->op->rate * s->op->units));
    if (s->op->rates[d] >= s->op->rate)
      s->fastest = d;
  }
}

cm_status cm_stretch_axis(cm_sizing *sizing, const cm_plan_op *op, uint32_t axis, cm_stretch_wish wish, cm_error *error)
{
  stretching s = {.sizing = sizing, .op = op, .target = sizing->plan->target, .axis = axis, .lean = wish.lean};
  if (axis == CM_NONE)
    return CM_OK;
  const int64_t common = sizing->step[axis];
  s.length = sizing->whole.to[axis];
  /* Groups and blocks have places where alone they may be cut. */
  if (cm_split_extent(sizing->call, axis, s.length - 1) != s.length - 1)
    return CM_OK;
  for (;; wish.pieces *= 2) {
    cm_need need;
    double end;
    choose_tiles(&s, wish.pieces);
    CM_TRY(share(&s, error));
    (void)last(&s, &end);
    if (end >= wish.before_ns)
      break;
    CM_TRY(put(&s, error));
    CM_TRY(cm_sizing_measure(sizing, &need, error));
    if (cm_need_total(&need) <= wish.most)
      return CM_OK;
    if (sizing->step[axis] == 1)
      break;
  }
  sizing->stretches = (cm_stretches){0};
  sizing->step[axis] = common;
  return CM_OK;
}

/* ---- by way ---- */

typedef struct place {
  double way_ns; /* there and back to whoever is farthest, over what is between the two that are farthest from each other */
  uint32_t lane;
} place;

CM_ORDER(nearest_first, place, CM_RISING(way_ns) CM_RISING(lane))

static void list_places(const cm_plan *plan, const cm_device *device, place *at)
{
  const double ways = cm_hop_ways(plan->target);
  double most = 0;
  for (uint32_t u = 0; u < device->units; u++) {
    at[u] = (place){2 * ways * cm_hop_farthest(&plan->hops, device->first_lane + u), device->first_lane + u};
    most = fmax(most, at[u].way_ns);
  }
  for (uint32_t u = 0; u < device->units; u++)
    at[u].way_ns -= most / 2;
  qsort(at, device->units, sizeof *at, nearest_first);
}

cm_status cm_stretch_by_way(cm_sizing *sizing, const cm_plan_op *op, uint32_t axis, double least_ns, cm_error *error)
{
  cm_plan *plan = sizing->plan;
  const cm_device *device = plan->target->device;
  const int64_t length = axis != CM_NONE ? sizing->whole.to[axis] : 0;
  place *at;
  uint32_t *lane, units = 0;
  int64_t *edge, count = 0, largest = 1;
  double ways = 0, level = 0, done = 0;
  cm_work work;
  while (op->rates[device - plan->target->device] <= 0)
    device++;
  if (axis == CM_NONE || cm_split_extent(sizing->call, axis, length - 1) != length - 1)
    return CM_OK;
  CM_TRY(CM_ARENA_NEW(&plan->arena, at, device->units, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, lane, device->units, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, edge, (size_t)device->units + 1, error));
  list_places(plan, device, at);
  memcpy(sizing->step, sizing->whole.to, sizeof sizing->step);
  CM_TRY(cm_sizing_work(sizing, &work, error));
  const double all = (double)work.operations / op->rates[device - plan->target->device];
  /* All end at `level`, ways counted in; a unit that would have too little is too far. */
  for (; units < device->units; units++) {
    const double end = (all + ways + at[units].way_ns) / (units + 1);
    if (units > 0 && end - at[units].way_ns < least_ns)
      break;
    ways += at[units].way_ns;
    level = end;
  }
  for (uint32_t u = 0; u < units; u++) {
    done += level - at[u].way_ns;
    const int64_t to = u + 1 < units ? llround((double)length * done / all) : length;
    if (to <= edge[count])
      continue;
    largest = to - edge[count] > largest ? to - edge[count] : largest;
    lane[count] = at[u].lane;
    edge[++count] = to;
  }
  sizing->step[axis] = largest;
  sizing->stretches = (cm_stretches){.axis = axis, .count = count, .edge = edge, .lane = lane};
  return CM_OK;
}

/* ---- the common grid ---- */

int64_t cm_sizing_cells(const cm_sizing *sizing, uint32_t but)
{
  const cm_box *out = &sizing->whole;
  int64_t cells = 1;
  for (uint32_t i = 0; i < out->rank; i++)
    cells *= i == but || out->to[i] == 0 ? 1 : cm_divide_up(out->to[i], sizing->step[i]); /* an empty value is one */
  return cells;
}

cm_status cm_common_end(cm_sizing *sizing, const cm_plan_op *op, double *end_ns, cm_error *error)
{
  const cm_target *target = sizing->plan->target;
  double ns[CM_TARGET_DEVICES_MAX], end = 0;
  uint32_t pieces[CM_TARGET_DEVICES_MAX];
  cm_work work;
  CM_TRY(cm_sizing_work(sizing, &work, error));
  for (uint32_t d = 0; d < target->device_count; d++)
    ns[d] = op->rates[d] > 0 ? cm_compute_ns(target, &target->device[d], &work, op->rates[d]) : 0;
  cm_share_pieces(target, ns, (uint32_t)cm_sizing_cells(sizing, CM_NONE), pieces);
  for (uint32_t d = 0; d < target->device_count; d++)
    if (pieces[d] > 0)
      end = fmax(end, ceil((double)pieces[d] / target->device[d].units) * ns[d]);
  *end_ns = end;
  return CM_OK;
}
