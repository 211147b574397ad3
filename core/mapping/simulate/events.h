/* Events in the order of their times, those of equal times in the order in which they were put in. */
#ifndef CM_MAPPING_SIMULATE_EVENTS_H
#define CM_MAPPING_SIMULATE_EVENTS_H

#include "core/base/memory.h"

typedef enum cm_event_kind { CM_EVENT_ARRIVE, CM_EVENT_FREE, CM_EVENT_INJECT, CM_EVENT_DONE, CM_EVENT_OUTLET } cm_event_kind;

typedef struct cm_timed_event {
  uint64_t ps;     /* time */
  uint64_t number; /* of its being put in */
  uint32_t where;  /* channel or core */
  uint32_t packet; /* CM_EVENT_ARRIVE: which */
  cm_event_kind kind;
} cm_timed_event;

typedef struct cm_events {
  cm_memory *memory;
  cm_timed_event *heap;
  uint64_t count, room, numbered;
} cm_events;

/* O(log events). Errors: memory. */
cm_status cm_events_put(cm_events *events, uint64_t ps, cm_event_kind kind, uint32_t where, uint32_t packet,
                        cm_error *error);

/* Takes the first one; there must be one. O(log events). */
cm_timed_event cm_events_take(cm_events *events);

void cm_events_free(cm_events *events); /* harmless on a zeroed one */

#endif
