/* One candidate: parts that keep all limits, on cores of their own. */
#ifndef CM_SOLVER_DRIVER_MAKE_H
#define CM_SOLVER_DRIVER_MAKE_H

#include "core/mapping/candidate.h"

/* Partition under the limits, or the caller's parts; then a region, and places. The caller owns what *candidate holds.
 * Errors as cm_map. */
cm_status cm_candidate_make(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error);

#endif
