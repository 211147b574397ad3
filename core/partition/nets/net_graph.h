/* The hypergraph of small nets that the multilevel method by nets works on: every net is an axon with its source and its
 * targets as equal pins, so that connectivity is the sum over nets of weight * (parts that have a pin - 1). Nets inside
 * one vertex vanish, equal nets are one. */
#pragma once

#include <stdint.h>

#include "base/run.h"
#include "core/network/demand.h"

typedef struct cm_net_graph {
  uint32_t vertex_count, net_count;
  uint64_t pin_count;
  uint64_t *net_first;    /* [net_count + 1] */
  uint32_t *pin;          /* [pin_count] ascending inside a net, at least two */
  int64_t *net_weight;    /* [net_count] above 0; all together below 2^60 */
  uint64_t *vertex_first; /* [vertex_count + 1] */
  uint32_t *net;          /* [pin_count] nets of each vertex, ascending */
  uint32_t *size;         /* [vertex_count] */
  uint64_t size_total;
} cm_net_graph;

void cm_net_graph_free(cm_net_graph *graph); /* NULL is allowed */

/* The nets of a topology: axons of a directed network, edges of an undirected one; rates of 0 are left out. Where all
 * weights together exceed 2^60 they are divided by a power of two, none below 1. O(pins log(pins of a net)). */
cm_status cm_net_graph_from_topology(const cm_demand *demand, cm_run *run, cm_net_graph **graph, cm_error *error);

/* Merges the vertices of equal map[v] < coarse_count; every coarse number has a vertex. O(pins log(pins of a net)). */
cm_status cm_net_graph_contract(const cm_net_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                cm_net_graph **coarse, cm_error *error);

/* The vertices of one part: those with part[v] == which. */
typedef struct cm_net_side {
  const uint32_t *part; /* [vertices] */
  uint32_t which;
} cm_net_side;

/* Those vertices, and what nets have of them; local [vertex_count] gets their numbers there. O(pins log(pins of a net)). */
cm_status cm_net_graph_induce(const cm_net_graph *graph, cm_net_side side, uint32_t *local, cm_run *run, cm_net_graph **induced,
                              cm_error *error);
