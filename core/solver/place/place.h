/* Places for parts, the second half of the pipeline: on which region of the chip, and which part on which core. */
#pragma once

#include "core/mapping/candidate.h"

/* Gives every part of candidate->partition a core of its own, all free: on the candidate region where that costs least
 * energy, the earlier of equals; where loads are looked at, where it scores best (core/placement/relief/relief.h). Parts
 * that have their cores keep them, but for what multicast moves. Fills places and region_count. Errors: CM_NO_ROOM,
 * CM_BAD_OPTION, memory and run errors. */
cm_status cm_place_parts(cm_candidate *candidate, cm_error *error);

/* The region becomes that of the cores that the candidate's parts have. O(cores). */
cm_status cm_place_enclose(cm_candidate *candidate, cm_error *error);

/* Adds so many free cores to that region, the nearest ones, or as many as there are around. O(cores around * cores). */
cm_status cm_place_widen(cm_candidate *candidate, uint32_t more, cm_error *error);
