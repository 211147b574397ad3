/* Communities of a hypergraph: what coarsening is not to merge across. */
#pragma once

#include "core/partition/nets/net_graph.h"

/* Fast unfolding (Blondel et al. 2008) on the graph of vertices and nets, each net joined to its pins: where nets are many
 * beside vertices every pin weighs as much, else nets of few pins and vertices of many nets weigh more (Heuer, Schlag 2017).
 * community [vertices] gets numbers from 0 on. O(pins) a visit of all, some twenty visits. */
cm_status cm_net_communities(const cm_net_graph *graph, uint64_t seed, cm_run *run, uint32_t *community,
                             cm_error *error);
