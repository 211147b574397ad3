/* What the parts of a partition say to each other, counted by axons. */
#ifndef CM_PARTITION_FLOWS_H
#define CM_PARTITION_FLOWS_H

#include "core/partition/graph.h"

/* The parts as a graph: the weight of an edge is what axons carry between its ends in both directions, each axon
 * once per part that it reaches (SPEC MAP-11). Sizes are 1. O(pins + flows log(flows per part)). */
cm_status cm_graph_of_axons(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_graph **graph, cm_error *error);

#endif
