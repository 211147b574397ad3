/* Heaps: the sifting that every priority queue of this code is made with, and the plain queue of numbered keys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Defines NAME_rise and NAME_sink for a heap whose nodes have `fan` children each. The queue is a HEAP of any type, whose
 * items stand at places 0, 1, ...: get(heap, place) is one, set(heap, place, item) puts one there (and may note where it
 * stands), before(heap, a, b) says whether a is to come out before b. Both functions put an item that stands nowhere:
 * NAME_rise at a place that is free, from where it goes towards the top; NAME_sink likewise towards the bottom of `count`
 * places. O(log count), O(fan log count). */
#define CM_HEAP_DEFINE(NAME, HEAP, ITEM, fan, get, set, before)                                                            \
  __attribute__((unused)) static inline void NAME##_rise(HEAP *heap, size_t at, ITEM item)                                 \
  {                                                                                                                        \
    for (size_t parent; at > 0 && before(heap, item, get(heap, parent = (at - 1) / (fan))); at = parent)                   \
      set(heap, at, get(heap, parent));                                                                                    \
    set(heap, at, item);                                                                                                   \
  }                                                                                                                        \
                                                                                                                           \
  __attribute__((unused)) static inline void NAME##_sink(HEAP *heap, size_t count, size_t at, ITEM item)                   \
  {                                                                                                                        \
    for (size_t child; (child = (fan) * at + 1) < count;) {                                                                \
      size_t first = child, end = child + (fan) < count ? child + (fan) : count;                                           \
      while (++child < end)                                                                                                \
        if (before(heap, get(heap, child), get(heap, first)))                                                              \
          first = child;                                                                                                   \
      if (!before(heap, get(heap, first), item))                                                                           \
        break;                                                                                                             \
      set(heap, at, get(heap, first));                                                                                     \
      at = first;                                                                                                          \
    }                                                                                                                      \
    set(heap, at, item);                                                                                                   \
  }

/* Items that stand in an array of their own. */
#define CM_HEAP_GET(heap, place) ((heap)->item[place])
#define CM_HEAP_SET(heap, place, value) ((heap)->item[place] = (value))

/* ---- numbered keys: the least key on top, among equals the lowest number ---- */

typedef struct cm_heap_item {
  uint64_t key;
  uint32_t number;
} cm_heap_item;

/* The caller makes `item` with room for all that is ever inside at once. */
typedef struct cm_heap {
  cm_heap_item *item;
  uint32_t count;
} cm_heap;

static inline bool cm_heap_before(const cm_heap *heap, cm_heap_item a, cm_heap_item b)
{
  (void)heap;
  return a.key != b.key ? a.key < b.key : a.number < b.number;
}

CM_HEAP_DEFINE(cm_heap, cm_heap, cm_heap_item, 2, CM_HEAP_GET, CM_HEAP_SET, cm_heap_before)

static inline void cm_heap_push(cm_heap *heap, cm_heap_item item)
{
  cm_heap_rise(heap, heap->count++, item);
}

/* Takes the top off; the heap must not be empty. */
static inline cm_heap_item cm_heap_pop(cm_heap *heap)
{
  cm_heap_item top = heap->item[0];
  if (--heap->count > 0)
    cm_heap_sink(heap, heap->count, 0, heap->item[heap->count]);
  return top;
}
