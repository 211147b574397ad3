/* Orders for qsort and bsearch. */
#pragma once

#include <stdint.h>

/* Of uint32_t, ascending. */
int cm_ascending(const void *a, const void *b);

/* Of double, ascending; none of them NaN. */
int cm_ascending_long(const void *a, const void *b); /* uint64_t */
int cm_ascending_real(const void *a, const void *b);

/* Sorts key [count] by the upper halves, `largest` of them at most, and leaves equal ones in order; other [count] is overwritten. Returns
 * which of the two has them. O(count). */
uint64_t *cm_sort_by_upper_half(uint64_t *key, uint64_t *other, uint64_t count, uint32_t largest);
