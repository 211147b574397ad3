/* What the cores of one router, or of one die, take together (chip->router_limits, chip->die_limits): synapses, inbound axons, outbound axons. */
#pragma once

#include "base/run.h"
#include "core/chip/occupancy.h"
#include "core/chip/resources.h"
#include "core/network/demand.h"

/* Whether the chip has such limits. O(1). */
bool cm_limits_are_shared(const cm_chip *chip);

/* CM_LIMIT_BROKEN where parts of these uses [parts * CM_RESOURCES] on these cores [parts] break one: names the router or die that is fullest. O(parts + cores).
 * Errors: memory. */
cm_status cm_refuse_shared(const cm_chip *chip, const uint64_t *use, const uint32_t *core, uint32_t parts, cm_memory *memory, cm_error *error);

/* CM_LIMIT_BROKEN where the network's synapses are more than all routers, or dies, with a free core hold: a proof. `occupancy` NULL: all are free. O(cores).
 * Errors: memory. */
cm_status cm_prove_shared(const cm_demand *demand, const cm_chip *chip, const cm_occupancy *occupancy, cm_memory *memory, cm_error *error);
