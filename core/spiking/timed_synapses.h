/* The synapses of a network that runs, one by one, with the steps that each takes. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"
#include "core/spiking/evaluation_order.h"

/* How long spikes are under way. */
typedef struct cm_latency {
  double dt;       /* seconds; 0: not said */
  unsigned output; /* steps by which spikes are later than the step that made them */
  const uint32_t *loop_of; /* [neurons] loops by cm_neuron_loops_make, and the steps that a synapse inside one takes at least; NULL: none are longer */
  unsigned loop;
} cm_latency;

/* A directed network with dynamics and its timing. */
typedef struct cm_timed_network {
  const cm_topology *topology;
  const cm_evaluation_order *order;
  const cm_latency *latency;
  bool sole_reader; /* nobody reads the network's pins afterwards: their memory is given back as they are told */
} cm_timed_network;

typedef void cm_synapse_take(void *context, uint32_t from, uint32_t to, uint32_t steps, float weight);

/* Tells all synapses, by source, target and delay. A delay of d steps takes d + output, and in loops at least 1, of neurons latency->loop; spikes of inputs have
 * no output. O(pins). Errors: CM_BAD_OPTION: delays without dt, or a delay that is no multiple of it, which and by how much; CM_TOO_LARGE: a delay of
 * more than 2^20 steps; stops. */
cm_status cm_synapses_tell(const cm_timed_network *network, cm_run *run, cm_synapse_take *take, void *context, cm_error *error);
