/* What the parts of a directed network have to do in one time step: packets, synapses, neurons, spikes. */
#pragma once

#include "base/run.h"
#include "core/chip/costs.h"
#include "core/network/demand.h"

/* Fills events [parts]: a neuron that fires sends one packet to every part that holds a target, its own included; rates
 * are those of the network's axons, in spikes a step, and of what none tells (cm_demand_untold); neurons count by their sizes. In an undirected network every edge
 * is a synapse at both ends and each end sends half of its weight. Exact sums, the same for any number of threads.
 * O(pins + threads * parts). */
cm_status cm_step_loads(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                        cm_core_events *events, cm_error *error);

/* Neurons that spike in every step for the biases of others: each part that has such others two, or on one part alone one. O(vertices + nets). */
cm_status cm_step_bias_sources(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory, uint32_t *sources, cm_error *error);
