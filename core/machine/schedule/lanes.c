#include "core/machine/schedule/lanes.h"

#include <math.h>
#include <string.h>

cm_status cm_lanes_begin(cm_lanes *lanes, const cm_target *target, const cm_hop_times *hops, cm_memory *memory, cm_error *error)
{
  lanes->hops = hops;
  lanes->target = target;
  lanes->issue = cm_issue_start(target);
  return CM_NEW(memory, lanes->lane, target->lane_count + 1, error);
}

static cm_idle tails(const cm_lanes *lanes)
{
  return (cm_idle){&lanes->lane->tail, sizeof *lanes->lane / sizeof lanes->lane->tail};
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

/* The same of all lanes of a device. */
static cm_slot find_on(const cm_lanes *lanes, const cm_device *device, double ready, cm_at_stations at, double least)
{
  uint32_t first = device->first_lane;
  cm_slot best = {.lane = first, .ns = least};
  double best_idle = 0;
  for (uint32_t l = first; l < first + device->units * device->ports; l++) {
    const uint32_t station = lanes->hops->station[l];
    double idle, there = at.arrive != NULL ? fmax(ready, at.arrive[station]) : ready,
                 ns = at.more != NULL ? least + at.more[station] : least, start = first_start(&lanes->lane[l], there, ns, &idle);
    const double key = at.more != NULL ? start + ns : start, least_key = at.more != NULL ? best.start + best.ns : best.start;
    if (l == first || key < least_key || (key <= least_key && idle > best_idle)) {
      best = (cm_slot){.lane = l, .start = start, .ns = ns};
      best_idle = idle;
    }
  }
  return best;
}

cm_slot cm_lanes_find(const cm_lanes *lanes, const double *ns, double ready, cm_at_stations at)
{
  cm_slot best = {.lane = UINT32_MAX};
  if (lanes->target->window > 0) {
    const cm_issue_read read = cm_issue_next(&lanes->issue, tails(lanes));
    ready = fmax(ready, read.from + read.ns);
  }
  for (uint32_t d = 0; d < lanes->target->device_count; d++) {
    if (ns[d] <= 0)
      continue;
    cm_slot slot = find_on(lanes, &lanes->target->device[d], ready, at, ns[d]);
    if (best.lane == UINT32_MAX || slot.start + slot.ns < best.start + best.ns)
      best = slot;
  }
  return best;
}

void cm_lanes_bar(cm_lanes *lanes, double until)
{
  for (uint32_t l = 0; l < lanes->target->lane_count; l++) {
    lanes->lane[l].tail = fmax(lanes->lane[l].tail, until);
    lanes->lane[l].gap_count = 0;
  }
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

void cm_lanes_take(cm_lanes *lanes, const cm_slot *slot)
{
  cm_lane_time *l = &lanes->lane[slot->lane];
  double start = slot->start, ns = slot->ns;
  l->busy += ns;
  if (lanes->target->window > 0) {
    const cm_issue_read read = cm_issue_next(&lanes->issue, tails(lanes));
    cm_issue_begin(&lanes->issue, &read, start, tails(lanes));
    l->tail = start + ns;
    return;
  }
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
