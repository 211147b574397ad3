/* The graph of the edge objective and of mesh mapping, small enough for hundreds of millions of synapses: both
 * directions of every edge in compressed rows, four bytes an entry where all weights are equal, eight where they are
 * not.
 *
 * Rows have no order and may name a neighbour twice (synapses in both directions): cuts, gains and contraction do
 * not mind. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/run.h"
#include "core/network/demand.h"

typedef struct cm_csr_graph {
  uint32_t vertex_count;
  uint64_t entry_count;   /* twice the edges */
  uint64_t *first;        /* [vertex_count + 1] */
  uint32_t *neighbour;    /* [entry_count] never the vertex itself */
  uint32_t *weight;       /* [entry_count] in units of weight_unit; NULL: wide, or 1 each */
  uint64_t *wide;         /* [entry_count] instead of `weight` where some weight needs more than 32 bits; else NULL */
  uint32_t *size;         /* [vertex_count] */
  uint64_t size_total;
  uint32_t size_max;      /* of a vertex */
  bool repeats;           /* a row may name a neighbour more than once */
  uint64_t weight_total;  /* of all edges, each counted once, in units */
  uint64_t weight_unit;   /* scaled weight (cm_topology) of a weight of 1 here: what all weights have in common */
} cm_csr_graph;

/* A partition of a graph's vertices, and what its parts hold. */
typedef struct cm_parts {
  uint32_t *part; /* [vertices] */
  uint32_t count;
  uint64_t *load; /* [count] sum of their sizes */
} cm_parts;

/* The weight of entry i. O(1). */
static inline uint64_t cm_csr_graph_weight(const cm_csr_graph *graph, uint64_t i)
{
  return graph->weight != NULL ? graph->weight[i] : graph->wide != NULL ? graph->wide[i] : 1;
}

static inline uint64_t cm_csr_graph_degree(const cm_csr_graph *graph, uint32_t v)
{
  return graph->first[v + 1] - graph->first[v];
}

void cm_csr_graph_free(cm_csr_graph *graph); /* NULL is allowed */

/* The undirected graph of a topology's synapses, self loops left out; sizes are the topology's. Parallel. O(pins)
 * time, 8 bytes per synapse of a directed network (4 per entry of an undirected one), as many again where weights
 * differ. */
cm_status cm_csr_graph_from_topology(const cm_demand *demand, cm_run *run, cm_csr_graph **graph, cm_error *error);

/* Merges the vertices with equal map[v] < coarse_count into one each: sizes and weights add up, edges inside a
 * merged vertex vanish, every neighbour stands once. Every coarse number must have a vertex. Parallel, the same for
 * any number of threads. O(entries). */
cm_status cm_csr_graph_contract(const cm_csr_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                              cm_csr_graph **coarse, cm_error *error);

/* The subgraph induced by vertex [count]. `local` [graph->vertex_count] is overwritten at those vertices only.
 * O(entries of their rows). */
cm_status cm_csr_graph_induce(const cm_csr_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *local,
                            cm_run *run, cm_csr_graph **induced, cm_error *error);

/* Weight of the edges between different parts, in units. O(entries). */
uint64_t cm_csr_graph_cut(const cm_csr_graph *graph, const uint32_t *part);
