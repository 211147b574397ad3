/* Communities while they are being brought to processors: what fit.c and join.c share. */
#pragma once

#include "core/partition/graph.h"

typedef struct cm_fit {
  const cm_graph *graph;
  cm_run *run;
  uint32_t *community; /* [vertices] */
  uint32_t count;
  uint32_t *capacity;  /* [processors] falling */
  uint32_t processors;
  uint32_t *nodes;     /* [count] */
  uint32_t *order;     /* [count] communities by falling number of nodes */
  uint32_t *slot;      /* [count] capacity of the processor that each is meant for */
} cm_fit;

/* Communities by number of nodes, ascending or falling, the lower number first among equals: order [count]. */
cm_status cm_fit_sort(const cm_fit *fit, bool largest_first, uint32_t *order, cm_error *error);

/* Counts nodes [count] anew. */
void cm_fit_count(cm_fit *fit);

/* One round of joining while there are more communities than processors: some of the smallest go to the community with
 * which modularity falls least. O(entries log(degree)). */
cm_status cm_fit_join(cm_fit *fit, cm_error *error);
