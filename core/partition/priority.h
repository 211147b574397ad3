/* A priority queue of vertices by an integer key that may change: a binary heap that knows where each vertex stands. */
#ifndef CM_PARTITION_PRIORITY_H
#define CM_PARTITION_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/memory.h"

#define CM_PRIORITY_ABSENT UINT32_MAX

typedef struct cm_priority_item {
  int64_t key;
  uint32_t vertex;
} cm_priority_item;

typedef struct cm_priority {
  cm_priority_item *item; /* [room] the largest key first */
  uint32_t count, room;
  uint32_t *place; /* [vertices] of a vertex in `item`, CM_PRIORITY_ABSENT outside; borrowed, may be shared by queues of
                      disjoint vertices */
} cm_priority;

/* Puts a vertex that is not in it. O(log count); CM_NO_MEMORY or CM_MEMORY_LIMIT when it cannot grow. */
cm_status cm_priority_push(cm_priority *queue, uint32_t vertex, int64_t key, cm_memory *memory, cm_error *error);

/* Gives a vertex in it another key. O(log count). */
void cm_priority_change(cm_priority *queue, uint32_t vertex, int64_t key);

/* Takes a vertex in it out. O(log count). */
void cm_priority_remove(cm_priority *queue, uint32_t vertex);

/* Takes all out. O(count). */
void cm_priority_clear(cm_priority *queue);

/* Frees the items; `place` is the caller's. */
void cm_priority_free(cm_priority *queue);

#endif
