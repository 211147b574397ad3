#include <string.h>

#include "core/partition/indexed_heap.h"
#include "core/partition/nets/net_fm.h"

#define NONE UINT32_MAX

typedef struct relief {
  cm_net_state *state;
  const uint64_t *most;
  cm_run *run;
  cm_indexed_heap heap;
  uint32_t *place;
  uint32_t emptiest;
} relief;

static uint64_t room(const relief *w, uint32_t p)
{
  return w->state->load[p] < w->most[p] ? w->most[p] - w->state->load[p] : 0;
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
  const cm_net_state *s = w->state;
  const cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t size = s->graph->size[v], best = w->emptiest != s->part[v] && room(w, w->emptiest) >= size ? w->emptiest : NONE;
  int64_t tied = best != NONE ? 0 : -1;
  for (uint32_t i = 0; i < s->tie_count[v]; i++) {
    uint32_t p = row[i].part;
    if (p == s->part[v] || room(w, p) < size || row[i].weight < tied)
      continue;
    if (row[i].weight > tied || best == NONE || room(w, p) > room(w, best) || (room(w, p) == room(w, best) && p < best)) {
      tied = row[i].weight;
      best = p;
    }
  }
  *gain = s->alone[v] - s->degree[v] + tied;
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
  uint32_t p = w->state->part[v];
  bool in = w->place[v] != CM_INDEXED_HEAP_ABSENT;
  if (w->state->load[p] <= w->most[p] || target_of(w, v, &gain) == NONE) {
    if (in)
      cm_indexed_heap_remove(&w->heap, v);
    return CM_OK;
  }
  if (!in)
    return cm_indexed_heap_push(&w->heap, v, key_of(w, v, gain), w->run->memory, error);
  cm_indexed_heap_change(&w->heap, v, key_of(w, v, gain));
  return CM_OK;
}

static cm_status relieve(relief *w, int64_t *total, cm_error *error)
{
  cm_net_state *s = w->state;
  find_emptiest(w);
  for (uint32_t v = 0; v < s->graph->vertex_count; v++)
    if (offer(w, v, error) != CM_OK)
      return error->status;
  while (w->heap.count > 0) {
    uint32_t v = w->heap.item[0].vertex;
    int64_t promised = w->heap.item[0].key, gain;
    uint32_t to = s->load[s->part[v]] > w->most[s->part[v]] ? target_of(w, v, &gain) : NONE;
    if (to == NONE || key_of(w, v, gain) < promised) {
      if (offer(w, v, error) != CM_OK)
        return error->status;
      continue;
    }
    cm_indexed_heap_remove(&w->heap, v);
    cm_net_forget_touched(s);
    cm_net_move(s, v, to);
    *total += gain;
    find_emptiest(w);
    for (uint32_t i = 0; i < s->touched_count; i++)
      if (s->touched[i] != v && offer(w, s->touched[i], error) != CM_OK)
        return error->status;
  }
  return CM_OK;
}

cm_status cm_net_rebalance(cm_net_state *state, const uint64_t *most, cm_run *run, int64_t *gain, cm_error *error)
{
  relief w = {.state = state, .most = most, .run = run};
  uint32_t n = state->graph->vertex_count;
  if (CM_NEW(run->memory, w.place, n, error) != CM_OK)
    return error->status;
  memset(w.place, 0xff, n * sizeof *w.place);
  w.heap.place = w.place;
  cm_status status = relieve(&w, gain, error);
  cm_indexed_heap_free(&w.heap);
  cm_free(w.place);
  return status;
}
