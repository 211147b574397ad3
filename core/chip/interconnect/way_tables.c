/* Distances and ways: by formulas (formula.c) where they hold, else by the table of all pairs. What can fail: memory for the table. */
#include "base/heap.h"
#include "core/chip/interconnect/detours.h"
#include "core/chip/interconnect/internal.h"

/* ---- the table ---- */

static bool has_table(const cm_interconnect *net)
{
  return net->kind == CM_ALL_TO_ALL ? net->dead_count > 0 : net->routers <= CM_TABLE_ROUTERS_MAX;
}

static bool has_detours(const cm_interconnect *net)
{
  return net->dead_count > 0 && net->routers > CM_TABLE_ROUTERS_MAX && net->kind != CM_TREE;
}

typedef struct open_router {
  uint32_t length, router;
} open_router;

typedef struct scratch {
  uint32_t *length; /* [routers] from the source */
  uint32_t *order;  /* routers by length */
  open_router *item; /* the heap */
  size_t count;
  uint32_t settled;
} scratch;

static inline bool before(CM_UNUSED const scratch *s, open_router a, open_router b)
{
  return a.length < b.length || (a.length == b.length && a.router < b.router);
}

CM_HEAP_DEFINE(open, scratch, open_router, 2, CM_HEAP_GET, CM_HEAP_SET, before)

static open_router pop(scratch *s)
{
  open_router top = s->item[0];
  if (--s->count > 0)
    open_sink(s, s->count, 0, s->item[s->count]);
  return top;
}

/* Lengths of all ways from a router (Dijkstra 1959). */
static void settle_by_queue(const cm_interconnect *net, uint32_t from, scratch *s)
{
  open_rise(s, s->count++, (open_router){0, from});
  s->length[from] = 0;
  while (s->count > 0) {
    open_router item = pop(s);
    if (item.length > s->length[item.router])
      continue;
    s->order[s->settled++] = item.router;
    for (uint32_t i = net->first[item.router]; i < net->first[item.router + 1]; i++) {
      const cm_link *k = &net->link[i];
      if (k->dead || item.length + k->length >= s->length[k->to])
        continue;
      s->length[k->to] = item.length + k->length;
      open_rise(s, s->count++, (open_router){s->length[k->to], k->to});
    }
  }
}

/* The same where all links are as long: breadth first. */
static void settle(const cm_interconnect *net, uint32_t from, scratch *s)
{
  s->order[s->settled++] = from;
  s->length[from] = 0;
  for (uint32_t head = 0; head < s->settled && s->settled < net->routers; head++) {
    uint32_t router = s->order[head];
    for (uint32_t i = net->first[router]; i < net->first[router + 1]; i++)
      if (!net->link[i].dead && s->length[net->link[i].to] == CM_NO_WAY) {
        s->length[net->link[i].to] = s->length[router] + 1;
        s->order[s->settled++] = net->link[i].to;
      }
  }
}

static void fill_ways(const cm_interconnect *net, uint32_t from, bool even, scratch *s, cm_way *way)
{
  for (uint32_t r = 0; r < net->routers; r++) {
    s->length[r] = CM_NO_WAY;
    way[r] = (cm_way){CM_NO_WAY, UINT16_MAX, UINT16_MAX};
  }
  s->settled = 0;
  if (even)
    settle(net, from, s);
  else
    settle_by_queue(net, from, s);
  way[from] = (cm_way){0, 0, UINT16_MAX};
  for (uint32_t i = 1; i < s->settled; i++) {
    uint32_t to = s->order[i], first = net->first[to];
    for (uint32_t k = first; k < net->first[to + 1]; k++) {
      uint32_t before = s->length[net->link[k].to];
      if (before == CM_NO_WAY || before + net->link[k].length != s->length[to])
        continue;
      const cm_link *in = &net->link[net->link[k].twin];
      if (in->dead)
        continue;
      way[to] = (cm_way){way[in->from].units + in->units, (uint16_t)(way[in->from].hops + 1), (uint16_t)(k - first)};
      break;
    }
  }
}

static cm_status make_table(cm_interconnect *net, cm_error *error)
{
  cm_way *way;
  scratch s = {0};
  bool even = true;
  for (uint32_t i = 0; i < net->link_count; i++)
    even = even && net->link[i].length == net->link[0].length;
  bool ones = even && (net->link_count == 0 || net->link[0].length == 1);
  CM_TRY(CM_NEW(NULL, way, (size_t)net->routers * net->routers, error));
  cm_status status = CM_NEW_ALL(NULL, error, CM_ARRAY(s.length, net->routers), CM_ARRAY(s.order, net->routers),
                                CM_ARRAY(s.item, (size_t)net->link_count + 1));
  for (uint32_t r = 0; status == CM_OK && r < net->routers; r++)
    fill_ways(net, r, ones, &s, way + (size_t)r * net->routers);
  CM_FREE(s.length, s.order, s.item);
  if (status == CM_OK)
    atomic_store_explicit(&net->way, way, memory_order_release);
  else
    cm_free(way);
  return status;
}

static cm_status make_detours(cm_interconnect *net, cm_error *error)
{
  cm_detours *detours;
  CM_TRY(cm_detours_new(net, &detours, error));
  atomic_store_explicit(&net->detours, detours, memory_order_release);
  return CM_OK;
}

static bool is_prepared(const cm_interconnect *net)
{
  return (!has_table(net) || atomic_load_explicit(&net->way, memory_order_acquire) != NULL) &&
         (!has_detours(net) || atomic_load_explicit(&net->detours, memory_order_acquire) != NULL);
}

cm_status cm_interconnect_prepare(const cm_interconnect *net, cm_error *error)
{
  cm_interconnect *mine = (cm_interconnect *)(uintptr_t)net; /* what is made is no part of what the chip is */
  cm_status status = CM_OK;
  if (net == NULL || is_prepared(net))
    return CM_OK;
  (void)pthread_mutex_lock(&mine->making);
  if (!is_prepared(net))
    status = has_detours(net) ? make_detours(mine, error) : make_table(mine, error);
  (void)pthread_mutex_unlock(&mine->making);
  return status;
}

/* ---- answers ---- */

static const cm_way *way_of(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  const cm_way *way = atomic_load_explicit(&net->way, memory_order_relaxed);
  return way == NULL ? NULL : &way[(size_t)from * net->routers + to];
}

/* Hops where there is no table. */
static uint32_t hops_of(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  cm_detours *detours = atomic_load_explicit(&net->detours, memory_order_relaxed);
  return detours == NULL ? cm_formula_hops(net, from, to) : cm_detours_hops(net, detours, from, to);
}

uint32_t cm_interconnect_hops(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  const cm_way *way = way_of(net, from, to);
  if (way == NULL)
    return hops_of(net, from, to);
  return way->units == CM_NO_WAY ? CM_NO_WAY : way->hops;
}

uint32_t cm_interconnect_units(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  const cm_way *way = way_of(net, from, to);
  if (way != NULL)
    return way->units;
  if (!has_detours(net))
    return cm_formula_units(net, from, to);
  uint32_t hops = hops_of(net, from, to);
  return hops == CM_NO_WAY ? CM_NO_WAY : hops * net->link[0].units;
}

uint32_t cm_interconnect_last(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  const cm_way *way = way_of(net, from, to);
  if (way != NULL)
    return net->link[net->first[to] + way->last].twin;
  if (net->kind == CM_ALL_TO_ALL)
    return (uint32_t)cm_interconnect_link(net, from, to);
  uint32_t hops = hops_of(net, from, to);
  for (uint32_t k = net->first[to]; k < net->first[to + 1]; k++)
    if (!net->link[net->link[k].twin].dead && hops_of(net, from, net->link[k].to) + 1 == hops)
      return net->link[k].twin;
  return CM_NO_WAY; /* never: some neighbour is nearer */
}

cm_status cm_interconnect_component(const cm_interconnect *net, uint32_t from, cm_memory *memory, uint8_t *reached,
                                    cm_error *error)
{
  uint32_t *queue;
  CM_TRY(CM_NEW(memory, queue, net->routers, error));
  memset(reached, 0, net->routers);
  for (unsigned side = 1; side <= 2; side++) { /* along the links, then against them */
    uint32_t count = 0;
    queue[count++] = from;
    reached[from] |= (uint8_t)side;
    for (uint32_t head = 0; head < count; head++)
      for (uint32_t i = net->first[queue[head]]; i < net->first[queue[head] + 1]; i++) {
        const cm_link *k = &net->link[i];
        if ((side == 1 ? k->dead : net->link[k->twin].dead) || (reached[k->to] & side) != 0)
          continue;
        reached[k->to] |= (uint8_t)side;
        queue[count++] = k->to;
      }
  }
  for (uint32_t r = 0; r < net->routers; r++)
    reached[r] = reached[r] == 3;
  cm_free(queue);
  return CM_OK;
}
