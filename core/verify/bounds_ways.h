/* How near other cores can be on an interconnect that is no plain mesh. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"

/* The least hops at which any usable core has its i-th nearest other one, hops [most]. Breadth first from every router up to
 * CM_TABLE_ROUTERS_MAX, O(routers * links); of more, what any core's links allow at best. */
cm_status cm_bound_ways(const cm_chip *chip, const uint8_t *usable, uint32_t most, cm_run *run, double *hops, cm_error *error);

/* Energy of the cheapest link, its router included, in pJ. */
double cm_cheapest_hop(const cm_chip *chip);
