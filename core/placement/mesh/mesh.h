/* The integrated mapper: vertices of a graph straight to cores, for the least sum of weight * distance (objective
 * `edge`). Multilevel on the graph and on the mesh at once. docs/explanation/placement.md explains the method and
 * its sources. */
#pragma once

#include "core/partition/edge/csr_graph.h"
#include "core/placement/axes.h"

typedef struct cm_mesh_options {
  uint64_t most;    /* a core holds at most so much size: hard */
  uint32_t starts;  /* coarse starts of a descent, the best goes on */
  uint32_t descents; /* at least 1; what the others found is combined with the best */
  double visits;    /* of vertices when annealing the finest level, on 64 cores; more on more cores, coarser levels */
  double sweeps_max; /* visits of each vertex of the finest level at most, on 64 cores */
  uint32_t cycles;  /* V-cycles after the first descent */
  uint64_t seed;
} cm_mesh_options;

/* Fills at [vertices] with numbers of cores in the list of the axes; no core exceeds options->most. *cost is the sum
 * over edges of weight * distance in the graph's units. Does not depend on the number of threads. Phases "start",
 * "refine". CM_LIMIT_BROKEN when the vertices cannot be made to fit. O(sweeps * vertices + entries * (columns + rows))
 * a level. */
cm_status cm_map_on_mesh(cm_csr_graph *graph, const cm_axes *axes, const cm_mesh_options *options, cm_run *run,
                         uint32_t *at, uint64_t *cost, cm_error *error);
