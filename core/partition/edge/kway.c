#include "core/partition/edge/kway.h"

#include <string.h>

#define NONE UINT32_MAX

void cm_kway_free(cm_kway *state)
{
  if (state == NULL)
    return;
  cm_free(state->load);
  cm_free(state->inner);
  cm_free(state->degree);
  cm_free(state->first);
  cm_free(state->tie_part);
  cm_free(state->tie_weight);
  cm_free(state->tie_count);
  cm_free(state->border);
  cm_free(state->place);
  cm_free(state);
}

static void tie_add(cm_kway *s, uint32_t v, uint32_t part, int64_t weight)
{
  uint64_t at = s->first[v];
  if (s->tie_count[v] == CM_KWAY_FULL) {
    s->tie_weight[at + part] += weight;
    return;
  }
  uint64_t end = at + s->tie_count[v];
  for (; at < end; at++)
    if (s->tie_part[at] == part) {
      s->tie_weight[at] += weight;
      return;
    }
  s->tie_part[end] = part;
  s->tie_weight[end] = weight;
  s->tie_count[v]++;
}

static void tie_take(cm_kway *s, uint32_t v, uint32_t part, int64_t weight)
{
  uint64_t at = s->first[v];
  if (s->tie_count[v] == CM_KWAY_FULL) {
    s->tie_weight[at + part] -= weight;
    return;
  }
  while (s->tie_part[at] != part)
    at++;
  s->tie_weight[at] -= weight;
  if (s->tie_weight[at] == 0) {
    uint64_t last = s->first[v] + --s->tie_count[v];
    s->tie_part[at] = s->tie_part[last];
    s->tie_weight[at] = s->tie_weight[last];
  }
}

/* Puts v on the border's list or takes it off, as it now stands. */
static void settle_border(cm_kway *s, uint32_t v)
{
  bool outside = s->inner[v] < s->degree[v];
  uint32_t at = s->place[v];
  if (outside && at == NONE) {
    s->place[v] = s->border_count;
    s->border[s->border_count++] = v;
  } else if (!outside && at != NONE) {
    uint32_t last = s->border[--s->border_count];
    s->border[at] = last;
    s->place[last] = at;
    s->place[v] = NONE;
  }
}

static void fill(cm_kway *s)
{
  const cm_csr_graph *g = s->graph;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    uint32_t own = s->part[v];
    s->load[own] += g->size[v];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t p = s->part[g->neighbour[i]];
      int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
      if (weight == 0)
        continue;
      s->degree[v] += weight;
      if (p == own)
        s->inner[v] += weight;
      tie_add(s, v, p, weight);
    }
    s->cut += s->degree[v] - s->inner[v];
    s->place[v] = NONE;
    settle_border(s, v);
  }
  s->cut /= 2;
}

cm_status cm_kway_new(const cm_csr_graph *graph, uint32_t *part, uint32_t parts, cm_run *run, cm_kway **state,
                      cm_error *error)
{
  cm_kway *s;
  cm_memory *memory = run->memory;
  uint32_t n = graph->vertex_count;
  if (CM_NEW(memory, s, 1, error) != CM_OK)
    return error->status;
  *s = (cm_kway){.graph = graph, .run = run, .parts = parts, .part = part};
  cm_status status = CM_NEW(memory, s->first, (size_t)n + 1, error);
  if (status == CM_OK)
    status = CM_NEW(memory, s->tie_count, n, error);
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    uint64_t degree = cm_csr_graph_degree(graph, v);
    s->tie_count[v] = degree >= parts ? CM_KWAY_FULL : 0;
    s->first[v + 1] = s->first[v] + (degree >= parts ? parts : degree);
  }
  if (status == CM_OK &&
      (CM_NEW(memory, s->tie_part, s->first[n], error) != CM_OK ||
       CM_NEW(memory, s->tie_weight, s->first[n], error) != CM_OK || CM_NEW(memory, s->load, parts, error) != CM_OK ||
       CM_NEW(memory, s->inner, n, error) != CM_OK || CM_NEW(memory, s->degree, n, error) != CM_OK ||
       CM_NEW(memory, s->border, n, error) != CM_OK || CM_NEW(memory, s->place, n, error) != CM_OK))
    status = error->status;
  if (status != CM_OK) {
    cm_kway_free(s);
    return status;
  }
  fill(s);
  *state = s;
  return CM_OK;
}

void cm_kway_move(cm_kway *s, uint32_t v, uint32_t to)
{
  const cm_csr_graph *g = s->graph;
  uint32_t from = s->part[v];
  int64_t there = cm_kway_tie(s, v, to);
  s->cut += s->inner[v] - there;
  s->inner[v] = there;
  s->part[v] = to;
  s->load[from] -= g->size[v];
  s->load[to] += g->size[v];
  settle_border(s, v);
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i];
    int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
    if (weight == 0)
      continue;
    tie_take(s, u, from, weight);
    tie_add(s, u, to, weight);
    if (s->part[u] == from)
      s->inner[u] -= weight;
    else if (s->part[u] == to)
      s->inner[u] += weight;
    else
      continue;
    settle_border(s, u);
  }
}
