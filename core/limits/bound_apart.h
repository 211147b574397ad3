/* Neurons that cannot be together: an argument of the bound on parts (bound.h). */
#pragma once

#include "core/limits/limits.h"

/* A set of neurons that pairwise break a limit, grown greedily among those with most inbound axons: each needs a part of its own.
 * *neurons counts them, 0 where no two fill more than half a core; *last is what the last pair breaks. synapses, axons [vertices]:
 * that come in. O(pins). */
cm_status cm_neurons_apart(const cm_demand *demand, const cm_limits *limits, const uint32_t *synapses, const uint32_t *axons,
                           cm_run *run, uint32_t *neurons, cm_resource *last, cm_error *error);
