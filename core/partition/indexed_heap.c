#include "core/partition/indexed_heap.h"

static void set(cm_indexed_heap *queue, uint32_t at, cm_indexed_heap_item item)
{
  queue->item[at] = item;
  queue->place[item.vertex] = at;
}

static void rise(cm_indexed_heap *queue, uint32_t at, cm_indexed_heap_item item)
{
  while (at > 0 && queue->item[(at - 1) / 2].key < item.key) {
    set(queue, at, queue->item[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  set(queue, at, item);
}

static void sink(cm_indexed_heap *queue, uint32_t at, cm_indexed_heap_item item)
{
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= queue->count)
      break;
    if (child + 1 < queue->count && queue->item[child + 1].key > queue->item[child].key)
      child++;
    if (queue->item[child].key <= item.key)
      break;
    set(queue, at, queue->item[child]);
    at = child;
  }
  set(queue, at, item);
}

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
  rise(queue, queue->count++, (cm_indexed_heap_item){key, vertex});
  return CM_OK;
}

void cm_indexed_heap_change(cm_indexed_heap *queue, uint32_t vertex, int64_t key)
{
  uint32_t at = queue->place[vertex];
  int64_t before = queue->item[at].key;
  if (key > before)
    rise(queue, at, (cm_indexed_heap_item){key, vertex});
  else if (key < before)
    sink(queue, at, (cm_indexed_heap_item){key, vertex});
}

void cm_indexed_heap_remove(cm_indexed_heap *queue, uint32_t vertex)
{
  uint32_t at = queue->place[vertex];
  int64_t before = queue->item[at].key;
  queue->place[vertex] = CM_INDEXED_HEAP_ABSENT;
  cm_indexed_heap_item last = queue->item[--queue->count];
  if (at == queue->count)
    return;
  if (last.key > before)
    rise(queue, at, last);
  else
    sink(queue, at, last);
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
