/* Placement by swaps towards those that a part talks to. */
#ifndef CM_PLACEMENT_SWAPS_H
#define CM_PLACEMENT_SWAPS_H

#include "core/chip/region.h"
#include "core/partition/graph.h"
#include "core/placement/axes.h"

/* Force-directed swaps: each part looks from its core towards the centre of those it talks to, at halving steps, and
 * takes the swap that lowers the cost most. `at` [parts] numbers cores of the region. Ends when a round gains less than
 * a thousandth, or after rounds_max. O(rounds * entries * log(width)). */
cm_status cm_place_by_swaps(const cm_graph *parts, const cm_axes *axes, const cm_chip *chip, const cm_region *region,
                            uint32_t rounds_max, cm_run *run, uint32_t *at, uint32_t *rounds, uint64_t *swaps,
                            cm_error *error);

#endif
