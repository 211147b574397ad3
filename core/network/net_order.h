/* Nets by their sources, as a topology has them, and by their targets. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* Moves nets that stand in any order, each with its source, weight, pins and, of a new array, *rate (NULL: none); nets of one source keep theirs.
 * O(vertices + pins). Errors: memory, a stop. */
cm_status cm_topology_order_nets(cm_topology *topology, float **rate, cm_run *run, cm_error *error);

/* The nets of source v become those from first[v] to first[v + 1] - 1; `first` [vertices + 1] is zeroed. O(vertices + nets). */
void cm_topology_nets_from(const cm_topology *topology, uint32_t *first);

/* The nets with target v become net[first[v]] to net[first[v + 1] - 1], ascending; `first` [vertices + 2] is zeroed, net has room for
 * all pins. O(vertices + pins). */
void cm_topology_nets_to(const cm_topology *topology, uint64_t *first, uint32_t *net);
