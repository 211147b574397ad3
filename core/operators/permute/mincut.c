/* Dinic's algorithm with explicit stacks. */
#include "core/operators/permute/mincut.h"

#include <string.h>

struct cm_cut_edge {
  uint32_t to;
  int64_t left; /* residual capacity */
};

void cm_cut_init(cm_cut *cut, cm_arena *arena)
{
  *cut = (cm_cut){.arena = arena, .node_count = 2};
}

uint32_t cm_cut_node(cm_cut *cut)
{
  return cut->node_count++;
}

cm_status cm_cut_edge(cm_cut *cut, uint32_t from, uint32_t to, int64_t cost, cm_error *error)
{
  void *block = cut->edges;
  if (from == to || cost <= 0)
    return CM_OK;
  CM_TRY(cm_arena_grow(cut->arena, &block, &cut->edge_capacity, cut->edge_count + 1, sizeof *cut->edges, error));
  cut->edges = block;
  cut->edges[cut->edge_count++] = (struct cm_cut_edge){.to = to, .left = cost};
  cut->edges[cut->edge_count++] = (struct cm_cut_edge){.to = from, .left = 0};
  return CM_OK;
}

typedef struct solver {
  cm_cut *cut;
  size_t *first, *edge; /* edges by node */
  size_t *next;         /* next edge to try, per node */
  uint32_t *level, *queue;
  size_t *path;
} solver;

static void list_edges(solver *s)
{
  const cm_cut *c = s->cut;
  for (size_t i = 0; i < c->edge_count; i++)
    s->first[c->edges[i ^ 1].to + 1]++;
  for (uint32_t v = 0; v < c->node_count; v++)
    s->first[v + 1] += s->first[v];
  memcpy(s->next, s->first, c->node_count * sizeof *s->next);
  for (size_t i = 0; i < c->edge_count; i++)
    s->edge[s->next[c->edges[i ^ 1].to]++] = i;
}

/* Levels by breadth; true when the sink is reached. */
static int find_levels(solver *s)
{
  const cm_cut *c = s->cut;
  uint32_t head = 0, tail = 0;
  memset(s->level, 0, c->node_count * sizeof *s->level);
  s->level[CM_CUT_SOURCE] = 1;
  s->queue[tail++] = CM_CUT_SOURCE;
  while (head < tail) {
    uint32_t v = s->queue[head++];
    for (size_t k = s->first[v]; k < s->first[v + 1]; k++) {
      const struct cm_cut_edge *e = &c->edges[s->edge[k]];
      if (e->left > 0 && s->level[e->to] == 0) {
        s->level[e->to] = s->level[v] + 1;
        s->queue[tail++] = e->to;
      }
    }
  }
  return s->level[CM_CUT_SINK] != 0;
}

/* One augmenting path along the levels; its flow, or 0. */
static int64_t augment(solver *s)
{
  const cm_cut *c = s->cut;
  size_t depth = 0;
  uint32_t v = CM_CUT_SOURCE;
  while (v != CM_CUT_SINK) {
    for (; s->next[v] < s->first[v + 1]; s->next[v]++) {
      const struct cm_cut_edge *e = &c->edges[s->edge[s->next[v]]];
      if (e->left > 0 && s->level[e->to] == s->level[v] + 1)
        break;
    }
    if (s->next[v] < s->first[v + 1]) {
      s->path[depth++] = s->edge[s->next[v]];
      v = c->edges[s->path[depth - 1]].to;
    } else if (depth == 0)
      return 0;
    else {
      v = c->edges[s->path[--depth] ^ 1].to;
      s->next[v]++;
    }
  }
  int64_t flow = CM_CUT_INFINITE;
  for (size_t i = 0; i < depth; i++)
    flow = c->edges[s->path[i]].left < flow ? c->edges[s->path[i]].left : flow;
  for (size_t i = 0; i < depth; i++) {
    c->edges[s->path[i]].left -= flow;
    c->edges[s->path[i] ^ 1].left += flow;
  }
  return flow;
}

cm_status cm_cut_solve(cm_cut *cut, uint8_t **side, int64_t *cost, cm_error *error)
{
  solver s = {.cut = cut};
  size_t n = cut->node_count;
  if (CM_ARENA_NEW(cut->arena, s.first, n + 1, error) != CM_OK || CM_ARENA_NEW(cut->arena, s.next, n, error) != CM_OK ||
      CM_ARENA_NEW(cut->arena, s.edge, cut->edge_count, error) != CM_OK ||
      CM_ARENA_NEW(cut->arena, s.level, n, error) != CM_OK || CM_ARENA_NEW(cut->arena, s.queue, n, error) != CM_OK ||
      CM_ARENA_NEW(cut->arena, s.path, n, error) != CM_OK || CM_ARENA_NEW(cut->arena, *side, n, error) != CM_OK)
    return error->status;
  list_edges(&s);
  int64_t total = 0, flow;
  while (total < CM_CUT_INFINITE && find_levels(&s)) {
    memcpy(s.next, s.first, n * sizeof *s.next);
    while (total < CM_CUT_INFINITE && (flow = augment(&s)) > 0)
      total += flow;
  }
  for (size_t v = 0; v < n; v++)
    (*side)[v] = s.level[v] == 0;
  *cost = total;
  return CM_OK;
}
