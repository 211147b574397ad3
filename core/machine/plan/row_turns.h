/* Programs that do the same over and over on further rows of their tensors. Internal to core/machine. */
#pragma once

#include "core/machine/plan/plan.h"

/* In how many equal turns a model can be done, each making the next rows (the first dimension) of every value from those rows alone, and what is
 * constant. More than one only where one turn would have more pieces than are worth a code of their own, and where loading parameters again for
 * each turn costs next to nothing. *turns is at least 1. O(operators * turns). Errors: those of cm_constant_tensor and cm_split_piece, memory. */
cm_status cm_turns_find(cm_model *model, uint64_t memory_bytes, cm_run *run, uint32_t *turns, cm_error *error);

/* Whether a model can be done in so many. */
cm_status cm_turns_may(cm_model *model, uint32_t turns, cm_run *run, bool *may, cm_error *error);
