/* Parts in an order, cores along a curve: what placements begin with. */
#pragma once

#include "core/chip/region.h"
#include "core/partition/graph.h"

/* Orders the parts so that those that talk are near each other: always the part with the most weight to the ordered
 * ones less the weight to the others; breadth first where there are more than 2^24 entries. O(entries log(parts)). */
cm_status cm_order_parts(const cm_graph *parts, cm_run *run, uint32_t *order, cm_error *error);

/* Sorts the cores of a region along Hilbert's curve over the chip. O(cores log(cores)). */
cm_status cm_order_cores(const cm_chip *chip, const cm_region *region, cm_run *run, uint32_t *core, cm_error *error);
