/* The members of every group (vertices of parts, of coarse vertices), by counting sort. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sorts 0 .. count-1 by group [count], below `groups`: those of group g become member[first[g]] to
 * member[first[g + 1] - 1], ascending. `first` has room for groups + 2 numbers and must be zeroed, `member` for count.
 * O(count + groups). */
static inline void cm_sort_members(const uint32_t *group, uint32_t count, uint32_t groups, uint32_t *first,
                                   uint32_t *member)
{
  for (uint32_t v = 0; v < count; v++)
    first[(size_t)group[v] + 2]++; /* two places ahead: filling below moves each start by one */
  for (size_t g = 2; g <= (size_t)groups + 1; g++)
    first[g] += first[g - 1];
  for (uint32_t v = 0; v < count; v++)
    member[first[(size_t)group[v] + 1]++] = v;
}
