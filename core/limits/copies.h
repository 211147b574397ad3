/* Copies of neurons that reach more cores than a neuron of the chip may (cm_topology.target_cores_max). Copies stand on the
 * neuron's own core with all of its inputs, which the sources' axons bring there anyway; each serves some of the cores
 * that the neuron reaches, its own included. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

/* How many of a neuron a part needs where it reaches so many parts, at least 1. O(1). */
static inline uint32_t cm_copies_for(const cm_demand *demand, uint32_t reached)
{
  uint32_t most = demand->target_cores_max;
  return most == 0 || reached <= most ? 1 : (reached - 1) / most + 1;
}

/* How many of each neuron its part holds: copies [vertices]. O(pins). */
cm_status cm_count_copies(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint32_t *copies,
                          cm_error *error);
