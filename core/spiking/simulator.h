/* A network that runs, step by step, in single precision: the functional simulator. What comes in is summed in the order of the steps in
 * which it was sent, in each by level of the evaluation order and then by source, as a product with a matrix does, whatever the number of threads. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"
#include "core/spiking/semantics.h"

typedef struct cm_simulator cm_simulator;

/* How a network is run. */
typedef struct cm_profile_setting {
  const cm_semantics *semantics;
  double dt; /* seconds; 0: not said */
  uint32_t steps;
  bool sole_reader; /* nobody reads the network's synapses once it runs: their memory is given back */
} cm_profile_setting;

/* Whether a network can run: CM_BAD_NETWORK: it does not say how its neurons behave, or is undirected. */
cm_status cm_simulator_check(const cm_topology *topology, cm_error *error);

/* A directed network with dynamics at rest: v and currents 0. Without dt models without a time constant can do. Uses run->threads threads. Errors: those of cm_simulator_check, and what coefficients.h and
 * synapses.h refuse; memory, stops. O(pins). */
cm_status cm_simulator_new(const cm_topology *topology, const cm_profile_setting *setting, cm_run *run, cm_simulator **simulator, cm_error *error);
void cm_simulator_free(cm_simulator *simulator); /* NULL is allowed */

/* What happened in a step. */
typedef struct cm_step {
  const uint32_t *spike; /* [count] neurons that spiked, inputs among them, ascending; until the next step */
  uint32_t count;
  uint64_t events;       /* synapses that spikes and outputs were sent along */
} cm_step;

/* The next step, in which the inputs `input` [count] spike: ascending, each one of the network's inputs; twice: two spikes. O(neurons + events). */
cm_status cm_simulator_step(cm_simulator *simulator, const uint32_t *input, uint32_t count, cm_step *step, cm_error *error);

/* v of all neurons after the last step [neurons]. */
const float *cm_simulator_potentials(const cm_simulator *simulator);
