/* Mappings under constraints of place (option "constraints"). */
#ifndef CM_SOLVER_DRIVER_UNDER_CONSTRAINTS_H
#define CM_SOLVER_DRIVER_UNDER_CONSTRAINTS_H

#include "core/mapping/mapping.h"
#include "core/mapping/input.h"

typedef cm_status cm_map_function(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

/* Maps on kinds of cores that keep the job's constraints, and judges what comes of it. Errors as of `map` and cm_areas_open; CM_INTERNAL: a constraint is broken. */
cm_status cm_map_constrained(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error);

#endif
