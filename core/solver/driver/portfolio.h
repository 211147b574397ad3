/* Mappers side by side: the integrated mapper and partition-then-place. */
#pragma once

#include "core/mapping/candidate.h"

/* Makes the candidate of the job's method; where the integrated mapper stands beside partition-then-place, the cheapest that either finds,
 * and the report says what was tried. Errors as cm_map. */
cm_status cm_best_candidate(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error);
