/* Annealing by exchanging the occupants of two cells, for any number of cells: an exchange is judged from the rows of
 * its two occupants, so that no table is kept. */
#pragma once

#include "base/random.h"
#include "core/partition/edge/csr_graph.h"
#include "core/placement/axes.h"

/* Cells in a plane: what stands in cell c is at column[c], row[c] of the axes. */
typedef struct cm_cells {
  const cm_axes *axes;
  uint32_t count;
  const uint32_t *column, *row; /* [count] */
  const uint32_t *at;           /* [axes->columns * axes->rows] cell there, CM_NO_CELL: none */
  uint32_t spacing;             /* columns or rows from a cell to the next, about */
  uint32_t pinned;              /* of the last so many cells what they hold stays */
} cm_cells;

#define CM_NO_CELL UINT32_MAX

typedef struct cm_exchange_schedule {
  double hot, cold; /* temperatures, in typical costs of moving a vertex to the next cell */
  uint32_t sweeps;  /* proposals for every vertex */
  cm_random *random;
  int64_t *gain;    /* gets what the sum over edges of weight * distance fell by, about where weights do not fit 32 bits; NULL: nobody asks */
} cm_exchange_schedule;

/* Anneals cell [graph->vertex_count], all different; as many vertices as cells. Does not depend on the number of threads.
 * O(sweeps * entries). */
cm_status cm_anneal_by_exchange(const cm_csr_graph *graph, const cm_cells *cells, const cm_exchange_schedule *schedule, cm_run *run,
                                uint32_t *cell, cm_error *error);
