/* What inputs outside the chip cost on their way in. */
#pragma once

#include "core/mapping/mapping.h"

/* Fills the four figures of inputs outside the chip, before those of a step, whose energy has a share of them. A packet comes in at a router of the border, that from which the core of
 * the input's part is fewest hops away, and of several the one with the least energy. An axis that wraps around has no
 * border; where both do, and on another interconnect than a plain mesh, it comes in at the core's own router. O(nets). */
void cm_border_measure(const cm_demand *demand, const cm_chip *chip, const uint32_t *part, const uint32_t *core,
                       cm_metrics *metrics);
