/* What the parts of a directed network have to do in one time step: packets, synapses, neurons, spikes. */
#pragma once

#include "base/run.h"
#include "core/chip/costs.h"
#include "core/network/demand.h"

/* Fills events [parts]: a neuron that fires sends one packet to every part that holds a target, its own included; rates
 * are those of the network's axons, in spikes a step; neurons count by their sizes. In an undirected network every edge
 * is a synapse at both ends and each end sends half of its weight. Exact sums, the same for any number of threads.
 * O(pins + threads * parts). */
cm_status cm_step_loads(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                        cm_core_events *events, cm_error *error);
