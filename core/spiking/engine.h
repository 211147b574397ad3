/* A network that runs, step by step, in single precision: the functional simulator. What comes in is summed in the order of the steps in
 * which it was sent, in each by level of the evaluation order and then by source, as a product with a matrix does, whatever the number of threads. */
#ifndef CM_SPIKING_ENGINE_H
#define CM_SPIKING_ENGINE_H

#include "base/run.h"
#include "core/network/topology.h"
#include "core/spiking/semantics.h"

typedef struct cm_engine cm_engine;

/* A directed network with dynamics at rest: v and currents 0. `dt` in seconds; 0: not said, which models without a time constant can do with.
 * Uses run->threads threads. Errors: CM_BAD_OPTION, CM_BAD_NETWORK: no dynamics, undirected, and what coefficients.h and
 * synapses.h refuse; memory, stops. O(pins). */
cm_status cm_engine_new(const cm_topology *topology, const cm_semantics *semantics, double dt, cm_run *run, cm_engine **engine, cm_error *error);
void cm_engine_free(cm_engine *engine); /* NULL is allowed */

/* What happened in a step. */
typedef struct cm_step {
  const uint32_t *spike; /* [count] neurons that spiked, inputs among them, ascending; until the next step */
  uint32_t count;
  uint64_t events;       /* synapses that spikes and outputs were sent along */
} cm_step;

/* The next step, in which the inputs `input` [count] spike: ascending, each one of the network's inputs; twice: two spikes. O(neurons + events). */
cm_status cm_engine_step(cm_engine *engine, const uint32_t *input, uint32_t count, cm_step *step, cm_error *error);

/* v of all neurons after the last step [neurons]. */
const float *cm_engine_potentials(const cm_engine *engine);

#endif
