/* Small parts put together on one core. */
#pragma once

#include "core/limits/limits.h"

typedef struct cm_merge_options {
  const cm_limits *limits; /* on neurons, synapses, inbound axons, memory and populations */
  uint32_t least;          /* parts that are left, at least; 0: 1 */
  const uint32_t *group;   /* [parts] only parts of one group join; NULL: all are of one */
} cm_merge_options;

/* Joins parts, from the smallest on, each with the one of the 32 next larger ones that shares most sources
 * with it, as long as limits hold. Changes part [vertices] and *parts; numbers stay without gaps. O(pins + parts * inbound axons of
 * a part). Errors: memory, a stop. */
cm_status cm_merge_parts(const cm_demand *demand, const cm_merge_options *options, cm_run *run, uint32_t *part, uint32_t *parts, cm_error *error);
