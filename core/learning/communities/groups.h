/* Groups of numbers, and dies that are apart. */
#pragma once

#include "core/chip/chip.h"

/* Renumbers group [count], numbers below `bound`, from 0, ascending by lowest member; *groups says how many are in
 * use. O(count + bound). */
cm_status cm_number_groups(uint32_t *group, uint32_t count, uint32_t bound, cm_memory *memory, uint32_t *groups,
                           cm_error *error);

/* Steps from a die to the same core of another. O(1). */
uint32_t cm_die_distance(const cm_chip *chip, uint32_t die_a, uint32_t die_b);
