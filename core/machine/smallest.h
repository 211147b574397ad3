/* The least on-chip memory with which a model compiles. Internal to core/machine. */
#pragma once

#include "core/machine/plan/plan.h"

typedef struct cm_smallest {
  uint64_t bytes;   /* a multiple of CM_ALIGNMENT: of all memories of the chip together */
  uint32_t tried;   /* layouts */
  char below[CM_ERROR_DETAIL_MAX]; /* what a compilation with CM_ALIGNMENT bytes less is refused with */
} cm_smallest;

/* Halves what options->memory_bytes is (doubles it first while that does not do) until one of two sizes CM_ALIGNMENT apart does and
 * the other does not; a size does when the model, its recurrent operators and sums cut for it, can be laid out with the settings that a search begins
 * with, or with `traffic` in the fewest bytes. More memory may be refused again. `model` as cm_steps_unfold takes it, left alone. O(log of the memory) layouts.
 * Errors: those of cm_plan_candidate_make that no memory mends, memory, cancel. */
cm_status cm_smallest_memory(const cm_model *model, const cm_plan_options *options, bool traffic, cm_run *run, cm_smallest *found, cm_error *error);
