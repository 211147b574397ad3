/* Room for a tile: a gap, or what is cheapest to give up. */
#include <math.h>
#include <string.h>

#include "core/machine/course/pager.h"
#include "base/heap.h"

enum { STRETCH = 256 };

cm_status cm_pager_record(cm_pager *pager, cm_event_kind kind, uint32_t number, uint64_t address, cm_error *error)
{
  if (!pager->record)
    return CM_OK;
  if (CM_ROOM(pager->plan->memory, pager->events, &pager->event_room, pager->event_count + 1, error) != CM_OK)
    return error->status;
  pager->events[pager->event_count++] = (cm_event){kind, number, address};
  return CM_OK;
}

cm_status cm_pager_store(cm_pager *pager, cm_resident *r, cm_error *error)
{
  r->dirty = false;
  pager->traffic.stored += cm_plan_bytes(pager->plan, pager->plan->tiles[r->tile].value,
                                         &pager->plan->tiles[r->tile].box);
  return cm_pager_record(pager, CM_EVENT_STORE, r->tile, r->address, error);
}

cm_status cm_pager_leave(cm_pager *pager, cm_resident *r, cm_error *error)
{
  return r->dirty && (r->must_home || r->next_use != CM_NEVER) ? cm_pager_store(pager, r, error) : CM_OK;
}

/* What giving a tile up costs: bytes to store and to load again, less the later they are needed. */
static double price(const cm_pager *pager, const cm_resident *r)
{
  uint64_t next = r->next_use;
  double bytes = (double)r->bytes * ((r->dirty && !r->must_home ? 1 : 0) + (next != CM_NEVER ? 1 : 0));
  return bytes / (double)(next > pager->now ? next - pager->now : 1);
}

/* A run of neighbours, by rank. */
typedef struct window {
  uint32_t first, count;
  double price; /* of all; below 0: there is none yet */
} window;

/* The cheapest window whose room, with the gaps around, holds `bytes`, among those of pager->view from `first` to before
 * `stop`, none of them pinned, which lie between two addresses; ranks count from the view's. */
static void cheapest_among(cm_pager *pager, uint32_t first, uint32_t stop, uint64_t from, uint64_t to, uint64_t bytes,
                           window *best)
{
  const cm_resident **view = pager->view;
  double sum = 0;
  for (uint32_t k = first; k < stop; k++)
    pager->prices[k] = price(pager, view[k]);
  for (uint32_t k = first; k < stop; k++) {
    uint64_t next = k + 1 < stop ? view[k + 1]->address : to;
    sum += pager->prices[k];
    for (; first <= k && next - from >= bytes; first++) {
      if (best->price < 0 || sum < best->price)
        *best = (window){first, k + 1 - first, sum};
      sum -= pager->prices[first];
      from = cm_resident_end(view[first]);
    }
  }
}

/* The same among `count` residents from rank `start` on, of which some are pinned: between those, where there is room. */
static bool cheapest_between(cm_pager *pager, uint32_t start, uint32_t count, uint64_t bytes, window *best)
{
  const cm_space *space = &pager->space;
  uint64_t from = cm_space_gap_from(space, cm_space_rank(space, start));
  uint32_t first = 0, pins = cm_space_view(space, start, count, pager->stamp, pager->view, pager->pinned);
  *best = (window){.price = -1};
  pager->pinned[pins] = count;
  for (uint32_t p = 0; p <= pins; p++) {
    uint32_t stop = pager->pinned[p];
    uint64_t to = stop < count ? pager->view[stop]->address : cm_space_gap_to(space, cm_space_rank(space, start + count));
    if (first < stop && to - from >= bytes)
      cheapest_among(pager, first, stop, from, to, bytes, best);
    from = stop < count ? cm_resident_end(pager->view[stop]) : 0;
    first = stop + 1;
  }
  best->first += start;
  return best->price >= 0;
}

/* Among very many small residents a stretch of them is looked at, another one each time. */
static cm_status find_window(cm_pager *pager, uint64_t bytes, window *found, cm_error *error)
{
  cm_memory *memory = pager->plan->memory;
  uint32_t all = pager->space.count;
  if (CM_ROOM(memory, pager->view, &pager->view_room, all, error) != CM_OK ||
      CM_ROOM(memory, pager->prices, &pager->price_room, all, error) != CM_OK ||
      CM_ROOM(memory, pager->pinned, &pager->pinned_room, (uint64_t)all + 1, error) != CM_OK)
    return error->status;
  if (all > STRETCH) {
    uint32_t start = pager->hand % all, stop = start + STRETCH < all ? start + STRETCH : all;
    pager->hand = stop < all ? stop - STRETCH / 8 : 0;
    if (cheapest_between(pager, start, stop - start, bytes, found))
      return CM_OK;
  }
  (void)cheapest_between(pager, 0, all, bytes, found);
  return CM_OK;
}

/* Gives up what lies in a window. */
static cm_status clear_window(cm_pager *pager, const window *w, cm_error *error)
{
  if (CM_ROOM(pager->plan->memory, pager->leaving, &pager->leaving_room, w->count, error) != CM_OK)
    return error->status;
  cm_place place = cm_space_rank(&pager->space, w->first);
  for (uint32_t k = 0; k < w->count; k++, place = cm_space_next(&pager->space, place)) {
    cm_resident *r = cm_space_at(&pager->space, place);
    pager->leaving[k] = r->tile;
    if (cm_pager_leave(pager, r, error) != CM_OK)
      return error->status;
  }
  for (uint32_t k = 0; k < w->count; k++)
    cm_space_drop(&pager->space, pager->leaving[k]);
  return CM_OK;
}

/* Everything that is not pinned, the cheapest to give up per byte on top; pager->leaving has the tiles by rank. */
static cm_status heap_residents(cm_pager *pager, cm_heap *heap, cm_error *error)
{
  cm_memory *memory = pager->plan->memory;
  uint32_t rank = 0;
  if (CM_ROOM(memory, pager->leaving, &pager->leaving_room, pager->space.count, error) != CM_OK ||
      CM_ROOM(memory, pager->heap_items, &pager->heap_room, pager->space.count, error) != CM_OK)
    return error->status;
  *heap = (cm_heap){.item = pager->heap_items};
  cm_place place = cm_space_rank(&pager->space, 0);
  for (cm_resident *r; (r = cm_space_at(&pager->space, place)) != NULL; place = cm_space_next(&pager->space, place)) {
    double rate = r->bytes > 0 ? price(pager, r) / (double)r->bytes : HUGE_VAL;
    cm_heap_item item = {.number = rank};
    memcpy(&item.key, &rate, sizeof item.key); /* no number below 0: ordered as their bits */
    pager->leaving[rank++] = r->tile;
    if (!cm_space_pinned(&pager->space, r, pager->stamp))
      cm_heap_push(heap, item);
  }
  return CM_OK;
}

static cm_status move(void *user, const cm_resident *resident, uint64_t address, cm_error *error)
{
  cm_pager *pager = user;
  pager->traffic.moved += resident->bytes;
  return cm_pager_record(pager, CM_EVENT_MOVE, resident->tile, address, error);
}

/* Moves everything to the low end, after giving up what is cheapest per byte until there is room at all. */
static cm_status compact(cm_pager *pager, uint64_t bytes, uint64_t *address, cm_error *error)
{
  uint64_t used = 0;
  cm_place place = cm_space_rank(&pager->space, 0);
  for (const cm_resident *r; (r = cm_space_at(&pager->space, place)) != NULL; place = cm_space_next(&pager->space, place))
    used += r->bytes;
  cm_heap heap = {0};
  if (heap_residents(pager, &heap, error) != CM_OK)
    return error->status;
  while (pager->plan->memory_bytes - used < bytes) {
    if (heap.count == 0)
      return cm_fail(error, CM_INTERNAL, "the buffers of one piece do not fit on the chip");
    cm_resident *victim = cm_space_find(&pager->space, pager->leaving[cm_heap_pop(&heap).number]);
    used -= victim->bytes;
    if (cm_pager_leave(pager, victim, error) != CM_OK)
      return error->status;
    cm_space_drop(&pager->space, victim->tile);
  }
  return cm_space_compact(&pager->space, move, pager, address, error);
}

cm_status cm_pager_place(cm_pager *pager, uint32_t tile, bool dirty, uint64_t next_use, uint64_t *address, cm_error *error)
{
  const cm_tile *t = &pager->plan->tiles[tile];
  if (!cm_space_best_gap(&pager->space, t->bytes, STRETCH / 4, address)) {
    window found;
    if (find_window(pager, t->bytes, &found, error) != CM_OK)
      return error->status;
    bool any = found.price >= 0;
    if (any)
      *address = cm_space_gap_from(&pager->space, cm_space_rank(&pager->space, found.first));
    if ((any ? clear_window(pager, &found, error) : compact(pager, t->bytes, address, error)) != CM_OK)
      return error->status;
  }
  const cm_resident made = {.address = *address, .bytes = t->bytes, .next_use = next_use, .tile = tile,
                            .dirty = dirty, .must_home = t->must_home};
  return cm_space_insert(&pager->space, &made, pager->stamp, error);
}
