/* The undirected weighted graph on which the source's method works: no self loops, both directions stored.
 * For a directed network an edge's weight is the sum of both directions (source 0). */
#pragma once

#include <stdint.h>

#include "base/run.h"
#include "core/network/demand.h"
#include "core/network/topology_file.h"

/* Arrays are of cm_allocate: they may stand in files (graph_rows.h). */
typedef struct cm_graph {
  uint32_t vertex_count;
  uint64_t entry_count;  /* twice the edges */
  uint64_t *first;       /* [vertex_count + 1] */
  uint32_t *neighbour;   /* [entry_count] ascending inside a row */
  uint64_t *weight;      /* [entry_count] scaled */
  uint32_t *size;        /* [vertex_count] */
  uint64_t size_total;
  uint64_t weight_total; /* of all edges, each counted once */
} cm_graph;

void cm_graph_free(cm_graph *graph); /* NULL is allowed */

/* The graph of a topology's synapses. O(pins) time; 12 bytes per entry, and while building 4 or 8 per pin of at most 32
 * million pins at a time. */
cm_status cm_graph_from_topology(const cm_demand *demand, cm_run *run, cm_graph **graph, cm_error *error);

/* Merges the vertices with equal map[v] < coarse_count into one each: sizes and weights add up, edges inside a
 * merged vertex vanish. Every coarse number must have a vertex. O(entries). */
cm_status cm_graph_contract(const cm_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_graph **coarse, cm_error *error);

/* cm_graph_contract of cm_graph_from_topology, without the latter's graph where a table of all pairs of parts is smaller. O(pins + parts
 * squared). */
cm_status cm_graph_of_parts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, cm_graph **graph,
                            cm_error *error);

/* A graph from rows of neighbours, in any order; repeated ones add up. first [vertices + 1]. Sizes are 1. */
cm_status cm_graph_from_rows(uint32_t vertices, const uint64_t *first, const uint32_t *neighbour,
                             const uint64_t *weight, cm_run *run, cm_graph **graph, cm_error *error);

/* The subgraph induced by vertex [count] (ascending). `scratch` [graph->vertex_count] is overwritten at those
 * vertices only. O(entries of the chosen rows). */
cm_status cm_graph_induce(const cm_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *scratch,
                          cm_run *run, cm_graph **induced, cm_error *error);

/* Writes a coarsened level as a topology file with the coarse vertex of each finer one, parent [finer_count]. `stored`:
 * not packed, for a file that is read once and soon. */
cm_status cm_graph_save(const cm_graph *graph, const uint32_t *parent, uint32_t finer_count, uint64_t weight_scale,
                        bool stored, const char *path, cm_run *run, cm_error *error);

/* Reads a level back: the graph and the coarse vertex of each finer one, *parent [*finer_count] (the caller's,
 * cm_free). CM_BAD_NETWORK when the file is no coarsened level. */
cm_status cm_graph_load(const char *path, cm_run *run, cm_graph **graph, uint32_t **parent, uint32_t *finer_count,
                        cm_error *error);
