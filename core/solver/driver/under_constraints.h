/* Mappings under constraints of place (option "constraints"). */
#pragma once

#include "core/solver/once.h"

typedef cm_status cm_map_function(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

/* Reads the job's constraints, maps with them as areas, and judges what comes of it. Errors as of `map` and cm_areas_open; CM_INTERNAL: a constraint is broken. */
cm_status cm_map_constrained(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error);

/* Whether an input has areas that nobody has looked at yet. O(1). */
bool cm_has_constraints_left(const cm_map_input *input);

/* One mapping of such an input: without a look at them, then mended where it breaks some. Errors: as of `once`, of a free mapping where there is none; CM_LIMIT_BROKEN or CM_NO_ROOM
 * where no mapping was found. */
cm_status cm_map_once_constrained(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run, cm_mapping **mapping, cm_error *error);
