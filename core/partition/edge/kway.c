#include "core/partition/edge/kway.h"


#define NONE UINT32_MAX

void cm_kway_free(cm_kway *state)
{
  if (state == NULL)
    return;
  CM_FREE(state->load, state->vertex, state->tie_part, state->tie_weight, state->border, state);
}

static void tie_add(cm_kway *s, cm_kway_vertex *v, uint32_t part, int64_t weight)
{
  uint64_t at = v->first;
  if (v->tie_count == CM_KWAY_FULL) {
    s->tie_weight[at + part] += weight;
    return;
  }
  uint64_t end = at + v->tie_count;
  for (; at < end; at++)
    if (s->tie_part[at] == part) {
      s->tie_weight[at] += weight;
      return;
    }
  s->tie_part[end] = part;
  s->tie_weight[end] = weight;
  v->tie_count++;
}

/* What tied v to one part ties it to another now. */
static void tie_pass(cm_kway *s, cm_kway_vertex *v, uint32_t from, uint32_t to, int64_t weight)
{
  uint64_t first = v->first, none = UINT64_MAX, old = none, new = none;
  if (v->tie_count == CM_KWAY_FULL) {
    s->tie_weight[first + from] -= weight;
    s->tie_weight[first + to] += weight;
    return;
  }
  uint64_t end = first + v->tie_count;
  for (uint64_t at = first; at < end && (old == none || new == none); at++) {
    if (s->tie_part[at] == from)
      old = at;
    else if (s->tie_part[at] == to)
      new = at;
  }
  s->tie_weight[old] -= weight;
  bool gone = s->tie_weight[old] == 0;
  if (new != none)
    s->tie_weight[new] += weight;
  else {
    new = gone ? old : end;
    v->tie_count += !gone;
    s->tie_part[new] = to;
    s->tie_weight[new] = weight;
    return;
  }
  if (gone) {
    v->tie_count--;
    s->tie_part[old] = s->tie_part[end - 1];
    s->tie_weight[old] = s->tie_weight[end - 1];
  }
}

/* Puts v on the border's list or takes it off, as it now stands. */
static void settle_border(cm_kway *s, uint32_t v)
{
  cm_kway_vertex *own = &s->vertex[v];
  bool outside = own->inner < own->degree;
  uint32_t at = own->place;
  if (outside && at == NONE) {
    own->place = s->border_count;
    s->border[s->border_count++] = v;
  } else if (!outside && at != NONE) {
    uint32_t last = s->border[--s->border_count];
    s->border[at] = last;
    s->vertex[last].place = at;
    own->place = NONE;
  }
}

static void fill(cm_kway *s)
{
  const cm_csr_graph *g = s->graph;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    cm_kway_vertex *own = &s->vertex[v];
    s->load[s->part[v]] += g->size[v];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t p = s->part[g->neighbour[i]];
      int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
      if (weight == 0)
        continue;
      own->degree += weight;
      if (p == s->part[v])
        own->inner += weight;
      tie_add(s, own, p, weight);
    }
    s->cut += own->degree - own->inner;
    own->place = NONE;
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
  CM_TRY(CM_NEW(memory, s, 1, error));
  *s = (cm_kway){.graph = graph, .run = run, .parts = parts, .part = part};
  cm_status status = CM_NEW(memory, s->vertex, n, error);
  uint64_t ties = 0;
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    uint64_t degree = cm_csr_graph_degree(graph, v);
    s->vertex[v].tie_count = degree >= parts ? CM_KWAY_FULL : 0;
    s->vertex[v].first = ties;
    ties += degree >= parts ? parts : degree;
  }
  if (status == CM_OK && (CM_NEW(memory, s->tie_part, ties, error) != CM_OK || CM_NEW(memory, s->tie_weight, ties, error) != CM_OK ||
                          CM_NEW(memory, s->load, parts, error) != CM_OK || CM_NEW(memory, s->border, n, error) != CM_OK))
    status = error->status;
  CM_TRY_OR(status, cm_kway_free(s));
  fill(s);
  *state = s;
  return CM_OK;
}

void cm_kway_move(cm_kway *s, uint32_t v, uint32_t to)
{
  const cm_csr_graph *g = s->graph;
  uint32_t from = s->part[v];
  int64_t there = cm_kway_tie(s, v, to);
  s->cut += s->vertex[v].inner - there;
  s->vertex[v].inner = there;
  s->part[v] = to;
  s->load[from] -= g->size[v];
  s->load[to] += g->size[v];
  settle_border(s, v);
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i], p = s->part[u];
    cm_kway_vertex *other = &s->vertex[u];
    int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
    if (weight == 0)
      continue;
    tie_pass(s, other, from, to, weight);
    if (p != from && p != to)
      continue;
    other->inner += p == to ? weight : -weight;
    settle_border(s, u);
  }
}
