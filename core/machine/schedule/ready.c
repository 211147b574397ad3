#include "core/machine/schedule/ready.h"

#include <math.h>
#include <string.h>

cm_status cm_ready_begin(cm_ready *r, const cm_target *target, uint32_t most, cm_memory *memory, cm_error *error)
{
  uint32_t devices = target->device_count;
  *r = (cm_ready){.target = target, .most = most};
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(r->now, devices + 1), CM_ARRAY(r->later, devices + 1),
                    CM_ARRAY(r->items, 2 * (size_t)devices * most + 1), CM_ARRAY(r->piece, most + 1)));
  for (uint32_t d = 0; d < devices; d++) {
    r->now[d].item = r->items + 2 * (size_t)d * most;
    r->later[d].item = r->now[d].item + most;
  }
  return CM_OK;
}

void cm_ready_end(cm_ready *r)
{
  CM_FREE(r->now, r->later, r->items, r->piece);
  *r = (cm_ready){0};
}

void cm_ready_copy(const cm_ready *from, cm_ready *to)
{
  for (uint32_t d = 0; d < from->target->device_count; d++) {
    const cm_heap *pair[2] = {&from->now[d], &from->later[d]};
    cm_heap *into[2] = {&to->now[d], &to->later[d]};
    for (int k = 0; k < 2; k++) {
      memcpy(into[k]->item, pair[k]->item, pair[k]->count * sizeof *pair[k]->item);
      into[k]->count = pair[k]->count;
    }
  }
  memcpy(to->piece, from->piece, from->most * sizeof *to->piece);
}

/* Times are not negative, so that their bits stand in their order. */
static uint64_t key_of(double ns)
{
  uint64_t key;
  ns += 0.0; /* no negative zero */
  memcpy(&key, &ns, sizeof key);
  return key;
}

void cm_ready_add(cm_ready *r, const cm_ready_piece *piece)
{
  r->piece[piece->number] = *piece;
  cm_heap_push(&r->later[piece->device], (cm_heap_item){key_of(piece->ready), piece->number});
}

static double first_idle(const cm_lanes *lanes, const cm_device *device)
{
  double idle = HUGE_VAL;
  for (uint32_t l = device->first_lane; l < device->first_lane + device->units * device->ports; l++)
    idle = fmin(idle, lanes->lane[l].tail);
  return idle;
}

/* What is ready by then on a device may go by its place. */
static void advance(cm_ready *r, uint32_t d, double by)
{
  cm_heap *later = &r->later[d];
  while (later->count > 0 && r->piece[later->item[0].number].ready <= by) {
    uint32_t number = cm_heap_pop(later).number;
    cm_heap_push(&r->now[d], (cm_heap_item){r->piece[number].place, number});
  }
}

cm_ready_piece cm_ready_take(cm_ready *r, const cm_lanes *lanes)
{
  uint32_t best = UINT32_MAX, best_place = 0;
  double best_start = HUGE_VAL;
  for (uint32_t d = 0; d < r->target->device_count; d++) {
    if (r->now[d].count + r->later[d].count == 0)
      continue;
    double start = first_idle(lanes, &r->target->device[d]);
    advance(r, d, start);
    if (r->now[d].count == 0) {
      start = r->piece[r->later[d].item[0].number].ready;
      advance(r, d, start);
    }
    uint32_t place = r->piece[r->now[d].item[0].number].place;
    if (best == UINT32_MAX || start < best_start || (start <= best_start && place < best_place)) {
      best = d;
      best_start = start;
      best_place = place;
    }
  }
  return r->piece[cm_heap_pop(&r->now[best]).number];
}
