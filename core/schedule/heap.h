/* A binary heap of numbered keys: the least key on top, among equals the lowest number. */
#ifndef CM_SCHEDULE_HEAP_H
#define CM_SCHEDULE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cm_heap_item {
  uint64_t key;
  uint32_t number;
} cm_heap_item;

/* The caller makes `item` with room for all that is ever inside at once. */
typedef struct cm_heap {
  cm_heap_item *item;
  uint32_t count;
} cm_heap;

static inline bool cm_heap_before(cm_heap_item a, cm_heap_item b)
{
  return a.key != b.key ? a.key < b.key : a.number < b.number;
}

static inline void cm_heap_push(cm_heap *heap, cm_heap_item item)
{
  uint32_t place = heap->count++;
  while (place > 0 && cm_heap_before(item, heap->item[(place - 1) / 2])) {
    heap->item[place] = heap->item[(place - 1) / 2];
    place = (place - 1) / 2;
  }
  heap->item[place] = item;
}

/* Takes the top off; the heap must not be empty. */
static inline cm_heap_item cm_heap_pop(cm_heap *heap)
{
  cm_heap_item top = heap->item[0], last = heap->item[--heap->count];
  uint32_t place = 0;
  for (uint32_t child; (child = 2 * place + 1) < heap->count; place = child) {
    if (child + 1 < heap->count && cm_heap_before(heap->item[child + 1], heap->item[child]))
      child++;
    if (!cm_heap_before(heap->item[child], last))
      break;
    heap->item[place] = heap->item[child];
  }
  if (heap->count > 0)
    heap->item[place] = last;
  return top;
}

#endif
