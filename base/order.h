/* Orders for qsort and bsearch. */
#pragma once

#include <stdint.h>

/* Of uint32_t, ascending. */
int cm_ascending(const void *a, const void *b);

int cm_ascending_long(const void *a, const void *b); /* uint64_t */

/* Of double, ascending; none of them NaN. */
int cm_ascending_real(const void *a, const void *b);

/* The one in the middle of three. */
static inline int64_t cm_middle(int64_t a, int64_t b, int64_t c)
{
  int64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/* Sorts key [count] by the upper halves, `largest` of them at most, and leaves equal ones in order; other [count] is overwritten. Returns
 * which of the two has them. O(count). */
uint64_t *cm_sort_by_upper_half(uint64_t *key, uint64_t *other, uint64_t count, uint32_t largest);

/* A comparison of structures for qsort, by their members in turn: CM_ORDER(by_load, sink, CM_FALLING(load) CM_RISING(at)). */
#define CM_ORDER(name, type, members)                \
  static int name(const void *one, const void *other) \
  {                                                   \
    const type *p = one, *q = other;                  \
    members                                           \
    return 0;                                         \
  }
#define CM_RISING(member)     \
  if (p->member != q->member) \
    return p->member < q->member ? -1 : 1;
#define CM_FALLING(member)    \
  if (p->member != q->member) \
    return p->member > q->member ? -1 : 1;

/* Brings `low` and `high` to the first number from `low` to `high` for which `is_below`, a condition on `at`, does not hold. */
#define CM_BISECT(low, high, at, is_below)       \
  while ((low) < (high)) {                       \
    const uint64_t at = (uint64_t)(low) + ((high) - (low)) / 2; \
    if (is_below)                                \
      (low) = (__typeof__(low))(at + 1);         \
    else                                         \
      (high) = (__typeof__(high))at;             \
  }
