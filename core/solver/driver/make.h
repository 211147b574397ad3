/* One candidate: parts that keep all limits, on cores of their own. */
#pragma once

#include "core/mapping/candidate.h"

/* Partition under the limits, or the caller's parts; then a region, and places. The caller owns what *candidate holds.
 * Errors as cm_map. */
cm_status cm_candidate_make(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error);

/* Goes on from a candidate for objective axon with its cores: parts and cores that cost no more (core/solver/mappers/mesh_axons.h). *found:
 * there are such, within all limits and these, which are the candidate's or tighter, in *candidate, which the caller owns then. Errors: memory and run errors. */
cm_status cm_candidate_go_on(const cm_candidate *from, const cm_limits *limits, cm_candidate *candidate, bool *found, cm_error *error);
