/* Linear orders: of parts by what they say to each other, of cores along Hilbert's curve. */
#include <stdlib.h>

#include "base/order.h"
#include "base/heap.h"
#include "core/placement/curve.h"

enum { GREEDY_ENTRIES_MAX = 1 << 24 };

/* Parts by priority; entries that were overtaken stay until they surface. */
typedef struct waiting {
  int64_t priority; /* more first; the lower part among equals */
  uint32_t part;
} waiting;

typedef struct queue {
  waiting *item;
  size_t count, room;
  cm_run *run;
} queue;

static bool before(CM_UNUSED const queue *q, waiting a, waiting b)
{
  return a.priority != b.priority ? a.priority > b.priority : a.part < b.part;
}

CM_HEAP_DEFINE(queue, queue, waiting, 2, CM_HEAP_GET, CM_HEAP_SET, before)

static cm_status push(queue *q, waiting fresh, cm_error *error)
{
  if (q->count == q->room) {
    size_t room = q->room * 2 + 64;
    waiting *grown = cm_reallocate(q->run->memory, q->item, room, sizeof *grown, error);
    if (grown == NULL)
      return error->status;
    q->item = grown;
    q->room = room;
  }
  queue_rise(q, q->count++, fresh);
  return CM_OK;
}

static waiting pop(queue *q)
{
  waiting top = q->item[0];
  if (--q->count > 0)
    queue_sink(q, q->count, 0, q->item[q->count]);
  return top;
}

/* Greedy: priority[] is the weight to ordered parts less the weight to the others. */
static cm_status order_greedily(const cm_graph *g, int64_t *priority, uint8_t *ordered, queue *q, uint32_t *order,
                                cm_error *error)
{
  for (uint32_t u = 0; u < g->vertex_count; u++) {
    for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
      priority[u] -= (int64_t)g->weight[i];
    CM_TRY(push(q, (waiting){priority[u], u}, error));
  }
  for (uint32_t count = 0; count < g->vertex_count;) {
    waiting next = pop(q);
    if (ordered[next.part] || next.priority != priority[next.part])
      continue;
    ordered[next.part] = 1;
    order[count++] = next.part;
    for (uint64_t i = g->first[next.part]; i < g->first[next.part + 1]; i++) {
      uint32_t v = g->neighbour[i];
      priority[v] += 2 * (int64_t)g->weight[i];
      CM_TRY_IF(!ordered[v] && g->weight[i] > 0, push(q, (waiting){priority[v], v}, error));
    }
    CM_TRY_IF(count % 1024 == 0, cm_run_check(q->run, error));
  }
  return CM_OK;
}

static cm_status order_by_breadth(const cm_graph *g, cm_run *run, uint8_t *seen, uint32_t *order, cm_error *error)
{
  uint32_t tail = 0;
  for (uint32_t start = 0, head = 0; start < g->vertex_count; start++) {
    if (seen[start])
      continue;
    seen[start] = 1;
    order[tail++] = start;
    for (; head < tail; head++) {
      for (uint64_t i = g->first[order[head]]; i < g->first[order[head] + 1]; i++)
        if (!seen[g->neighbour[i]]) {
          seen[g->neighbour[i]] = 1;
          order[tail++] = g->neighbour[i];
        }
      CM_TRY_IF(head % 1024 == 0, cm_run_check(run, error));
    }
  }
  return CM_OK;
}

cm_status cm_order_parts(const cm_graph *parts, cm_run *run, uint32_t *order, cm_error *error)
{
  int64_t *priority = NULL;
  uint8_t *ordered;
  queue q = {.run = run};
  cm_status status = CM_NEW(run->memory, ordered, parts->vertex_count, error);
  if (status == CM_OK && parts->entry_count > GREEDY_ENTRIES_MAX)
    status = order_by_breadth(parts, run, ordered, order, error);
  else if (status == CM_OK) {
    status = CM_NEW(run->memory, priority, parts->vertex_count, error);
    CM_THEN(status, order_greedily(parts, priority, ordered, &q, order, error));
  }
  CM_FREE(priority, ordered, q.item);
  return status;
}

/* Number of (x, y) along Hilbert's curve over a square of 2^bits a side. */
static uint64_t hilbert(uint32_t x, uint32_t y, uint32_t bits)
{
  uint64_t sum = 0;
  for (uint32_t side = UINT32_C(1) << bits >> 1; side > 0; side /= 2) {
    uint32_t right = (x & side) != 0, down = (y & side) != 0;
    sum += (uint64_t)side * side * ((3 * right) ^ down);
    if (down == 0) {
      if (right) {
        x = ~x & (side - 1);
        y = ~y & (side - 1);
      }
      uint32_t kept = x;
      x = y;
      y = kept;
    }
    x &= side - 1;
    y &= side - 1;
  }
  return sum;
}

typedef struct numbered {
  uint64_t number;
  uint32_t core;
} numbered;

CM_ORDER(by_number, numbered, CM_RISING(number) CM_RISING(core))

cm_status cm_order_cores(const cm_chip *chip, const cm_region *region, cm_run *run, uint32_t *core, cm_error *error)
{
  numbered *list;
  uint32_t bits = 0;
  CM_TRY(CM_NEW(run->memory, list, region->core_count, error));
  while (UINT32_C(1) << bits < region->width || UINT32_C(1) << bits < region->height)
    bits++;
  for (uint32_t i = 0; i < region->core_count; i++) {
    uint32_t c = region->cores[i];
    list[i] = (numbered){hilbert(c % chip->width - region->x0, c / chip->width - region->y0, bits), i};
  }
  qsort(list, region->core_count, sizeof *list, by_number);
  for (uint32_t i = 0; i < region->core_count; i++)
    core[i] = list[i].core;
  cm_free(list);
  return CM_OK;
}
