/* What the cores of one router, or of one die, take together (chip->router_limits, chip->die_limits): synapses, inbound axons, outbound axons. */
#ifndef CM_LIMITS_SHARED_H
#define CM_LIMITS_SHARED_H

#include "base/run.h"
#include "core/chip/occupancy.h"
#include "core/chip/resources.h"
#include "core/network/demand.h"

/* Whether the chip has such limits. O(1). */
bool cm_limits_are_shared(const cm_chip *chip);

/* CM_LIMIT_BROKEN where the parts `part` [vertices] of a network on the cores `core` [parts] break one: names the router or die that is fullest. O(pins + cores).
 * Errors: those of cm_count_use, memory. */
cm_status cm_refuse_shared(const cm_demand *demand, const cm_chip *chip, const uint32_t *part, const uint32_t *core, uint32_t parts, cm_run *run, cm_error *error);

/* CM_LIMIT_BROKEN where the network's synapses are more than all routers, or dies, with a free core hold: a proof. `occupancy` NULL: all are free. O(cores).
 * Errors: memory. */
cm_status cm_prove_shared(const cm_demand *demand, const cm_chip *chip, const cm_occupancy *occupancy, cm_memory *memory, cm_error *error);

#endif
