#include "core/partition/edge/rebalance.h"

#include <stdlib.h>
#include <string.h>

#include "core/partition/indexed_heap.h"
#include "base/members.h"

/* Chains of more parts would cost the cut more than a few vertices that go straight to a part with room: each step moves another
 * vertex. Where parts are many and full, the nearest room may be hundreds of steps away. */
enum { ROUNDS_MAX = 40, CHAIN_MAX = 4 };
#define NONE UINT32_MAX

/* What one part is to pass to a neighbouring one. */
typedef struct transfer {
  uint32_t to;
  uint64_t amount;
} transfer;

typedef struct balancer {
  const cm_csr_graph *graph;
  uint64_t most;
  cm_run *run;
  uint32_t *part;
  uint32_t parts;
  uint64_t *load;
  uint64_t *planned;            /* [parts] load once the plan is carried out */
  uint32_t *member_first, *member; /* vertices of each part */
  uint64_t *touch_first;        /* [parts + 1] neighbouring parts of each part */
  transfer *touch;              /* with what is to be passed */
  uint64_t touch_count, touch_room;
  uint32_t *next, *end;         /* [parts] the next on the way to the nearest part with room, and that; NONE: not reached */
  uint32_t *steps;              /* [parts] how far that is */
  uint32_t *queue;              /* [parts] */
  uint32_t *seen;               /* [parts] */
  cm_indexed_heap heap;
  uint32_t *place;              /* [vertices] in the heap */
} balancer;

static void balancer_free(balancer *b)
{
  CM_FREE(b->planned, b->member_first, b->member, b->touch_first, b->touch, b->next, b->end, b->steps, b->queue, b->seen,
          b->place);
  cm_indexed_heap_free(&b->heap);
}

static cm_status balancer_new(balancer *b, cm_error *error)
{
  cm_memory *memory = b->run->memory;
  uint32_t n = b->graph->vertex_count;
  if (CM_NEW(memory, b->planned, b->parts, error) != CM_OK ||
      CM_NEW(memory, b->member_first, (size_t)b->parts + 2, error) != CM_OK ||
      CM_NEW(memory, b->member, n, error) != CM_OK ||
      CM_NEW(memory, b->touch_first, (size_t)b->parts + 1, error) != CM_OK ||
      CM_NEW(memory, b->next, b->parts, error) != CM_OK || CM_NEW(memory, b->end, b->parts, error) != CM_OK ||
      CM_NEW(memory, b->steps, b->parts, error) != CM_OK ||
      CM_NEW(memory, b->queue, b->parts, error) != CM_OK || CM_NEW(memory, b->seen, b->parts, error) != CM_OK ||
      CM_NEW(memory, b->place, n, error) != CM_OK)
    return error->status;
  memset(b->place, 0xff, n * sizeof *b->place);
  b->heap.place = b->place;
  return CM_OK;
}

static uint64_t excess_of(const balancer *b, const uint64_t *load)
{
  uint64_t excess = 0;
  for (uint32_t p = 0; p < b->parts; p++)
    excess += load[p] > b->most ? load[p] - b->most : 0;
  return excess;
}

static void sort_members(balancer *b)
{
  memset(b->member_first, 0, ((size_t)b->parts + 2) * sizeof *b->member_first);
  cm_sort_members(b->part, b->graph->vertex_count, b->parts, b->member_first, b->member);
}

static cm_status add_touch(balancer *b, uint32_t to, cm_error *error)
{
  if (b->touch_count == b->touch_room) {
    uint64_t room = b->touch_room < 128 ? 256 : 2 * b->touch_room;
    transfer *grown = cm_reallocate(b->run->memory, b->touch, room, sizeof *grown, error);
    if (grown == NULL)
      return error->status;
    b->touch = grown;
    b->touch_room = room;
  }
  b->touch[b->touch_count++] = (transfer){.to = to};
  return CM_OK;
}

/* Which parts touch which. */
static cm_status find_touches(balancer *b, cm_error *error)
{
  const cm_csr_graph *g = b->graph;
  b->touch_count = 0;
  memset(b->seen, 0xff, b->parts * sizeof *b->seen);
  for (uint32_t p = 0; p < b->parts; p++) {
    b->touch_first[p] = b->touch_count;
    for (uint32_t j = b->member_first[p]; j < b->member_first[p + 1]; j++)
      for (uint64_t i = g->first[b->member[j]]; i < g->first[b->member[j] + 1]; i++) {
        uint32_t other = b->part[g->neighbour[i]];
        if (other == p || b->seen[other] == p)
          continue;
        b->seen[other] = p;
        CM_TRY(add_touch(b, other, error));
      }
  }
  b->touch_first[b->parts] = b->touch_count;
  return CM_OK;
}

/* Every part no more than CHAIN_MAX steps from one with room knows the next on a shortest way there. Returns how many there are: they
 * stand in the queue by the length of that way, those with room first. */
static uint32_t search_rooms(balancer *b)
{
  uint32_t tail = 0;
  memset(b->next, 0xff, b->parts * sizeof *b->next);
  for (uint32_t p = 0; p < b->parts; p++)
    if (b->planned[p] < b->most) {
      b->next[p] = b->end[p] = p;
      b->steps[p] = 0;
      b->queue[tail++] = p;
    }
  for (uint32_t head = 0; head < tail && b->steps[b->queue[head]] < CHAIN_MAX; head++) {
    uint32_t p = b->queue[head];
    for (uint64_t j = b->touch_first[p]; j < b->touch_first[p + 1]; j++) {
      uint32_t other = b->touch[j].to;
      if (b->next[other] != NONE)
        continue;
      b->next[other] = p;
      b->end[other] = b->end[p];
      b->steps[other] = b->steps[p] + 1;
      b->queue[tail++] = other;
    }
  }
  return tail;
}

/* Where p's transfer to a neighbouring part stands. */
static transfer *transfer_of(const balancer *b, uint32_t p, uint32_t to)
{
  uint64_t j = b->touch_first[p];
  while (b->touch[j].to != to)
    j++;
  return &b->touch[j];
}

/* Who passes how much to whom, over the shortest chains first: all parts with room are searched from at once, and again while
 * those that are found full leave some with too much. Returns whether that is all of what is too much. */
static bool plan(balancer *b)
{
  bool more = true;
  memcpy(b->planned, b->load, b->parts * sizeof *b->planned);
  while (more) {
    uint32_t reached = search_rooms(b);
    more = false;
    for (uint32_t i = 0; i < reached; i++) {
      uint32_t p = b->queue[i], end = b->end[p];
      if (b->planned[p] <= b->most || b->planned[end] >= b->most)
        continue;
      uint64_t amount = b->planned[p] - b->most, room = b->most - b->planned[end];
      amount = amount < room ? amount : room;
      for (uint32_t at = p; at != end; at = b->next[at])
        transfer_of(b, at, b->next[at])->amount += amount;
      b->planned[p] -= amount;
      b->planned[end] += amount;
      more = true;
    }
  }
  return excess_of(b, b->planned) == 0;
}

static int64_t gain_of(const balancer *b, uint32_t v, uint32_t from, uint32_t to)
{
  const cm_csr_graph *g = b->graph;
  int64_t gain = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t p = b->part[g->neighbour[i]];
    if (p == to)
      gain += (int64_t)cm_csr_graph_weight(g, i);
    else if (p == from)
      gain -= (int64_t)cm_csr_graph_weight(g, i);
  }
  return gain;
}

/* Passes vertices of part p until the amount is met: the dearest are offered first, later ones as their neighbours
 * leave. */
static cm_status pass(balancer *b, uint32_t p, uint32_t to, uint64_t amount, bool *moved, cm_error *error)
{
  const cm_csr_graph *g = b->graph;
  for (uint32_t j = b->member_first[p]; j < b->member_first[p + 1]; j++) {
    uint32_t v = b->member[j];
    if (b->part[v] == p && g->size[v] <= amount &&
        cm_indexed_heap_push(&b->heap, v, gain_of(b, v, p, to), b->run->memory, error) != CM_OK)
      return error->status;
  }
  while (amount > 0 && b->heap.count > 0) {
    uint32_t v = b->heap.item[0].vertex;
    cm_indexed_heap_remove(&b->heap, v);
    if (g->size[v] > amount)
      continue;
    b->part[v] = to;
    b->load[p] -= g->size[v];
    b->load[to] += g->size[v];
    amount -= g->size[v];
    *moved = true;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t u = g->neighbour[i];
      if (b->place[u] != CM_INDEXED_HEAP_ABSENT)
        cm_indexed_heap_change(&b->heap, u, b->heap.item[b->place[u]].key + 2 * (int64_t)cm_csr_graph_weight(g, i));
    }
  }
  cm_indexed_heap_clear(&b->heap);
  return CM_OK;
}

/* Straight to wherever there is room. */
static cm_status pass_anywhere(balancer *b, bool *moved, cm_error *error)
{
  uint32_t to = 0;
  for (uint32_t p = 0; p < b->parts; p++)
    while (b->load[p] > b->most) {
      uint64_t before = b->load[p];
      while (to < b->parts && b->load[to] >= b->most)
        to++;
      if (to == b->parts)
        return CM_OK;
      uint64_t amount = before - b->most, room = b->most - b->load[to];
      CM_TRY(pass(b, p, to, amount < room ? amount : room, moved, error));
      if (b->load[p] == before)
        break;
    }
  return CM_OK;
}

/* One plan, carried out; what it leaves where it is, because room is too far away, goes straight. */
static cm_status one_round(balancer *b, bool *moved, cm_error *error)
{
  sort_members(b);
  CM_TRY(find_touches(b, error));
  bool all = plan(b);
  for (uint32_t p = 0; p < b->parts; p++)
    for (uint64_t j = b->touch_first[p]; j < b->touch_first[p + 1]; j++)
      if (b->touch[j].amount > 0 && pass(b, p, b->touch[j].to, b->touch[j].amount, moved, error) != CM_OK)
        return error->status;
  if (all)
    return CM_OK;
  sort_members(b);
  return pass_anywhere(b, moved, error);
}

/* ---- sizes that no exchange makes fit ---- */

typedef struct sized {
  uint32_t size, vertex;
} sized;

static int larger_first(const void *a, const void *b)
{
  const sized *x = a, *y = b;
  return x->size != y->size ? (x->size < y->size) - (x->size > y->size)
                            : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Packs from the largest vertex down: each stays in its part where there is still room, else goes where there is
 * most. */
static cm_status pack(const balancer *b, sized *order, const cm_parts *packed, cm_indexed_heap *rooms, bool *fits,
                      cm_error *error)
{
  uint64_t *load = packed->load;
  uint32_t n = b->graph->vertex_count;
  for (uint32_t p = 0; p < b->parts; p++)
    CM_TRY(cm_indexed_heap_push(rooms, p, (int64_t)b->most, b->run->memory, error));
  for (uint32_t v = 0; v < n; v++)
    order[v] = (sized){b->graph->size[v], v};
  qsort(order, n, sizeof *order, larger_first);
  *fits = true;
  for (uint32_t i = 0; i < n && *fits; i++) {
    uint32_t v = order[i].vertex, p = b->part[v];
    if (load[p] + order[i].size > b->most)
      p = rooms->item[0].vertex;
    *fits = load[p] + order[i].size <= b->most;
    packed->part[v] = p;
    load[p] += order[i].size;
    cm_indexed_heap_change(rooms, p, (int64_t)b->most - (int64_t)load[p]);
  }
  return CM_OK;
}

/* The last resort: *left becomes 0 when packing by size succeeds. */
static cm_status repack(balancer *b, uint64_t *left, cm_error *error)
{
  cm_memory *memory = b->run->memory;
  uint32_t n = b->graph->vertex_count;
  sized *order = NULL;
  cm_parts packed = {.count = b->parts};
  cm_indexed_heap rooms = {0};
  bool fits = false;
  cm_status status = CM_NEW(memory, packed.part, n, error);
  CM_THEN(status, CM_NEW(memory, order, n, error));
  CM_THEN(status, CM_NEW(memory, packed.load, b->parts, error));
  CM_THEN(status, CM_NEW(memory, rooms.place, b->parts, error));
  CM_THEN(status, pack(b, order, &packed, &rooms, &fits, error));
  if (status == CM_OK && fits) {
    memcpy(b->part, packed.part, n * sizeof *packed.part);
    memcpy(b->load, packed.load, b->parts * sizeof *packed.load);
    *left = 0;
  }
  CM_FREE(packed.part, order, packed.load, rooms.place);
  cm_indexed_heap_free(&rooms);
  return status;
}

cm_status cm_rebalance_parts(const cm_csr_graph *graph, uint64_t most, cm_run *run, const cm_parts *parts, uint64_t *excess,
                             cm_error *error)
{
  balancer b = {.graph = graph, .most = most, .run = run, .part = parts->part, .parts = parts->count, .load = parts->load};
  cm_status status = CM_OK;
  uint64_t left = excess_of(&b, b.load);
  if (left > 0)
    status = balancer_new(&b, error);
  bool moved = true;
  for (uint32_t round = 0; status == CM_OK && left > 0 && moved && round < ROUNDS_MAX; round++) {
    moved = false;
    status = one_round(&b, &moved, error);
    left = excess_of(&b, b.load);
    CM_THEN(status, cm_run_check(run, error));
  }
  CM_THEN_IF(status, left > 0, repack(&b, &left, error));
  balancer_free(&b);
  if (status == CM_OK)
    *excess = left;
  return status;
}
