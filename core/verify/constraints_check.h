/* Whether a mapping keeps constraints: one constraint at a time, by the cores that its subjects lie on. */
#pragma once

#include "core/constraints/subjects.h"
#include "core/mapping/mapped.h"

enum { CM_BROKEN_WORDS_MAX = 560 };

/* Judges constraint `number`: words [CM_BROKEN_WORDS_MAX] say what breaks it, "" where nothing does. O(neurons named + cores; pairs of cores for adjacent
 * and hops). Errors: memory. */
cm_status cm_constraint_check(const cm_mapped *mapped, const cm_subjects *subjects, const cm_constraints *constraints, uint32_t number, char *words,
                              cm_error *error);
