/* A priority queue of vertices by an integer key that may change: a binary heap that knows where each vertex stands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

#define CM_INDEXED_HEAP_ABSENT UINT32_MAX

typedef struct cm_indexed_heap_item {
  int64_t key;
  uint32_t vertex;
} cm_indexed_heap_item;

typedef struct cm_indexed_heap {
  cm_indexed_heap_item *item; /* [room] the largest key first */
  uint32_t count, room;
  uint32_t *place; /* [vertices] of a vertex in `item`, CM_INDEXED_HEAP_ABSENT outside; borrowed, may be shared by queues of
                      disjoint vertices */
} cm_indexed_heap;

/* Puts a vertex that is not in it. O(log count); CM_NO_MEMORY or CM_MEMORY_LIMIT when it cannot grow. */
cm_status cm_indexed_heap_push(cm_indexed_heap *queue, uint32_t vertex, int64_t key, cm_memory *memory, cm_error *error);

/* Gives a vertex in it another key. O(log count). */
void cm_indexed_heap_change(cm_indexed_heap *queue, uint32_t vertex, int64_t key);

/* Takes a vertex in it out. O(log count). */
void cm_indexed_heap_remove(cm_indexed_heap *queue, uint32_t vertex);

/* Takes all out. O(count). */
void cm_indexed_heap_clear(cm_indexed_heap *queue);

/* Frees the items; `place` is the caller's. */
void cm_indexed_heap_free(cm_indexed_heap *queue);
