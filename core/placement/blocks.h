/* Placement of many parts, block by block: in a good linear order of the parts and along Hilbert's curve over the
 * cores, runs of 4^l are blocks, of parts as of cores. Blocks of parts are placed on blocks of cores, the largest
 * first, annealed, and taken apart by four (docs/explanation/placement.md). */
#pragma once

#include "core/partition/edge/csr_graph.h"
#include "core/partition/graph.h"
#include "core/placement/task.h"

typedef struct cm_blocks_options {
  double sweeps;   /* proposals for every part on the finest level; four times as many for every block above */
  double entries;  /* of the graphs of all levels that a descent looks at, about; 0: no bound */
  uint32_t cycles; /* times that the placement found is cut in blocks and annealed again, from a lower temperature */
} cm_blocks_options;

typedef struct cm_blocks_result {
  uint64_t curve, cost; /* sum over edges of weight * distance: in order along the curve, and at the end */
} cm_blocks_result;

/* Fills at [parts] with numbers of cores in the region (those of the task's axes), no two the same, at most as many parts as
 * cores. Does not depend on the number of threads. Phases "order", "place". O(sweeps * levels * entries), or what `entries` allows; memory 16
 * bytes an entry. */
cm_status cm_place_by_blocks(const cm_graph *parts, const cm_place_task *task, const cm_blocks_options *options, uint32_t *at,
                             cm_blocks_result *result, cm_error *error);

/* The graph of parts numbered along an order [parts], NULL: as they are; weights shifted to 32 bits. O(entries). */
cm_status cm_graph_renumbered(const cm_graph *parts, const uint32_t *order, cm_run *run, cm_csr_graph **graph,
                              cm_error *error);

/* A linear order of the vertices in which those that talk much are near each other, on every scale: clusters of
 * clusters, each cluster's members by where their neighbours stand. order [graph->vertex_count]. O(entries). */
cm_status cm_order_by_clusters(cm_csr_graph *graph, uint64_t seed, cm_run *run, uint32_t *order, cm_error *error);
