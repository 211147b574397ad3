/* The directed hypergraph on which the axon objective is partitioned: every net is one axon with its source, its
 * weight (spike rate) and its distinct targets. */
#ifndef CM_PARTITION_HYPERGRAPH_H
#define CM_PARTITION_HYPERGRAPH_H

#include <stdint.h>

#include "base/run.h"
#include "core/network/topology.h"

typedef struct cm_hypergraph {
  uint32_t vertex_count, net_count;
  uint64_t pin_count;
  const uint64_t *net_begin, *net_end; /* [net_count] targets of net e: pin[net_begin[e]] .. pin[net_end[e] - 1] */
  const uint32_t *pin;        /* targets, distinct inside a net; to be read by cm_hypergraph_pin */
  const uint32_t *net_source; /* [net_count] */
  const uint32_t *net_weight; /* [net_count] rates, to 32 bits; heaviest net first */
  uint64_t *in_first;         /* [vertex_count + 1] */
  uint32_t *in_net;           /* [pin_count] nets that have the vertex as a target, heaviest first */
  uint32_t *out_first;        /* [vertex_count + 1] */
  uint32_t *out_net;          /* [net_count] nets whose source the vertex is, ascending */
  uint32_t *size;             /* [vertex_count] */
  uint64_t *synapses;         /* [vertex_count] that end in the vertex */
  uint32_t *number;           /* [vertex_count] of level 0: the number here of each vertex of the topology */
  const uint32_t *renumber; /* what `pin` holds are numbers of the topology, to be looked up here; NULL: they are not */
  /* What this level owns of the arrays above; coarser levels borrow the weights of level 0. */
  uint64_t *own_begin, *own_end;
  uint32_t *own_pin, *own_net_source, *own_net_weight;
} cm_hypergraph;

void cm_hypergraph_free(cm_hypergraph *graph); /* NULL is allowed */

/* The hypergraph of a topology, which must outlive it. Nets are numbered from the heaviest to the lightest, vertices by
 * locality (cm_number_by_locality). O(pins), 8 bytes a pin. */
cm_status cm_hypergraph_from_topology(const cm_topology *topology, cm_run *run, cm_hypergraph **graph,
                                      cm_error *error);

/* The vertex that pin i is. */
static inline uint32_t cm_hypergraph_pin(const cm_hypergraph *graph, uint64_t i)
{
  return graph->renumber == NULL ? graph->pin[i] : graph->renumber[graph->pin[i]];
}

/* Gives up level 0's own copy of the topology's pins, 4 bytes a pin: they are looked up from now on. */
void cm_hypergraph_drop_pins(cm_hypergraph *graph, const cm_topology *topology);

/* Merges vertices with equal map[v] < coarse_count. Nets stay, with their targets merged, so that inbound axons are
 * counted exactly on every level. The coarse level borrows the weights of `graph`. O(pins). */
cm_status cm_hypergraph_contract(const cm_hypergraph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                 cm_hypergraph **coarse, cm_error *error);

#endif
