/* Parts of different populations put together on one core. */
#pragma once

#include "core/limits/limits.h"

/* Joins parts, from the smallest on, each with the one of the 32 next larger ones that shares most sources
 * with it, as long as limits on neurons, synapses, inbound axons and populations hold and more than `least` parts
 * (at least 1) are left. Changes part [vertices] and *parts; numbers stay without gaps. O(pins + parts * inbound axons of
 * a part). */
cm_status cm_merge_parts(const cm_demand *demand, const cm_limits *limits, uint32_t least, cm_run *run, uint32_t *part,
                         uint32_t *parts, cm_error *error);
