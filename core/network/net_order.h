/* Nets in the order of their sources, as a topology has them. */
#ifndef CM_NETWORK_NET_ORDER_H
#define CM_NETWORK_NET_ORDER_H

#include "core/network/topology.h"

/* Moves nets that stand in any order, each with its source, weight and pins; nets of one source keep theirs. O(vertices + pins). */
cm_status cm_topology_order_nets(cm_topology *topology, cm_memory *memory, cm_error *error);

#endif
