#include "core/partition/indexed_heap.h"

#include "base/heap.h"

static inline void set(cm_indexed_heap *queue, size_t at, cm_indexed_heap_item item)
{
  queue->item[at] = item;
  queue->place[item.vertex] = (uint32_t)at;
}

static inline bool before(CM_UNUSED const cm_indexed_heap *queue, cm_indexed_heap_item a, cm_indexed_heap_item b)
{
  return a.key > b.key;
}

CM_HEAP_DEFINE(queue, cm_indexed_heap, cm_indexed_heap_item, 2, CM_HEAP_GET, set, before)

cm_status cm_indexed_heap_push(cm_indexed_heap *queue, uint32_t vertex, int64_t key, cm_memory *memory, cm_error *error)
{
  if (queue->count == queue->room) {
    uint32_t room = queue->room < 32 ? 64 : queue->room * 2;
    cm_indexed_heap_item *item = cm_reallocate(memory, queue->item, room, sizeof *item, error);
    if (item == NULL)
      return error->status;
    queue->item = item;
    queue->room = room;
  }
  queue_rise(queue, queue->count++, (cm_indexed_heap_item){key, vertex});
  return CM_OK;
}

void cm_indexed_heap_change(cm_indexed_heap *queue, uint32_t vertex, int64_t key)
{
  uint32_t at = queue->place[vertex];
  int64_t old = queue->item[at].key;
  if (key > old)
    queue_rise(queue, at, (cm_indexed_heap_item){key, vertex});
  else if (key < old)
    queue_sink(queue, queue->count, at, (cm_indexed_heap_item){key, vertex});
}

void cm_indexed_heap_remove(cm_indexed_heap *queue, uint32_t vertex)
{
  uint32_t at = queue->place[vertex];
  int64_t old = queue->item[at].key;
  queue->place[vertex] = CM_INDEXED_HEAP_ABSENT;
  cm_indexed_heap_item last = queue->item[--queue->count];
  if (at == queue->count)
    return;
  if (last.key > old)
    queue_rise(queue, at, last);
  else
    queue_sink(queue, queue->count, at, last);
}

void cm_indexed_heap_clear(cm_indexed_heap *queue)
{
  for (uint32_t i = 0; i < queue->count; i++)
    queue->place[queue->item[i].vertex] = CM_INDEXED_HEAP_ABSENT;
  queue->count = 0;
}

void cm_indexed_heap_free(cm_indexed_heap *queue)
{
  cm_free(queue->item);
  *queue = (cm_indexed_heap){0};
}
