/* Networks from arrays in memory: rows, edges, nets. All is copied; the caller owns *topology. Errors: CM_BAD_NETWORK with the entry as
 * its place, CM_TOO_LARGE, memory and run errors. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

typedef struct cm_row_arrays {
  bool directed;
  uint32_t vertices;
  const uint64_t *first;  /* [vertices + 1] */
  const uint32_t *target; /* of vertex v: first[v] .. first[v + 1] - 1, in any order */
  const double *weight;   /* of each; NULL: 1 each */
} cm_row_arrays;

/* Directed, the entries are synapses; else neighbours, every edge standing in both rows, and loops are dropped. Repeats are added up.
 * O(entries log(entries per vertex)). */
cm_status cm_topology_from_csr(const cm_row_arrays *rows, cm_run *run, cm_topology **topology, cm_error *error);

typedef struct cm_edge_arrays {
  bool directed;
  uint32_t vertices;
  uint64_t count;
  const uint32_t *from, *to; /* [count] */
  const double *weight;      /* [count]; NULL: 1 each */
} cm_edge_arrays;

/* Edges in any order; undirected, each stands once, and loops are dropped. Repeats are added up. O(edges log(edges per vertex)). */
cm_status cm_topology_from_edges(const cm_edge_arrays *edges, cm_run *run, cm_topology **topology, cm_error *error);

typedef struct cm_net_arrays {
  uint32_t vertices, count;
  const uint64_t *first; /* [count + 1] */
  const uint32_t *pin;   /* the first of a net is its source */
  const double *weight;  /* [count] rates; NULL: 1 each */
} cm_net_arrays;

/* A hypergraph as hMETIS has it: a pin that a net names twice counts once, a net of one vertex is dropped. O(pins log(pins per net)). */
cm_status cm_topology_from_nets(const cm_net_arrays *nets, cm_run *run, cm_topology **topology, cm_error *error);

/* Gives every vertex its size [vertices]. On failure the topology is unchanged. O(vertices). */
cm_status cm_topology_set_sizes(cm_topology *topology, const uint32_t *size, cm_memory *memory, cm_error *error);
