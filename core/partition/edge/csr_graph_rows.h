/* What csr_graph.c and csr_contract.c make graphs with. */
#pragma once

#include "core/partition/edge/csr_graph.h"

/* How weights are kept: all 1, in 32 bits, in 64. */
typedef enum cm_csr_width { CM_CSR_UNIFORM, CM_CSR_NARROW, CM_CSR_WIDE } cm_csr_width;

/* A graph of so many vertices without entries, in units of 1. CM_NO_MEMORY or CM_MEMORY_LIMIT where there is none left. */
cm_status cm_csr_new_graph(cm_run *run, uint32_t vertices, cm_csr_graph **graph, cm_error *error);

/* Room for the weights of graph->entry_count entries; the graph owns it. The same errors. */
cm_status cm_csr_new_weights(cm_run *run, cm_csr_graph *graph, cm_csr_width kept, cm_error *error);

/* Fill in size_total and size_max, and weight_total. O(vertices), O(entries). */
void cm_csr_count_sizes(cm_csr_graph *graph);
void cm_csr_count_weights(cm_csr_graph *graph);

/* Writes one entry, with its weight where weights are kept. */
static inline void cm_csr_put(cm_csr_graph *graph, uint64_t at, uint32_t neighbour, uint64_t weight)
{
  graph->neighbour[at] = neighbour;
  if (graph->weight != NULL)
    graph->weight[at] = (uint32_t)weight;
  else if (graph->wide != NULL)
    graph->wide[at] = weight;
}
