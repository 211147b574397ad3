/* Assignments (core/placement/reassign/reassign.h) of a job. */
#pragma once

#include "core/mapping/input.h"
#include "core/placement/reassign/reassign.h"

/* Of so many parts with the job's limits, of a bare grid those that let parts be `as_large`; nobody has a part or a core. The caller's: cm_assignment_clear, on
 * failure too. Errors: as cm_allowed_kinds; memory. */
cm_status cm_assignment_open(cm_assignment *assignment, const cm_map_input *input, uint32_t parts, uint64_t as_large, cm_run *run, cm_error *error);
void cm_assignment_clear(cm_assignment *assignment);

/* What a chip, or one of its kinds of cores, and the options state. */
cm_limits cm_stated_limits(const cm_map_input *input, cm_limits limits);
