/* Networks from compressed sparse rows in memory. */
#ifndef CM_NETWORK_CSR_H
#define CM_NETWORK_CSR_H

#include "base/run.h"
#include "core/network/topology.h"

/* A directed network of `neurons` neurons: neuron v has synapses to target[first[v]] .. target[first[v + 1] - 1], in any
 * order, with their weights (NULL: 1 each); repeats are added up. All is copied; the caller owns *topology. Errors:
 * CM_BAD_NETWORK at "neuron N" or "synapse N", CM_TOO_LARGE, memory and run errors. O(synapses log(synapses per neuron)). */
cm_status cm_topology_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                               cm_run *run, cm_topology **topology, cm_error *error);

#endif
