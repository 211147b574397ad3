/* What axons of a network reach. */
#pragma once

#include "core/network/topology.h"

/* Whether axons reach so few neurons on average that the edges between neurons tell what belongs together. O(1). */
bool cm_axons_reach_few(const cm_topology *topology);

/* Whether every axon reaches one neuron at most and synapses have no weights of their own: then objectives axon and edge
 * are one. O(nets). */
bool cm_axons_are_edges(const cm_topology *topology);
