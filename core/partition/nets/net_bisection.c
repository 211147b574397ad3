#include "core/partition/nets/net_bisection.h"

#include <string.h>

#include "core/partition/fm_walk.h"

#define NONE UINT32_MAX

void cm_net_bisection_free(cm_net_bisection *b)
{
  if (b == NULL)
    return;
  CM_FREE(b->net, b->gain, b->degree, b->touched, b->is_touched);
  cm_indexed_heap_free(&b->heap[0]);
  cm_indexed_heap_free(&b->heap[1]);
  CM_FREE(b->place, b->order, b->moved, b->done, b);
}

cm_status cm_net_bisection_new(const cm_net_graph *graph, uint32_t *side, cm_run *run, cm_net_bisection **bisection,
                               cm_error *error)
{
  cm_net_bisection *b;
  uint32_t n = graph->vertex_count;
  cm_memory *memory = run->memory;
  CM_TRY(CM_NEW(memory, b, 1, error));
  b->graph = graph;
  b->side = side;
  if (CM_NEW(memory, b->net, graph->net_count, error) != CM_OK || CM_NEW(memory, b->gain, n, error) != CM_OK ||
      CM_NEW(memory, b->degree, n, error) != CM_OK || CM_NEW(memory, b->touched, n, error) != CM_OK ||
      CM_NEW(memory, b->is_touched, n, error) != CM_OK || CM_NEW(memory, b->heap[0].item, n, error) != CM_OK ||
      CM_NEW(memory, b->heap[1].item, n, error) != CM_OK || CM_NEW(memory, b->place, n, error) != CM_OK ||
      CM_NEW(memory, b->order, n, error) != CM_OK || CM_NEW(memory, b->moved, n, error) != CM_OK ||
      CM_NEW(memory, b->done, n, error) != CM_OK) {
    cm_net_bisection_free(b);
    return error->status;
  }
  memset(b->place, 0xff, n * sizeof *b->place);
  for (int s = 0; s < 2; s++) {
    b->heap[s].place = b->place;
    b->heap[s].room = n;
  }
  for (uint32_t e = 0; e < graph->net_count; e++)
    for (uint64_t i = graph->net_first[e]; i < graph->net_first[e + 1]; i++)
      b->degree[graph->pin[i]] += graph->net_weight[e];
  *bisection = b;
  return CM_OK;
}

void cm_net_bisection_fill(cm_net_bisection *b)
{
  const cm_net_graph *g = b->graph;
  b->load[0] = b->load[1] = 0;
  b->cut = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    b->load[b->side[v]] += g->size[v];
    b->gain[v] = -b->degree[v];
  }
  for (uint32_t e = 0; e < g->net_count; e++) {
    cm_net_sides n = {{0, 0}, {0, 0}};
    int64_t weight = g->net_weight[e];
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      uint32_t v = g->pin[i], s = b->side[v];
      n.count[s]++;
      n.sole[s] ^= v;
    }
    b->net[e] = n;
    if (n.count[0] == 0 || n.count[1] == 0)
      continue;
    b->cut += weight;
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
      b->gain[g->pin[i]] += weight;
    for (int s = 0; s < 2; s++)
      if (n.count[s] == 1)
        b->gain[n.sole[s]] += weight;
  }
}

static inline void change(cm_net_bisection *b, uint32_t v, int64_t by)
{
  b->gain[v] += by;
  if (b->is_touched[v])
    return;
  b->is_touched[v] = true;
  b->touched[b->touched_count++] = v;
}

static void change_others(cm_net_bisection *b, uint32_t e, uint32_t v, int64_t by)
{
  const cm_net_graph *g = b->graph;
  for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
    if (g->pin[i] != v)
      change(b, g->pin[i], by);
}

void cm_net_bisection_move(cm_net_bisection *b, uint32_t v)
{
  const cm_net_graph *g = b->graph;
  uint32_t from = b->side[v], to = 1 - from;
  for (uint32_t i = 0; i < b->touched_count; i++)
    b->is_touched[b->touched[i]] = false;
  b->touched_count = 0;
  b->side[v] = to;
  b->load[from] -= g->size[v];
  b->load[to] += g->size[v];
  b->cut -= b->gain[v];
  b->gain[v] = -b->gain[v];
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    uint32_t e = g->net[j];
    cm_net_sides *n = &b->net[e];
    int64_t weight = g->net_weight[e];
    if (n->count[to] == 0)
      change_others(b, e, v, weight);
    else if (n->count[to] == 1)
      change(b, n->sole[to], -weight);
    n->count[to]++;
    n->sole[to] ^= v;
    n->count[from]--;
    n->sole[from] ^= v;
    if (n->count[from] == 0)
      change_others(b, e, v, -weight);
    else if (n->count[from] == 1)
      change(b, n->sole[from], weight);
  }
}

static uint64_t excess_of(const uint64_t load[2], const uint64_t most[2])
{
  return (load[0] > most[0] ? load[0] - most[0] : 0) + (load[1] > most[1] ? load[1] - most[1] : 0);
}

uint64_t cm_net_bisection_excess(const cm_net_bisection *b, const uint64_t most[2])
{
  return excess_of(b->load, most);
}

static cm_status offer(cm_net_bisection *b, uint32_t v, cm_run *run, cm_error *error)
{
  if (b->done[v])
    return CM_OK;
  if (b->place[v] == CM_INDEXED_HEAP_ABSENT)
    return cm_indexed_heap_push(&b->heap[b->side[v]], v, b->gain[v], run->memory, error);
  cm_indexed_heap_change(&b->heap[b->side[v]], v, b->gain[v]);
  return CM_OK;
}

/* Whether v may change sides: within the limit there, or so that less is over limits. */
static bool may_move(const cm_net_bisection *b, const uint64_t most[2], uint32_t v)
{
  uint32_t from = b->side[v], to = 1 - from;
  uint64_t size = b->graph->size[v], load[2] = {b->load[0], b->load[1]};
  if (load[to] + size <= most[to])
    return true;
  load[to] += size;
  load[from] -= size;
  return excess_of(load, most) < excess_of(b->load, most);
}

/* The vertex to move next; NONE: none may. Out of a side that is over its limit before all others. */
static uint32_t next_move(cm_net_bisection *b, const uint64_t most[2])
{
  uint32_t best = NONE;
  for (uint32_t s = 0; s < 2; s++) {
    if (b->load[1 - s] > most[1 - s] && b->heap[1 - s].count > 0)
      continue;
    if (b->heap[s].count == 0)
      continue;
    uint32_t v = b->heap[s].item[0].vertex;
    if (!may_move(b, most, v))
      continue;
    if (best == NONE || b->gain[v] > b->gain[best] || (b->gain[v] == b->gain[best] && b->load[s] > b->load[1 - s]))
      best = v;
  }
  return best;
}

static cm_status fill_heaps(cm_net_bisection *b, const uint64_t most[2], cm_random *random, cm_run *run, cm_error *error)
{
  uint32_t n = b->graph->vertex_count;
  memset(b->done, 0, n * sizeof *b->done);
  cm_random_permutation(random, b->order, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t v = b->order[i];
    bool border = b->gain[v] > -b->degree[v];
    if ((border || b->load[b->side[v]] > most[b->side[v]]) && offer(b, v, run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status pass(cm_net_bisection *b, const uint64_t most[2], cm_random *random, cm_run *run, bool *better,
                      cm_error *error)
{
  uint32_t moves = 0, kept = 0;
  int64_t least = b->cut;
  uint64_t least_excess = excess_of(b->load, most);
  cm_fm_walk walk = cm_fm_walk_begin(b->graph->vertex_count);
  CM_TRY(fill_heaps(b, most, random, run, error));
  *better = false;
  while (b->heap[0].count + b->heap[1].count > 0) {
    uint32_t v = next_move(b, most);
    if (v == NONE) { /* the first of each find no room */
      for (int s = 0; s < 2; s++)
        if (b->heap[s].count > 0)
          cm_indexed_heap_remove(&b->heap[s], b->heap[s].item[0].vertex);
      continue;
    }
    int64_t gain = b->gain[v];
    cm_indexed_heap_remove(&b->heap[b->side[v]], v);
    b->done[v] = true;
    b->moved[moves++] = v;
    cm_net_bisection_move(b, v);
    for (uint32_t i = 0; i < b->touched_count; i++)
      CM_TRY(offer(b, b->touched[i], run, error));
    uint64_t excess = excess_of(b->load, most);
    if (excess < least_excess || (excess == least_excess && b->cut < least)) {
      least_excess = excess;
      least = b->cut;
      kept = moves;
      *better = true;
      cm_fm_walk_restart(&walk);
    } else if (excess == 0 && cm_fm_walk_hopeless(&walk, gain))
      break;
  }
  for (int s = 0; s < 2; s++)
    cm_indexed_heap_clear(&b->heap[s]);
  while (moves > kept)
    cm_net_bisection_move(b, b->moved[--moves]);
  return cm_run_check(run, error);
}

cm_status cm_net_bisection_refine(cm_net_bisection *b, const uint64_t most[2], uint32_t passes, cm_random *random, cm_run *run,
                                  cm_error *error)
{
  bool better = true;
  for (uint32_t i = 0; i < passes && better; i++)
    CM_TRY(pass(b, most, random, run, &better, error));
  return CM_OK;
}
