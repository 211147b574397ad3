/* What a core has so much of, and no more. */
#pragma once

#include "core/chip/chip.h"

/* Uses of one core, in the order of cm_limits. */
typedef enum cm_resource {
  CM_NEURONS,
  CM_SYNAPSES,
  CM_INBOUND_AXONS,
  CM_OUTBOUND_AXONS,
  CM_TARGET_CORES,
  CM_SOURCE_CORES,
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

/* Whether a core holds so many within all four limits. O(1). */
static inline bool cm_core_holds(const cm_limits *limits, uint64_t neurons, uint64_t synapses, uint64_t inbound_axons)
{
  return (limits->neurons == 0 || neurons <= limits->neurons) && (limits->inbound_axons == 0 || inbound_axons <= limits->inbound_axons) &&
         (limits->synapses == 0 || synapses <= limits->synapses) && cm_memory_holds(limits, neurons, synapses, inbound_axons);
}
