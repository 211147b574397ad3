/* What the files of core/learning share. */
#ifndef CM_LEARNING_INTERNAL_H
#define CM_LEARNING_INTERNAL_H

#include "core/base/memory.h"

/* Renumbers group [count], numbers below `bound`, from 0, ascending by lowest member; *groups says how many are in
 * use. O(count + bound). */
cm_status cm_number_groups(uint32_t *group, uint32_t count, uint32_t bound, cm_memory *memory, uint32_t *groups,
                           cm_error *error);

#endif
