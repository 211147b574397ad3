#include <string.h>

#include "core/partition/edge/kway_fm.h"
#include "core/partition/indexed_heap.h"

#define NONE UINT32_MAX

typedef struct relief {
  cm_kway *state;
  uint64_t most;
  cm_indexed_heap heap;
  uint32_t *place;   /* [vertices] */
  uint32_t emptiest;
} relief;

uint64_t cm_kway_excess(const cm_kway *s, uint64_t most)
{
  uint64_t sum = 0;
  for (uint32_t p = 0; p < s->parts; p++)
    sum += s->load[p] > most ? s->load[p] - most : 0;
  return sum;
}

static uint64_t room(const relief *w, uint32_t p)
{
  return w->state->load[p] < w->most ? w->most - w->state->load[p] : 0;
}

static void find_emptiest(relief *w)
{
  w->emptiest = 0;
  for (uint32_t p = 1; p < w->state->parts; p++)
    if (room(w, p) > room(w, w->emptiest))
      w->emptiest = p;
}

/* Where v loses least among the parts it touches and the emptiest one; NONE: no room. */
static uint32_t target_of(const relief *w, uint32_t v, int64_t *gain)
{
  const cm_kway *s = w->state;
  uint32_t own = s->part[v], size = s->graph->size[v], count = cm_kway_ties(s, v);
  uint32_t best = w->emptiest != own && room(w, w->emptiest) >= size ? w->emptiest : NONE;
  int64_t tied = best != NONE ? 0 : -1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t p;
    int64_t tie = cm_kway_tie_at(s, v, i, &p);
    if (p == own || room(w, p) < size || tie < tied)
      continue;
    if (tie > tied || best == NONE || room(w, p) > room(w, best) || (room(w, p) == room(w, best) && p < best)) {
      tied = tie;
      best = p;
    }
  }
  *gain = tied - s->inner[v];
  return best;
}

/* Gains for their size, losses by it. */
static int64_t key_of(const relief *w, uint32_t v, int64_t gain)
{
  enum { FINE = 16 }; /* fractions of a small loss count */
  int64_t size = w->state->graph->size[v] > 0 ? w->state->graph->size[v] : 1;
  if (gain >= 0)
    return gain < INT64_MAX / size ? gain * size : INT64_MAX;
  return gain > INT64_MIN / FINE ? gain * FINE / size : gain / size;
}

static cm_status offer(relief *w, uint32_t v, cm_error *error)
{
  int64_t gain;
  bool in = w->place[v] != CM_INDEXED_HEAP_ABSENT;
  if (w->state->load[w->state->part[v]] <= w->most || target_of(w, v, &gain) == NONE) {
    if (in)
      cm_indexed_heap_remove(&w->heap, v);
    return CM_OK;
  }
  if (!in)
    return cm_indexed_heap_push(&w->heap, v, key_of(w, v, gain), w->state->run->memory, error);
  cm_indexed_heap_change(&w->heap, v, key_of(w, v, gain));
  return CM_OK;
}

static cm_status relieve(relief *w, int64_t *total, cm_error *error)
{
  cm_kway *s = w->state;
  const cm_csr_graph *g = s->graph;
  find_emptiest(w);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    if (offer(w, v, error) != CM_OK)
      return error->status;
  while (w->heap.count > 0) {
    uint32_t v = w->heap.item[0].vertex;
    int64_t promised = w->heap.item[0].key, gain;
    uint32_t to = s->load[s->part[v]] > w->most ? target_of(w, v, &gain) : NONE;
    if (to == NONE || key_of(w, v, gain) < promised) {
      if (offer(w, v, error) != CM_OK)
        return error->status;
      continue;
    }
    cm_indexed_heap_remove(&w->heap, v);
    cm_kway_move(s, v, to);
    *total += gain;
    if (to == w->emptiest) /* others only lose room, but for parts that are over */
      find_emptiest(w);
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      if (offer(w, g->neighbour[i], error) != CM_OK)
        return error->status;
  }
  return cm_run_check(s->run, error);
}

cm_status cm_kway_relieve(cm_kway *state, uint64_t most, int64_t *gain, cm_error *error)
{
  relief w = {.state = state, .most = most};
  uint32_t n = state->graph->vertex_count;
  if (CM_NEW(state->run->memory, w.place, n, error) != CM_OK)
    return error->status;
  memset(w.place, 0xff, n * sizeof *w.place);
  w.heap.place = w.place;
  cm_status status = relieve(&w, gain, error);
  cm_indexed_heap_free(&w.heap);
  cm_free(w.place);
  return status;
}
