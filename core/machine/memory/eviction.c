/* Room for a tile: a gap, or the residents that are cheapest to evict. */
#include <math.h>
#include <string.h>

#include "core/machine/memory/planner.h"
#include "base/heap.h"

enum { STRETCH = 256 };

cm_status cm_planner_record(cm_planner *planner, cm_event_kind kind, uint32_t number, uint64_t address, cm_error *error)
{
  if (!planner->record)
    return CM_OK;
  CM_TRY(CM_ROOM(planner->plan->memory, planner->events, &planner->event_room, planner->event_count + 1, error));
  planner->events[planner->event_count++] = (cm_event){kind, number, address};
  return CM_OK;
}

cm_status cm_planner_store(cm_planner *planner, cm_resident *r, cm_error *error)
{
  r->dirty = false;
  planner->traffic.stored += cm_plan_bytes(planner->plan, planner->plan->tiles[r->tile].value,
                                         &planner->plan->tiles[r->tile].box);
  return cm_planner_record(planner, CM_EVENT_STORE, r->tile, r->address, error);
}

cm_status cm_planner_leave(cm_planner *planner, cm_resident *r, cm_error *error)
{
  return r->dirty && (r->must_home || r->next_use != CM_NEVER) ? cm_planner_store(planner, r, error) : CM_OK;
}

/* What giving a tile up costs: bytes to store and to load again, less the later they are needed. */
static double price(const cm_planner *planner, const cm_resident *r)
{
  uint64_t next = r->next_use;
  double bytes = (double)r->bytes * ((r->dirty && !r->must_home ? 1 : 0) + (next != CM_NEVER ? 1 : 0));
  return bytes / (double)(next > planner->now ? next - planner->now : 1);
}

/* A run of neighbours, by rank. */
typedef struct window {
  uint32_t first, count;
  double price; /* of all; below 0: there is none yet */
} window;

/* The cheapest window whose room, with the gaps around, holds `bytes`, among those of planner->view from `first` to before
 * `stop`, none of them pinned, which lie between two addresses; ranks count from the view's. */
static void cheapest_among(cm_planner *planner, uint32_t first, uint32_t stop, uint64_t from, uint64_t to, uint64_t bytes,
                           window *best)
{
  const cm_resident **view = planner->view;
  double sum = 0;
  for (uint32_t k = first; k < stop; k++)
    planner->prices[k] = price(planner, view[k]);
  for (uint32_t k = first; k < stop; k++) {
    uint64_t next = k + 1 < stop ? view[k + 1]->address : to;
    sum += planner->prices[k];
    for (; first <= k && next - from >= bytes; first++) {
      if (best->price < 0 || sum < best->price)
        *best = (window){first, k + 1 - first, sum};
      sum -= planner->prices[first];
      from = cm_resident_end(view[first]);
    }
  }
}

/* The same among `count` residents from rank `start` on, of which some are pinned: between those, where there is room. */
static bool cheapest_between(cm_planner *planner, uint32_t start, uint32_t count, uint64_t bytes, window *best)
{
  const cm_space *space = &planner->space;
  uint64_t from = cm_space_gap_from(space, cm_space_rank(space, start));
  uint32_t first = 0, pins = cm_space_view(space, start, count, planner->stamp, planner->view, planner->pinned);
  *best = (window){.price = -1};
  planner->pinned[pins] = count;
  for (uint32_t p = 0; p <= pins; p++) {
    uint32_t stop = planner->pinned[p];
    uint64_t to = stop < count ? planner->view[stop]->address : cm_space_gap_to(space, cm_space_rank(space, start + count));
    if (first < stop && to - from >= bytes)
      cheapest_among(planner, first, stop, from, to, bytes, best);
    from = stop < count ? cm_resident_end(planner->view[stop]) : 0;
    first = stop + 1;
  }
  best->first += start;
  return best->price >= 0;
}

/* Among very many small residents a stretch of them is looked at, another one each time. */
static cm_status find_window(cm_planner *planner, uint64_t bytes, window *found, cm_error *error)
{
  cm_memory *memory = planner->plan->memory;
  uint32_t all = planner->space.count;
  CM_TRY(CM_ROOM(memory, planner->view, &planner->view_capacity, all, error));
  CM_TRY(CM_ROOM(memory, planner->prices, &planner->price_capacity, all, error));
  CM_TRY(CM_ROOM(memory, planner->pinned, &planner->pinned_capacity, (uint64_t)all + 1, error));
  if (all > STRETCH) {
    uint32_t start = planner->hand % all, stop = start + STRETCH < all ? start + STRETCH : all;
    planner->hand = stop < all ? stop - STRETCH / 8 : 0;
    if (cheapest_between(planner, start, stop - start, bytes, found))
      return CM_OK;
  }
  (void)cheapest_between(planner, 0, all, bytes, found);
  return CM_OK;
}

/* Gives up what lies in a window. */
static cm_status clear_window(cm_planner *planner, const window *w, cm_error *error)
{
  CM_TRY(CM_ROOM(planner->plan->memory, planner->leaving, &planner->leaving_capacity, w->count, error));
  cm_place place = cm_space_rank(&planner->space, w->first);
  for (uint32_t k = 0; k < w->count; k++, place = cm_space_next(&planner->space, place)) {
    cm_resident *r = cm_space_at(&planner->space, place);
    planner->leaving[k] = r->tile;
    CM_TRY(cm_planner_leave(planner, r, error));
  }
  for (uint32_t k = 0; k < w->count; k++)
    cm_space_drop(&planner->space, planner->leaving[k]);
  return CM_OK;
}

/* Everything that is not pinned, the cheapest to give up per byte on top; planner->leaving has the tiles by rank. */
static cm_status heap_residents(cm_planner *planner, cm_heap *heap, cm_error *error)
{
  cm_memory *memory = planner->plan->memory;
  uint32_t rank = 0;
  CM_TRY(CM_ROOM(memory, planner->leaving, &planner->leaving_capacity, planner->space.count, error));
  CM_TRY(CM_ROOM(memory, planner->heap_items, &planner->heap_room, planner->space.count, error));
  *heap = (cm_heap){.item = planner->heap_items};
  cm_place place = cm_space_rank(&planner->space, 0);
  for (cm_resident *r; (r = cm_space_at(&planner->space, place)) != NULL; place = cm_space_next(&planner->space, place)) {
    double rate = r->bytes > 0 ? price(planner, r) / (double)r->bytes : HUGE_VAL;
    cm_heap_item item = {.number = rank};
    memcpy(&item.key, &rate, sizeof item.key); /* no number below 0: ordered as their bits */
    planner->leaving[rank++] = r->tile;
    if (!cm_space_pinned(&planner->space, r, planner->stamp))
      cm_heap_push(heap, item);
  }
  return CM_OK;
}

static cm_status move(void *user, const cm_resident *resident, uint64_t address, cm_error *error)
{
  cm_planner *planner = user;
  planner->traffic.moved += resident->bytes;
  return planner->plan->tiles[resident->tile].host ? CM_OK : cm_planner_record(planner, CM_EVENT_MOVE, resident->tile, address, error);
}

/* Moves everything to the low end, after giving up what is cheapest per byte until there is room at all. */
static cm_status compact(cm_planner *planner, uint64_t bytes, uint64_t *address, cm_error *error)
{
  uint64_t used = 0;
  cm_place place = cm_space_rank(&planner->space, 0);
  for (const cm_resident *r; (r = cm_space_at(&planner->space, place)) != NULL; place = cm_space_next(&planner->space, place))
    used += r->bytes;
  cm_heap heap = {0};
  CM_TRY(heap_residents(planner, &heap, error));
  while (planner->plan->memory_bytes - used < bytes) {
    if (heap.count == 0)
      return cm_fail(error, CM_INTERNAL, "the buffers of one piece do not fit on the chip");
    cm_resident *victim = cm_space_find(&planner->space, planner->leaving[cm_heap_pop(&heap).number]);
    used -= victim->bytes;
    CM_TRY(cm_planner_leave(planner, victim, error));
    cm_space_drop(&planner->space, victim->tile);
  }
  return cm_space_compact(&planner->space, move, planner, address, error);
}

cm_status cm_planner_place(cm_planner *planner, uint32_t tile, bool dirty, uint64_t next_use, uint64_t *address, cm_error *error)
{
  const cm_tile *t = &planner->plan->tiles[tile];
  if (!cm_space_best_gap(&planner->space, t->bytes, STRETCH / 4, address)) {
    window found;
    CM_TRY(find_window(planner, t->bytes, &found, error));
    bool any = found.price >= 0;
    if (any)
      *address = cm_space_gap_from(&planner->space, cm_space_rank(&planner->space, found.first));
    if ((any ? clear_window(planner, &found, error) : compact(planner, t->bytes, address, error)) != CM_OK)
      return error->status;
  }
  const cm_resident made = {.address = *address, .bytes = t->bytes, .next_use = next_use, .tile = tile,
                            .dirty = dirty, .must_home = t->must_home};
  return cm_space_insert(&planner->space, &made, planner->stamp, error);
}
