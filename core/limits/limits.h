/* What a partition asks of the cores, and the limits that it breaks. */
#pragma once

#include "base/run.h"
#include "core/chip/resources.h"
#include "core/network/demand.h"

/* The use of every resource by every part: use [parts * CM_RESOURCES]. O(pins + parts). */
cm_status cm_count_use(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                       uint64_t *use, cm_error *error);

/* What the nets of a partition cost, in units of weight. */
typedef struct cm_cuts {
  unsigned __int128 ways;     /* sum over nets of weight * (parts reached besides the source's) */
  unsigned __int128 nets;     /* weight of those that leave their part */
  unsigned __int128 synapses; /* weight of pins in other parts than the source's */
} cm_cuts;

/* Both in one look at the pins. O(pins + parts). */
cm_status cm_count_use_and_cuts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint64_t *use,
                                cm_cuts *cuts, cm_error *error);

/* How a partition stands to the limits. */
typedef struct cm_violation {
  uint64_t broken_parts; /* parts that break some limit; 0: legal */
  uint32_t part;         /* the worst one, by use / limit */
  cm_resource resource;
  uint64_t use, limit;
} cm_violation;
cm_violation cm_find_violation(const cm_limits *limits, const uint64_t *use, uint32_t parts);

/* Whether one part that needs `use` [CM_RESOURCES] and has neurons of so many populations keeps what a core is limited to. */
static inline bool cm_part_keeps(const cm_limits *limits, const uint64_t *use, uint32_t populations)
{
  return cm_find_violation(limits, use, 1).broken_parts == 0 && (limits->populations == 0 || populations <= limits->populations);
}

/* "neuron 5 (AVAL)", cut to `size`. */
void cm_name_neuron(const cm_topology *topology, uint32_t v, char *text, size_t size);

/* The failure CM_NEURON_TOO_LARGE of one neuron: which, which limit, by how much. Figures neuron, use, limit,
 * limit_proved. */
cm_status cm_neuron_too_large(const cm_topology *topology, uint32_t v, cm_resource resource, uint64_t use,
                              uint64_t limit, cm_error *error);

/* Counts every vertex's inbound synapses [vertices], on the run's threads. O(pins). */
cm_status cm_count_synapses(const cm_demand *demand, cm_run *run, uint32_t *synapses, cm_error *error);

/* Counts every vertex's inbound synapses and the distinct axons they come by, both [vertices]. O(pins). */
cm_status cm_count_inputs(const cm_demand *demand, cm_run *run, uint32_t *synapses, uint32_t *axons,
                          cm_error *error);

/* Checks each neuron alone: CM_NEURON_TOO_LARGE names the largest that no core can hold, the limit and by how much,
 * and says how many do not fit and what would hold them. O(pins). */
cm_status cm_check_neurons(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_error *error);

/* Makes of the network what the chip asks of single neurons, in place (docs/explanation/neuron-limits.md): to be called before all that sees the network. Errors
 * as cm_demand_limit_neurons. */
cm_status cm_chip_limit_neurons(const cm_chip *chip, cm_demand *demand, cm_memory *memory, cm_error *error);
