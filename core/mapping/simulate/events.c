#include "core/mapping/simulate/events.h"

/* Children of a node of the heap: four lie in about two lines of the cache. */
enum { FAN = 4 };

static inline int comes_before(const cm_timed_event *a, const cm_timed_event *b)
{
  return a->ps != b->ps ? a->ps < b->ps : a->number < b->number;
}

cm_status cm_events_put(cm_events *e, uint64_t ps, cm_event_kind kind, uint32_t where, uint32_t packet, cm_error *error)
{
  if (CM_ROOM(e->memory, e->heap, &e->room, e->count + 1, error) != CM_OK)
    return error->status;
  cm_timed_event made = {ps, e->numbered++, where, packet, kind};
  uint64_t at = e->count++;
  while (at > 0 && comes_before(&made, &e->heap[(at - 1) / FAN])) {
    e->heap[at] = e->heap[(at - 1) / FAN];
    at = (at - 1) / FAN;
  }
  e->heap[at] = made;
  return CM_OK;
}

cm_timed_event cm_events_take(cm_events *e)
{
  cm_timed_event first = e->heap[0], last = e->heap[--e->count];
  uint64_t at = 0;
  for (uint64_t child = 1; child < e->count; child = FAN * at + 1) {
    uint64_t least = child, end = child + FAN < e->count ? child + FAN : e->count;
    for (uint64_t i = child + 1; i < end; i++)
      if (comes_before(&e->heap[i], &e->heap[least]))
        least = i;
    if (!comes_before(&e->heap[least], &last))
      break;
    e->heap[at] = e->heap[least];
    at = least;
  }
  e->heap[at] = last;
  return first;
}

void cm_events_free(cm_events *e)
{
  cm_free(e->heap);
  *e = (cm_events){0};
}
