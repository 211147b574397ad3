/* Minimum cuts (maximum flow by Dinic 1970) on small graphs. */
#pragma once

#include "core/operators/arena.h"

enum { CM_CUT_SOURCE = 0, CM_CUT_SINK = 1 };
#define CM_CUT_INFINITE (INT64_MAX / 4)

typedef struct cm_cut {
  cm_arena *arena;
  uint32_t node_count;
  size_t edge_count, edge_capacity;
  struct cm_cut_edge *edges; /* edge i and its reverse i ^ 1 */
} cm_cut;

/* An empty problem with source and sink. */
void cm_cut_init(cm_cut *cut, cm_arena *arena);

/* One more node; its number. */
uint32_t cm_cut_node(cm_cut *cut);

/* `cost` is paid when `from` is on the source's side and `to` on the sink's. */
cm_status cm_cut_edge(cm_cut *cut, uint32_t from, uint32_t to, int64_t cost, cm_error *error);

/* Solves: *side (of the arena) is 1 for nodes on the sink's side; the cut's cost in *cost. O(V^2 E) at worst. The
 * source's side is as small as it can be. */
cm_status cm_cut_solve(cm_cut *cut, uint8_t **side, int64_t *cost, cm_error *error);
