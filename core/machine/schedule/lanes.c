#include "core/machine/schedule/lanes.h"

#include <string.h>

cm_status cm_lanes_begin(cm_lanes *lanes, const cm_target *target, cm_memory *memory, cm_error *error)
{
  uint32_t all = 0;
  for (int k = 0; k < CM_UNIT_KINDS; k++) {
    lanes->first[k] = all;
    lanes->count[k] = cm_target_lanes(target, (cm_unit_kind)k);
    all += lanes->count[k];
  }
  return CM_NEW(memory, lanes->lane, all + 1, error);
}

/* Where a lane can first begin; *idle is since when it is idle there. */
static double first_start(const cm_lane_time *l, double ready, double ns, double *idle)
{
  for (uint32_t g = 0; g < l->gap_count; g++) {
    double start = l->gap_from[g] > ready ? l->gap_from[g] : ready;
    if (start + ns <= l->gap_to[g]) {
      *idle = l->gap_from[g];
      return start;
    }
  }
  *idle = l->tail;
  return l->tail > ready ? l->tail : ready;
}

double cm_lanes_earliest(const cm_lanes *lanes, cm_unit_kind kind, double ready, double ns, uint32_t *lane)
{
  double best = 0, best_idle = 0;
  uint32_t first = lanes->first[kind];
  *lane = first;
  for (uint32_t l = first; l < first + lanes->count[kind]; l++) {
    double idle, start = first_start(&lanes->lane[l], ready, ns, &idle);
    if (l == first || start < best || (start <= best && idle > best_idle)) {
      best = start;
      best_idle = idle;
      *lane = l;
    }
  }
  return best;
}

static void remove_gap(cm_lane_time *l, uint32_t g)
{
  l->gap_count--;
  memmove(l->gap_from + g, l->gap_from + g + 1, (l->gap_count - g) * sizeof *l->gap_from);
  memmove(l->gap_to + g, l->gap_to + g + 1, (l->gap_count - g) * sizeof *l->gap_to);
}

static void insert_gap(cm_lane_time *l, uint32_t g, double from, double to)
{
  if (l->gap_count == CM_LANE_GAPS) { /* the oldest goes */
    remove_gap(l, 0);
    g = g > 0 ? g - 1 : 0;
  }
  memmove(l->gap_from + g + 1, l->gap_from + g, (l->gap_count - g) * sizeof *l->gap_from);
  memmove(l->gap_to + g + 1, l->gap_to + g, (l->gap_count - g) * sizeof *l->gap_to);
  l->gap_from[g] = from;
  l->gap_to[g] = to;
  l->gap_count++;
}

void cm_lanes_take(cm_lanes *lanes, uint32_t number, double start, double ns)
{
  cm_lane_time *l = &lanes->lane[number];
  l->busy += ns;
  if (start >= l->tail) {
    if (start > l->tail)
      insert_gap(l, l->gap_count, l->tail, start);
    l->tail = start + ns;
    return;
  }
  for (uint32_t g = 0; g < l->gap_count; g++) {
    double from = l->gap_from[g], to = l->gap_to[g];
    if (start < from || start + ns > to)
      continue;
    l->gap_to[g] = start;
    if (start <= from)
      remove_gap(l, g--);
    if (start + ns < to)
      insert_gap(l, g + 1, start + ns, to);
    return;
  }
}
