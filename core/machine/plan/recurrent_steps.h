/* Which recurrent operators are computed step by step (core/operators/recurrent_unfold.h). Internal to core/machine. */
#pragma once

#include "base/run.h"
#include "core/chip/target.h"
#include "core/operators/graph.h"

typedef struct cm_steps {
  uint32_t operators, steps;
} cm_steps;

/* Unfolds those of a model (after cm_infer) that take less so on a chip, by the cost of its instructions, or do not fit in its memory as
 * one; the model is sorted and inferred again. Errors: memory, cancel. */
cm_status cm_steps_unfold(cm_model *model, const cm_target *target, uint64_t memory_bytes, cm_run *run, cm_steps *done, cm_error *error);
