/* Orders for qsort and bsearch. */
#pragma once

#include <stdint.h>

/* Of uint32_t, ascending. */
int cm_ascending(const void *a, const void *b);

/* Of double, ascending; none of them NaN. */
int cm_ascending_long(const void *a, const void *b); /* uint64_t */
int cm_ascending_real(const void *a, const void *b);

/* The one in the middle of three. */
static inline int64_t cm_middle(int64_t a, int64_t b, int64_t c)
{
  int64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/* Of structs that begin with two uint32_t, a uint64_t and a uint32_t, or a double that is no NaN and a uint32_t: by the first, then by the second. */
int cm_ascending_pair(const void *a, const void *b);
int cm_ascending_long_pair(const void *a, const void *b);
int cm_ascending_real_pair(const void *a, const void *b);

/* Sorts key [count] by the upper halves, `largest` of them at most, and leaves equal ones in order; other [count] is overwritten. Returns
 * which of the two has them. O(count). */
uint64_t *cm_sort_by_upper_half(uint64_t *key, uint64_t *other, uint64_t count, uint32_t largest);
