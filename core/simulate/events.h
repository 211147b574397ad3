/* Events in the order of their times, those of equal times in the order in which they were put in.
 *
 * What comes a fixed time after it is put in stands in a lane, a plain queue for each such time: most events are packets on
 * links, and links are alike. The rest is in a calendar queue (Brown, CACM 31(10), 1988): a wheel of buckets, each the
 * events of a short while in their order, for what comes soon; a heap for what lies beyond the wheel. How long a bucket
 * lasts follows from what is put in, and changes nothing in the order. */
#pragma once

#include "base/memory.h"

typedef enum cm_event_kind { CM_EVENT_ARRIVE, CM_EVENT_FREE, CM_EVENT_INJECT, CM_EVENT_DONE, CM_EVENT_OUTLET } cm_event_kind;

typedef struct cm_timed_event {
  uint64_t ps;     /* time */
  uint64_t number; /* of its being put in */
  uint32_t where;  /* channel or core */
  uint32_t packet; /* CM_EVENT_ARRIVE: which */
  cm_event_kind kind;
  uint32_t next;   /* behind it in its bucket */
} cm_timed_event;

enum { CM_EVENT_BUCKETS = 2048, CM_EVENT_WORDS = CM_EVENT_BUCKETS / 64, CM_EVENT_LANES = 6 };

/* What comes first of a lane, or of the calendar. */
typedef struct cm_event_key {
  uint64_t ps, number; /* CM_EVENT_NEVER: nothing */
} cm_event_key;
#define CM_EVENT_NEVER UINT64_MAX

/* A row of events that come `delay_ps` after they are put in, all of kind CM_EVENT_ARRIVE. */
typedef struct cm_event_lane {
  uint64_t delay_ps;
  cm_timed_event *row; /* a ring */
  uint64_t room;       /* of it: a power of two */
  uint64_t first, end; /* numbers of its events, from 0 on */
} cm_event_lane;

typedef struct cm_event_bucket {
  uint32_t head, tail; /* events of the wheel */
} cm_event_bucket;

typedef struct cm_events {
  cm_memory *memory;
  cm_event_key next[CM_EVENT_LANES + 1]; /* of every lane; then of the calendar */
  cm_event_lane lane[CM_EVENT_LANES];
  uint32_t lanes;
  uint64_t count, numbered;
  cm_event_bucket *bucket;         /* [CM_EVENT_BUCKETS] */
  uint64_t filled[CM_EVENT_WORDS]; /* a bit a bucket */
  unsigned shift;                  /* a bucket lasts 2^shift ps */
  uint64_t base;                   /* number of the bucket of what was taken from it last, from time 0 on */
  uint32_t next_at;                /* the bucket of what comes first of the calendar; CM_EVENT_BUCKETS: it is in the heap */
  cm_timed_event *event;           /* of the wheel */
  uint64_t event_room;
  uint32_t event_count, event_free;
  cm_timed_event *heap;            /* beyond it */
  uint64_t heap_count, heap_room;
  uint32_t put, walked, far;       /* since the last look at how long buckets last: events put, passed in a bucket, put into the heap */
} cm_events;

/* None yet. Errors: memory. */
cm_status cm_events_new(cm_memory *memory, cm_events *events, cm_error *error);
void cm_events_free(cm_events *events); /* harmless on a zeroed one */

/* At a time not before that of what was taken last. O(1) on average, beyond the wheel O(log events). Errors: memory. */
cm_status cm_events_put(cm_events *events, uint64_t ps, cm_event_kind kind, uint32_t where, uint32_t packet,
                        cm_error *error);

/* The lane of what comes so long after it is put in; CM_EVENT_LANES when there are as many already. */
uint32_t cm_events_lane(cm_events *events, uint64_t delay_ps);

/* Room for more in a lane; and the first event of the calendar, which has one: for what follows. */
cm_status cm_events_lengthen(cm_events *events, uint32_t lane, cm_error *error);
void cm_events_take_of_calendar(cm_events *events, cm_timed_event *taken);

/* CM_EVENT_ARRIVE through a lane, which is one, at `now` and its delay. O(1). Errors: memory. */
static inline cm_status cm_events_put_behind(cm_events *e, uint32_t lane, uint64_t now, uint32_t where, uint32_t packet,
                                             cm_error *error)
{
  cm_event_lane *l = &e->lane[lane];
  if (l->end - l->first == l->room && cm_events_lengthen(e, lane, error) != CM_OK)
    return error->status;
  cm_timed_event *made = &l->row[l->end & (l->room - 1)];
  made->ps = now + l->delay_ps;
  made->number = e->numbered++;
  made->where = where;
  made->packet = packet;
  if (l->first == l->end)
    e->next[lane] = (cm_event_key){made->ps, made->number};
  l->end++;
  e->count++;
  return CM_OK;
}

static inline void cm_events_take_of_lane(cm_events *e, uint32_t lane, cm_timed_event *taken)
{
  cm_event_lane *l = &e->lane[lane];
  const cm_timed_event *first = &l->row[l->first++ & (l->room - 1)];
  taken->ps = first->ps;
  taken->where = first->where;
  taken->packet = first->packet;
  taken->kind = CM_EVENT_ARRIVE;
  const cm_timed_event *second = &l->row[l->first & (l->room - 1)];
  bool more = l->first < l->end;
  e->next[lane].ps = more ? second->ps : CM_EVENT_NEVER;
  e->next[lane].number = more ? second->number : CM_EVENT_NEVER;
}

/* Takes the first one; there must be one. As long as it took to put it in. */
static inline void cm_events_take(cm_events *e, cm_timed_event *taken)
{
  uint32_t from = CM_EVENT_LANES;
  uint64_t ps = e->next[from].ps, number = e->next[from].number;
  for (uint32_t i = 0; i < e->lanes; i++) { /* without jumps: nobody could guess them */
    const cm_event_key *k = &e->next[i];
    bool before = (k->ps < ps) | ((k->ps == ps) & (k->number < number));
    from = before ? i : from;
    ps = before ? k->ps : ps;
    number = before ? k->number : number;
  }
  e->count--;
  if (from < CM_EVENT_LANES)
    cm_events_take_of_lane(e, from, taken);
  else
    cm_events_take_of_calendar(e, taken);
}
