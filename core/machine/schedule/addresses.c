#include "core/machine/schedule/addresses.h"

#include <string.h>

cm_status cm_addresses_begin(cm_addresses *a, const cm_core_memory *memories, uint32_t count, cm_memory *memory, cm_error *error)
{
  *a = (cm_addresses){.memory = memory, .count = count};
  CM_TRY(CM_ROOM(memory, a->range, &a->room, count + 64, error));
  for (uint32_t k = 0; k < count; k++)
    a->range[k] = (cm_range){k > 0 ? memories[k - 1].to : 0, memories[k].to, 0, CM_NO_BUFFER, true};
  return CM_OK;
}

void cm_addresses_clear(cm_addresses *a, double free_ns)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->range[i].first)
      a->range[count++] = (cm_range){a->range[i].from, a->range[i].to, free_ns, CM_NO_BUFFER, true};
    else
      a->range[count - 1].to = a->range[i].to;
  }
  a->count = count;
}

void cm_addresses_end(cm_addresses *a)
{
  cm_free(a->range);
  a->range = NULL;
}

static uint32_t range_at(const cm_addresses *a, uint64_t address)
{
  uint32_t low = 0, high = a->count;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (a->range[middle].from <= address)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The range that comes `at`-th from the end where the search begins. */
static const cm_range *range_from(const cm_addresses *a, bool high, uint32_t at)
{
  return &a->range[high ? a->count - 1 - at : at];
}

bool cm_addresses_find(const cm_addresses *all, uint64_t from, uint64_t to, const cm_room_wish *wish, cm_window *found)
{
  const uint64_t bytes = wish->bytes;
  const bool high = wish->high;
  const uint32_t first = range_at(all, from), count = range_at(all, to - 1) + 1 - first;
  const cm_addresses part = {.range = all->range + first, .count = count}, *a = &part;
  bool any = false;
  double best = 0;
  for (uint32_t i = 0; i < a->count && (!any || best > wish->ready); i++) {
    const cm_range *r = range_from(a, high, i);
    if (r->buffer != CM_NO_BUFFER)
      continue;
    double latest = 0;
    uint64_t size = 0;
    uint32_t k = i;
    for (; k < a->count && size < bytes; k++) {
      const cm_range *last = range_from(a, high, k);
      if (last->buffer != CM_NO_BUFFER)
        break;
      latest = last->free_ns > latest ? last->free_ns : latest;
      if (any && latest >= best)
        break;
      size = high ? r->to - last->from : last->to - r->from;
    }
    if (size >= bytes) {
      *found = (cm_window){first + (high ? a->count - k : i), k - i, latest};
      any = true;
      best = latest;
    } else if (k == a->count || range_from(a, high, k)->buffer != CM_NO_BUFFER)
      i = k; /* shorter windows from here on are too small as well */
  }
  return any;
}

/* Makes `with` ranges out of `count` at `first`. */
static cm_status replace(cm_addresses *a, uint32_t first, uint32_t count, const cm_range *with, uint32_t with_count,
                         cm_error *error)
{
  CM_TRY(CM_ROOM(a->memory, a->range, &a->room, a->count + with_count, error));
  memmove(a->range + first + with_count, a->range + first + count, (a->count - first - count) * sizeof *a->range);
  memcpy(a->range + first, with, with_count * sizeof *with);
  a->count = a->count - count + with_count;
  return CM_OK;
}

cm_status cm_addresses_take(cm_addresses *a, const cm_window *w, const cm_room_wish *wish, uint32_t buffer, uint64_t *address, cm_error *error)
{
  const uint64_t bytes = wish->bytes;
  uint64_t from = a->range[w->first].from, to = a->range[w->first + w->count - 1].to;
  cm_range made[3];
  uint32_t count = 0, first = w->first, last = w->first + w->count;
  uint64_t at = wish->high ? to - bytes : from;
  /* Ranges that the buffer does not touch stay as they are. */
  while (a->range[first].to <= at && first + 1 < last)
    first++;
  while (a->range[last - 1].from >= at + bytes && last - 1 > first)
    last--;
  const cm_range head = a->range[first], tail = a->range[last - 1];
  if (head.from < at)
    made[count++] = (cm_range){head.from, at, head.free_ns, CM_NO_BUFFER, false};
  made[count++] = (cm_range){at, at + bytes, 0, buffer, false};
  if (tail.to > at + bytes)
    made[count++] = (cm_range){at + bytes, tail.to, tail.free_ns, CM_NO_BUFFER, false};
  made[0].first = head.first;
  *address = at;
  return replace(a, first, last - first, made, count, error);
}

void cm_addresses_rename(cm_addresses *a, uint64_t address, uint32_t buffer)
{
  a->range[range_at(a, address)].buffer = buffer;
}

static void join(cm_addresses *a, uint32_t first, double past)
{
  cm_range *r = &a->range[first];
  if (first + 1 >= a->count || r[1].first || r[0].buffer != CM_NO_BUFFER || r[1].buffer != CM_NO_BUFFER)
    return;
  double latest = r[0].free_ns > r[1].free_ns ? r[0].free_ns : r[1].free_ns;
  if (latest > past && (r[0].free_ns < r[1].free_ns || r[0].free_ns > r[1].free_ns))
    return;
  r[0].to = r[1].to;
  r[0].free_ns = latest;
  memmove(r + 1, r + 2, (a->count - first - 2) * sizeof *r);
  a->count--;
}

void cm_addresses_free(cm_addresses *a, uint64_t address, double free_ns, double past)
{
  uint32_t at = range_at(a, address);
  a->range[at].buffer = CM_NO_BUFFER;
  a->range[at].free_ns = free_ns;
  join(a, at, past);
  if (at > 0)
    join(a, at - 1, past);
}
