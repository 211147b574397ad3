#include "core/simulate/events.h"

#include "base/heap.h"

/* Children of a node of the heap: four lie in about two lines of the cache. A first guess at how long a bucket lasts. */
enum { FAN = 4, SHIFT_FIRST = 8, SHIFT_MOST = 40, LOOK_EVERY = 1 << 13, LANE_FIRST = 64, NONE = -1 };

static inline int comes_before(const cm_timed_event *a, const cm_timed_event *b)
{
  return a->ps != b->ps ? a->ps < b->ps : a->number < b->number;
}

/* ---- the heap ---- */

#define FAR(events, place) ((events)->heap[place])
#define SET_FAR(events, place, event) ((events)->heap[place] = (event))
#define COMES_BEFORE(events, a, b) comes_before(&(a), &(b))
CM_HEAP_DEFINE(far, cm_events, cm_timed_event, FAN, FAR, SET_FAR, COMES_BEFORE)

static cm_status put_far(cm_events *e, const cm_timed_event *made, cm_error *error)
{
  CM_TRY(CM_ROOM(e->memory, e->heap, &e->heap_room, e->heap_count + 1, error));
  far_rise(e, e->heap_count++, *made);
  return CM_OK;
}

static cm_timed_event take_far(cm_events *e)
{
  cm_timed_event first = e->heap[0];
  if (--e->heap_count > 0)
    far_sink(e, e->heap_count, 0, e->heap[e->heap_count]);
  return first;
}

/* ---- the wheel ---- */

/* Event `i` of the wheel goes into its bucket, mostly to the end. */
static void put_near(cm_events *e, uint32_t i)
{
  cm_timed_event *made = &e->event[i];
  uint32_t at = (uint32_t)(made->ps >> e->shift) % CM_EVENT_BUCKETS;
  cm_event_bucket *b = &e->bucket[at];
  uint64_t bit = UINT64_C(1) << at % 64;
  if (!(e->filled[at / 64] & bit)) {
    e->filled[at / 64] |= bit;
    b->head = b->tail = i;
    made->next = (uint32_t)NONE;
  } else if (!comes_before(made, &e->event[b->tail])) {
    e->event[b->tail].next = i;
    b->tail = i;
    made->next = (uint32_t)NONE;
  } else {
    uint32_t *link = &b->head;
    while (!comes_before(made, &e->event[*link])) {
      link = &e->event[*link].next;
      e->walked++;
    }
    made->next = *link;
    *link = i;
  }
}

/* The first bucket that is filled, from that of what was taken last on; CM_EVENT_BUCKETS: none. */
static uint32_t first_filled(const cm_events *e)
{
  uint32_t from = (uint32_t)e->base % CM_EVENT_BUCKETS, word = from / 64;
  uint64_t bits = e->filled[word] & ~UINT64_C(0) << from % 64;
  for (uint32_t i = 0; i <= CM_EVENT_WORDS; i++) {
    if (bits != 0)
      return word * 64 + (uint32_t)__builtin_ctzll(bits);
    word = (word + 1) % CM_EVENT_WORDS;
    bits = e->filled[word];
  }
  return CM_EVENT_BUCKETS;
}

static void drop_first(cm_events *e, uint32_t at)
{
  cm_event_bucket *b = &e->bucket[at];
  uint32_t i = b->head;
  if (i == b->tail)
    e->filled[at / 64] &= ~(UINT64_C(1) << at % 64);
  b->head = e->event[i].next;
  e->event[i].next = e->event_free;
  e->event_free = i;
}

/* What comes first of wheel and heap. */
static void find_next(cm_events *e)
{
  cm_event_key *next = &e->next[CM_EVENT_LANES];
  uint32_t at = first_filled(e);
  const cm_timed_event *near = at < CM_EVENT_BUCKETS ? &e->event[e->bucket[at].head] : NULL,
                       *far = e->heap_count > 0 ? &e->heap[0] : NULL, *first = near;
  if (near == NULL || (far != NULL && comes_before(far, near))) {
    first = far;
    at = CM_EVENT_BUCKETS;
  }
  next->ps = first != NULL ? first->ps : CM_EVENT_NEVER;
  next->number = first != NULL ? first->number : CM_EVENT_NEVER;
  e->next_at = at;
}

/* Buckets of another length: what does not fit the wheel any more goes into the heap. */
static cm_status change_shift(cm_events *e, unsigned shift, cm_error *error)
{
  uint64_t now = e->base << e->shift;
  uint32_t list = (uint32_t)NONE, *end = &list, at;
  while ((at = first_filled(e)) < CM_EVENT_BUCKETS) {
    *end = e->bucket[at].head;
    end = &e->event[e->bucket[at].tail].next;
    e->filled[at / 64] &= ~(UINT64_C(1) << at % 64);
  }
  *end = (uint32_t)NONE;
  e->shift = shift;
  e->base = now >> shift;
  cm_status status = CM_OK;
  for (uint32_t i = list, next; i != (uint32_t)NONE && status == CM_OK; i = next) {
    next = e->event[i].next;
    if ((e->event[i].ps >> shift) - e->base < CM_EVENT_BUCKETS)
      put_near(e, i);
    else {
      status = put_far(e, &e->event[i], error);
      e->event[i].next = e->event_free;
      e->event_free = i;
    }
  }
  return status;
}

/* Shorter buckets where many events are passed in them, longer ones where many lie beyond the wheel. */
static cm_status look_at_shift(cm_events *e, cm_error *error)
{
  unsigned shift = e->shift;
  if (e->walked > LOOK_EVERY / 2 && shift > 0)
    shift--;
  else if (e->far > LOOK_EVERY / 8 && e->walked < LOOK_EVERY / 8 && shift < SHIFT_MOST)
    shift++;
  cm_status status = shift != e->shift ? change_shift(e, shift, error) : CM_OK;
  e->put = e->walked = e->far = 0;
  find_next(e);
  return status;
}

/* ---- the calendar ---- */

cm_status cm_events_put(cm_events *e, uint64_t ps, cm_event_kind kind, uint32_t where, uint32_t packet, cm_error *error)
{
  if (++e->put == LOOK_EVERY && look_at_shift(e, error) != CM_OK)
    return error->status;
  bool near = (ps >> e->shift) - e->base < CM_EVENT_BUCKETS;
  if (near) {
    uint32_t i = e->event_free;
    if (i != (uint32_t)NONE)
      e->event_free = e->event[i].next;
    else {
      CM_TRY(CM_ROOM(e->memory, e->event, &e->event_room, (uint64_t)e->event_count + 1, error));
      i = e->event_count++;
    }
    cm_timed_event *made = &e->event[i]; /* field by field: a copy at once would wait for these */
    made->ps = ps;
    made->number = e->numbered;
    made->where = where;
    made->packet = packet;
    made->kind = kind;
    put_near(e, i);
  } else {
    const cm_timed_event made = {ps, e->numbered, where, packet, kind, (uint32_t)NONE};
    CM_TRY(put_far(e, &made, error));
    e->far++;
  }
  if (ps < e->next[CM_EVENT_LANES].ps) { /* of equal times the one that is there came first */
    e->next[CM_EVENT_LANES] = (cm_event_key){ps, e->numbered};
    e->next_at = near ? (uint32_t)(ps >> e->shift) % CM_EVENT_BUCKETS : CM_EVENT_BUCKETS;
  }
  e->numbered++;
  e->count++;
  return CM_OK;
}

void cm_events_take_of_calendar(cm_events *e, cm_timed_event *taken)
{
  if (e->next_at == CM_EVENT_BUCKETS)
    *taken = take_far(e);
  else {
    *taken = e->event[e->bucket[e->next_at].head];
    drop_first(e, e->next_at);
  }
  e->base = taken->ps >> e->shift;
  find_next(e);
}

/* ---- lanes ---- */

uint32_t cm_events_lane(cm_events *e, uint64_t delay_ps)
{
  uint32_t i = 0;
  while (i < e->lanes && e->lane[i].delay_ps != delay_ps)
    i++;
  if (i < e->lanes || i == CM_EVENT_LANES)
    return i;
  e->lane[i] = (cm_event_lane){.delay_ps = delay_ps};
  return e->lanes++;
}

cm_status cm_events_lengthen(cm_events *e, uint32_t lane, cm_error *error)
{
  cm_event_lane *l = &e->lane[lane];
  cm_timed_event *longer;
  uint64_t room = l->room > 0 ? 2 * l->room : LANE_FIRST;
  CM_TRY(CM_NEW(e->memory, longer, room, error));
  for (uint64_t i = l->first; i < l->end; i++)
    longer[i & (room - 1)] = l->row[i & (l->room - 1)];
  cm_free(l->row);
  l->row = longer;
  l->room = room;
  return CM_OK;
}

cm_status cm_events_new(cm_memory *memory, cm_events *events, cm_error *error)
{
  cm_events e = {.memory = memory, .shift = SHIFT_FIRST, .event_free = (uint32_t)NONE};
  for (uint32_t i = 0; i <= CM_EVENT_LANES; i++)
    e.next[i] = (cm_event_key){CM_EVENT_NEVER, CM_EVENT_NEVER};
  CM_TRY(CM_NEW(memory, e.bucket, CM_EVENT_BUCKETS, error));
  *events = e;
  return CM_OK;
}

void cm_events_free(cm_events *e)
{
  for (uint32_t i = 0; i < e->lanes; i++)
    cm_free(e->lane[i].row);
  CM_FREE(e->bucket, e->event, e->heap);
  *e = (cm_events){0};
}
