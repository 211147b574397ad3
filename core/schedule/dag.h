/* Directed acyclic graphs of tasks: rows both ways, heights, and the execution queue by height. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct cm_arc {
  uint32_t from, to;
  uint64_t weight; /* what goes along it (time of a transfer, bytes); 0 where that means nothing */
} cm_arc;

/* Compressed rows; the neighbours of a row ascend and are distinct. */
typedef struct cm_dag {
  uint32_t node_count;
  uint64_t arc_count;
  uint64_t *out_first; /* node_count + 1 */
  uint32_t *out;       /* arc_count */
  uint64_t *out_weight;
  uint64_t *in_first; /* node_count + 1 */
  uint32_t *in;
  uint64_t *in_weight;
  uint32_t *order; /* a topological order: always the lowest number that is free */
} cm_dag;

/* Builds a graph from arcs; arcs given twice become one with the sum of their weights. The caller's: cm_dag_free.
 * O(n + m log m) time, O(n + m) memory. Errors: CM_BAD_NETWORK for an end that is no node, a task that waits for
 * itself, a circle (names a node on it), weights whose sum overflows; memory. */
cm_status cm_dag_new(cm_memory *memory, uint32_t node_count, const cm_arc *arcs, uint64_t arc_count, cm_dag **made,
                     cm_error *error);
void cm_dag_free(cm_dag *dag); /* NULL is allowed */

/* height[v]: the longest weighted way from v to a sink, both ends' weights counted and arcs' too when `with_arcs`.
 * Sums saturate at UINT64_MAX. O(n + m). */
void cm_dag_heights(const cm_dag *dag, const uint64_t *weight, bool with_arcs, uint64_t *height);

/* depth[v]: the longest weighted way from a source to the beginning of v (v's own weight not counted). O(n + m). */
void cm_dag_depths(const cm_dag *dag, const uint64_t *weight, bool with_arcs, uint64_t *depth);

/* The execution queue by height: among the nodes without unexecuted predecessors always the one with the highest
 * priority, ties to the lowest number. `queue` has node_count places. O(m + n log n). Errors: memory. */
cm_status cm_dag_queue(const cm_dag *dag, const uint64_t *priority, cm_memory *memory, uint32_t *queue, cm_error *error);

/* True when there is an arc between them. O(log degree). */
bool cm_dag_has_arc(const cm_dag *dag, uint32_t from, uint32_t to);

/* True when `order` holds every node once and each after all its predecessors. Errors: memory. */
cm_status cm_dag_is_order(const cm_dag *dag, const uint32_t *order, cm_memory *memory, bool *is, cm_error *error);
