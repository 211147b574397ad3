/* Moves for the least edge cut, or hop traffic, within all limits of a core. */
#pragma once

#include "core/limits/limits.h"

/* What a unit of weight pays between two parts; 0 between a part and itself. */
typedef struct cm_ways {
  uint64_t (*way)(const void *context, uint32_t from, uint32_t to);
  const void *context;
} cm_ways;

/* Changes part [vertices], which keeps all limits and goes on to: vertices go, one after another, to the part among
 * those that they are tied to where they pay least, where that breaks no limit and empties no part; at most `rounds`
 * times each. The sum over edges of weight * way never grows; `ways` NULL: every way is 1, and the sum is the cut.
 * O(pins) a round, with `ways` O(parts touched^2) a vertex; memory: the CSR graph and the usage (part_usage.h). */
cm_status cm_refine_constrained(const cm_demand *demand, const cm_limits *limits, const cm_ways *ways, uint32_t rounds,
                           cm_run *run, uint32_t *part, uint32_t parts, cm_error *error);
