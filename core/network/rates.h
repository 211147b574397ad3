/* Rates that were measured, given to the axons of a network. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* Gives the axons of vertex v the rate rate[v], 0 or more; NAN: they keep theirs. Weights of synapses stay as they are, except
 * where each weighs its axon's rate. CM_BAD_NETWORK: the network is undirected; CM_TOO_LARGE: the rates cannot be counted
 * exactly. On failure the topology is unchanged. O(pins). */
cm_status cm_topology_set_rates(cm_topology *topology, const double *rate, cm_run *run, cm_error *error);

/* The same for several scenarios: rate[k * vertices + v] is that of vertex v in scenario k, of at least 2 and at most
 * CM_SCENARIOS_MAX that are named differently; their mean becomes the axons' rate. Any scenarios that the network had go. */
cm_status cm_topology_set_scenarios(cm_topology *topology, const cm_scenario_name *name, uint32_t count, const double *rate,
                                    cm_run *run, cm_error *error);

/* Whether a scenario may have this name: letters, digits, - and _, at most CM_SCENARIO_NAME_MAX - 1 of them. */
bool cm_scenario_name_valid(const char *name, size_t length);

/* Reads rates from a table, a line a neuron: its name (its number where the network has no names) and its rate, under a header
 * that says so in any order (name, neuron, id; rate, rate_hz, firing_rate), or without one in this order. A header with columns rate:NAME makes a scenario of each. Every neuron that
 * sends must have one. Opens phase "read". CM_BAD_NETWORK with the line: names that the network does not have or that stand
 * twice, rates that are no numbers or negative. */
cm_status cm_rates_read(const char *path, cm_topology *topology, cm_run *run, cm_error *error);

/* Reads such a table of one column of rates into *rate [vertices], the caller's: NAN for neurons that it has not. */
cm_status cm_rates_values(const char *path, const cm_topology *topology, cm_run *run, double **rate, cm_error *error);
