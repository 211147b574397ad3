/* The integrated mapper for objective axon: goes on from a mapping, whoever made it. */
#pragma once

#include "core/mapping/candidate.h"

/* Whether the job's effort reaches for it, and there is something to refine. O(1). */
bool cm_refines_axons_on_mesh(const cm_candidate *from);

/* Neurons change parts for the least energy of axons, under these limits; parts get cores of the
 * region, which holds those of the candidate, in ascending order. *partition: parts and their cores, which cost no more; the caller owns it. *saved: seconds that the cache
 * saved. CM_NO_ROOM where the candidate breaks what the search counts as limits. O(cycles * sweeps * pins). */
cm_status cm_refine_axons_on_mesh(const cm_candidate *from, const cm_limits *limits, const cm_region *region, cm_run *run,
                                  cm_partition **partition, double *saved, cm_error *error);
