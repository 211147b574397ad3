#include "core/chip/resources.h"

const char *cm_resource_name(cm_resource resource)
{
  static const char *const names[CM_MEMORY + 1] = {"neurons", "synapses", "inbound axons", "outbound axons", "target cores", "source cores",
                                                   [CM_MEMORY] = "bits of memory"};
  return names[resource];
}

const char *cm_resource_field(cm_resource resource)
{
  static const char *const fields[CM_MEMORY + 1] = {"neurons", "synapses", "inbound_axons", "outbound_axons",
                                                    "target_cores", "source_cores", [CM_MEMORY] = "memory_bits"};
  return fields[resource];
}

uint64_t cm_limit(const cm_limits *limits, cm_resource resource)
{
  const uint64_t values[CM_MEMORY + 1] = {limits->neurons, limits->synapses, limits->inbound_axons, limits->outbound_axons,
                                          limits->target_cores, limits->source_cores, [CM_MEMORY] = limits->memory_bits};
  return values[resource];
}
