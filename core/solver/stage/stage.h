/* The partition stage: from job options to parts that keep every core limit. `coremap partition` runs it alone, cm_map
 * goes on to place what it made. */
#pragma once

#include "core/mapping/candidate.h"

/* Checks the neurons, partitions with the method of preset and objective, and again with a smaller capacity where a
 * limit broke. input->chip NULL: no limits but max_part_size, and cores without number; else input->occupancy must
 * be given. The caller owns what *candidate holds. Errors: CM_NEURON_TOO_LARGE, CM_NO_ROOM, CM_LIMIT_BROKEN,
 * CM_BAD_OPTION, memory, I/O and run errors. */
cm_status cm_make_parts(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error);

/* Whether the integrated mapper stands beside partition-then-place, or goes on from it. O(1). */
bool cm_stage_takes_mesh(const cm_map_input *input);
