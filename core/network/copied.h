/* A network in which some neurons stand several times: a copy has all inputs of its neuron, and serves some of what that reaches. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/network/topology.h"

/* Copy i is vertex `vertex_count + i` of the network that has them. */
typedef struct cm_neuron_copies {
  uint32_t count;
  uint32_t *of;     /* [count] the neuron that each copies */
  uint64_t *first;  /* [count + 1] where what it serves in place of its neuron begins in */
  uint32_t *serves; /* targets of the neuron and copies of these, ascending for each copy; what no copy serves the neuron itself does */
} cm_neuron_copies;

void cm_neuron_copies_free(cm_neuron_copies *copies); /* harmless on zeroed ones */

/* A list of {"of": neuron, "serves": [targets]}, a copy each; NULL when out of memory. O(targets). */
json_t *cm_neuron_copies_json(const cm_neuron_copies *copies);

/* Reads such a list for a network of so many neurons; the arrays are the caller's. CM_BAD_MAPPING. O(targets). */
cm_status cm_neuron_copies_read(const json_t *list, uint32_t neurons, cm_memory *memory, cm_neuron_copies *copies, cm_error *error);

/* Whether neurons of this network can be copied: it is directed, a neuron has one axon, and its rates are a file's. O(nets). */
bool cm_topology_takes_copies(const cm_topology *topology);

/* The network with its copies, which owns all that it has: the caller's. Copies of named neurons are NAME+1, NAME+2. CM_BAD_MAPPING: a copy serves what its
 * neuron does not reach, or what another copy of it does. O(pins log(pins of a net)). */
cm_status cm_topology_copied(const cm_topology *topology, const cm_neuron_copies *copies, cm_run *run, cm_topology **made, cm_error *error);
