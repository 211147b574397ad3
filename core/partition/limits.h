/* What a partition asks of the cores, and the limits that it breaks. */
#ifndef CM_PARTITION_LIMITS_H
#define CM_PARTITION_LIMITS_H

#include "core/base/run.h"
#include "core/chip/chip.h"
#include "core/network/topology.h"

/* Uses of one core, in the order of cm_limits. */
typedef enum cm_resource {
  CM_NEURONS,
  CM_SYNAPSES,
  CM_INBOUND_AXONS,
  CM_OUTBOUND_AXONS,
  CM_TARGET_CORES,
  CM_RESOURCES,
  CM_MEMORY /* made of the others (cm_memory_bits): has a limit and a name, and is no use of its own */
} cm_resource;

/* "neurons", "inbound axons", ... */
const char *cm_resource_name(cm_resource resource);

/* The field of a chip file: "neurons", "inbound_axons", ... */
const char *cm_resource_field(cm_resource resource);

/* The chip's limit on a resource; 0: none. */
uint64_t cm_limit(const cm_limits *limits, cm_resource resource);

/* Bits of a core's memory that so many neurons, synapses and inbound axons take. O(1). */
static inline uint64_t cm_memory_bits(const cm_limits *limits, uint64_t neurons, uint64_t synapses, uint64_t inbound_axons)
{
  return neurons * limits->neuron_bits + synapses * limits->synapse_bits + inbound_axons * limits->axon_bits;
}

/* Whether they fit into it. O(1). */
static inline bool cm_memory_holds(const cm_limits *limits, uint64_t neurons, uint64_t synapses, uint64_t inbound_axons)
{
  return limits->memory_bits == 0 || cm_memory_bits(limits, neurons, synapses, inbound_axons) <= limits->memory_bits;
}

/* The use of every resource by every part: use [parts * CM_RESOURCES]. O(pins + parts). */
cm_status cm_count_use(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                       uint64_t *use, cm_error *error);

/* How a partition stands to the limits. */
typedef struct cm_violation {
  uint64_t broken_parts; /* parts that break some limit; 0: legal */
  uint32_t part;         /* the worst one, by use / limit */
  cm_resource resource;
  uint64_t use, limit;
} cm_violation;
cm_violation cm_find_violation(const cm_limits *limits, const uint64_t *use, uint32_t parts);

/* The failure CM_NEURON_TOO_LARGE of one neuron: which, which limit, by how much. Figures neuron, use, limit,
 * limit_proved. */
cm_status cm_neuron_too_large(const cm_topology *topology, uint32_t v, cm_resource resource, uint64_t use,
                              uint64_t limit, cm_error *error);

/* Counts every vertex's inbound synapses and the distinct axons they come by, both [vertices]. O(pins). */
cm_status cm_count_inputs(const cm_topology *topology, cm_run *run, uint32_t *synapses, uint32_t *axons,
                          cm_error *error);

/* Checks each neuron alone: CM_NEURON_TOO_LARGE names the largest that no core can hold, the limit and by how much,
 * and says how many do not fit and what would hold them. O(pins). */
cm_status cm_check_neurons(const cm_topology *topology, const cm_limits *limits, cm_run *run, cm_error *error);

#endif
