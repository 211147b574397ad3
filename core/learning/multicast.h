/* Multicast nodes: parts with an axon that is to reach several other parts (source 1, "multicast attribute"). */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

/* The tree of each multicast node: the other parts that axons of its part reach. */
typedef struct cm_multicast {
  uint32_t nodes;   /* of the graph */
  uint32_t trees;   /* multicast nodes */
  uint64_t *first;  /* [nodes + 1] targets of each in `target`; a node that is none has no targets */
  uint32_t *target; /* [first[nodes]] ascending, distinct, never the node itself */
} cm_multicast;

/* From a network and the part of each of its vertices, part [vertices] below `parts`. An undirected network's edges go
 * from one to one: it has none. O(pins log(targets)). */
cm_status cm_multicast_from_topology(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                                     cm_multicast *multicast, cm_error *error);
void cm_multicast_free(cm_multicast *multicast); /* harmless on a zeroed one */
