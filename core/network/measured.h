/* Rates that were measured: spikes of a network's neurons in windows of time, and the network at these rates. */
#pragma once

#include "base/run.h"
#include "core/network/spikes.h"
#include "core/network/topology.h"

enum { CM_SEMANTICS_NAME_MAX = 32 };

typedef struct cm_measured {
  uint32_t neurons, steps, windows; /* of window w, of at least 1: steps steps * w / windows up to those of w + 1 */
  char semantics[CM_SEMANTICS_NAME_MAX]; /* under which the network ran (core/spiking/semantics.def) */
  double dt;                        /* seconds of a step; 0: not said */
  uint64_t *spikes;                 /* [windows * neurons] */
  uint64_t *stimulus, inputs;       /* [2 * inputs] step and neuron of each spike of an input, by steps */
} cm_measured;

/* Counts spikes of the first measured->steps steps in measured->windows windows, of at least a step each, and lists those of inputs. Its other
 * fields but the neurons stay as they are. O(spikes + windows * neurons). Errors: memory. */
cm_status cm_measured_count(const cm_topology *topology, const cm_spikes *spikes, cm_memory *memory, cm_measured *measured, cm_error *error);

/* The same network with spikes a step as rates, those of windows as scenarios; sums of spikes are `measured`, which it takes over, also on failure. It
 * borrows all else from `topology`, which has to live longer. Errors as of cm_topology_set_rates. O(pins). */
cm_status cm_topology_measured(const cm_topology *topology, cm_measured *measured, cm_run *run, cm_topology **made, cm_error *error);
