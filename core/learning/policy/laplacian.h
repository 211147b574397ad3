/* The normalised Laplacian of a logical graph: L = I - D^-1 A, where A holds the weights between nodes
 * and D their sums by row (random-walk normalisation: a row of L X is what a node has less the weighted mean of what its
 * neighbours have). A node without edges has a row of zeros. */
#pragma once

#include "core/partition/graph.h"

typedef struct cm_laplacian {
  const cm_graph *graph; /* borrowed: its rows are those of A */
  float *weight;         /* [entries] of A, over the largest of all */
  float *inverse;        /* [nodes] 1 / sum of a row; 0 where there are no edges */
} cm_laplacian;

cm_status cm_laplacian_new(const cm_graph *graph, cm_run *run, cm_laplacian **laplacian, cm_error *error);
void cm_laplacian_free(cm_laplacian *laplacian); /* NULL is allowed */

/* y = L x, both [nodes * width] row by row, not the same array. O(entries * width). */
void cm_laplacian_apply(const cm_laplacian *laplacian, uint32_t width, const float *x, float *y);

/* y = L^T x; scratch [nodes * width]. */
void cm_laplacian_apply_transposed(const cm_laplacian *laplacian, uint32_t width, const float *x, float *scratch,
                                   float *y);
