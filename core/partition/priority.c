#include "core/partition/priority.h"

static void set(cm_priority *queue, uint32_t at, cm_priority_item item)
{
  queue->item[at] = item;
  queue->place[item.vertex] = at;
}

static void rise(cm_priority *queue, uint32_t at, cm_priority_item item)
{
  while (at > 0 && queue->item[(at - 1) / 2].key < item.key) {
    set(queue, at, queue->item[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  set(queue, at, item);
}

static void sink(cm_priority *queue, uint32_t at, cm_priority_item item)
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

cm_status cm_priority_push(cm_priority *queue, uint32_t vertex, int64_t key, cm_memory *memory, cm_error *error)
{
  if (queue->count == queue->room) {
    uint32_t room = queue->room < 32 ? 64 : queue->room * 2;
    cm_priority_item *item = cm_reallocate(memory, queue->item, room, sizeof *item, error);
    if (item == NULL)
      return error->status;
    queue->item = item;
    queue->room = room;
  }
  rise(queue, queue->count++, (cm_priority_item){key, vertex});
  return CM_OK;
}

void cm_priority_change(cm_priority *queue, uint32_t vertex, int64_t key)
{
  uint32_t at = queue->place[vertex];
  int64_t before = queue->item[at].key;
  if (key > before)
    rise(queue, at, (cm_priority_item){key, vertex});
  else if (key < before)
    sink(queue, at, (cm_priority_item){key, vertex});
}

void cm_priority_remove(cm_priority *queue, uint32_t vertex)
{
  uint32_t at = queue->place[vertex];
  int64_t before = queue->item[at].key;
  queue->place[vertex] = CM_PRIORITY_ABSENT;
  cm_priority_item last = queue->item[--queue->count];
  if (at == queue->count)
    return;
  if (last.key > before)
    rise(queue, at, last);
  else
    sink(queue, at, last);
}

void cm_priority_clear(cm_priority *queue)
{
  for (uint32_t i = 0; i < queue->count; i++)
    queue->place[queue->item[i].vertex] = CM_PRIORITY_ABSENT;
  queue->count = 0;
}

void cm_priority_free(cm_priority *queue)
{
  cm_free(queue->item);
  *queue = (cm_priority){0};
}
