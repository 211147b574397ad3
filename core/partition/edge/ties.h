/* What ties a vertex to the parts that it touches: scratch of one thread, one vertex after another. */
#pragma once

#include "core/partition/edge/csr_graph.h"

typedef struct cm_ties {
  int64_t *weight;   /* [parts] valid for those that are touched */
  uint8_t *seen;     /* [parts] whether it is among `touched` */
  uint32_t *touched; /* [parts] the parts but its own that the vertex under way touches */
  uint32_t count;    /* of `touched` */
  int64_t inner;     /* weight to its own part */
} cm_ties;

/* The caller frees with cm_ties_free, after a failure too. */
static inline cm_status cm_ties_new(cm_memory *memory, uint32_t parts, cm_ties *ties, cm_error *error)
{
  *ties = (cm_ties){0};
  if (CM_NEW(memory, ties->weight, parts, error) != CM_OK || CM_NEW(memory, ties->seen, parts, error) != CM_OK ||
      CM_NEW(memory, ties->touched, parts, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static inline void cm_ties_free(cm_ties *ties)
{
  cm_free(ties->weight);
  cm_free(ties->seen);
  cm_free(ties->touched);
}

/* Adds up the ties of v, in place of those of the vertex before. O(degree). */
static inline void cm_ties_gather(cm_ties *t, const cm_csr_graph *g, const uint32_t *part, uint32_t v)
{
  uint32_t own = part[v], count = 0;
  int64_t inner = 0;
  for (uint32_t i = 0; i < t->count; i++)
    t->seen[t->touched[i]] = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t p = part[g->neighbour[i]];
    int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
    if (p == own) {
      inner += weight;
      continue;
    }
    if (!t->seen[p]) {
      t->seen[p] = 1;
      t->weight[p] = 0;
      t->touched[count++] = p;
    }
    t->weight[p] += weight;
  }
  t->count = count;
  t->inner = inner;
}
