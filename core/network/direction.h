/* Whether a network is directed, where the one who reads it says so. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* Makes a network directed (each edge two synapses of its weight) or a graph (a synapse, or two that go both ways and weigh the
 * same, an edge; synapses of a neuron to itself are dropped and counted). *topology is replaced where it changes. CM_BAD_OPTION:
 * two synapses of one pair differ in weight or delay, or axons have rates, which a graph has not. O(pins log(pins per net)). */
cm_status cm_topology_direct(cm_topology **topology, bool directed, cm_run *run, cm_error *error);
