/* Placement by swaps towards those that a part talks to. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/task.h"

typedef struct cm_swaps_result {
  uint32_t rounds;
  uint64_t swaps;
} cm_swaps_result;

/* Force-directed swaps, along the axes of the task: each part looks from its core towards the centre of those it talks to, at halving steps, and
 * takes the swap that lowers the cost most. `at` [parts] numbers cores of the region. Ends when a round gains less than
 * a thousandth, or after rounds_max. O(rounds * entries * log(width)). */
cm_status cm_place_by_swaps(const cm_graph *parts, const cm_place_task *task, uint32_t rounds_max, uint32_t *at,
                            cm_swaps_result *result, cm_error *error);
