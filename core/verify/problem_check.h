/* Whether places are an answer to a placement problem: code of its own, one node and one pair at a time. */
#pragma once

#include "core/constraints/problem.h"

/* Judges tiles of all nodes. O(constraints * members^2 * offsets). Errors: CM_LIMIT_BROKEN names the first thing that is broken; memory. */
cm_status cm_problem_check(const cm_problem *problem, const uint32_t *place, cm_memory *memory, cm_error *error);
