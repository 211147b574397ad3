/* Groups of vertices onto the chips of a fabric. */
#pragma once

#include "base/run.h"
#include "core/fabric/fabric_flows.h"

/* What stands on one chip together. */
typedef struct cm_fabric_groups {
  uint32_t count;
  const uint32_t *cores;  /* [count]: that it takes of a chip; 0 of a device outside */
  const uint64_t *memory; /* [count]: bytes */
  const uint32_t *pin;    /* [count]: the chip that it must stand on; CM_NO_CHIP: any */
  const uint32_t *of;     /* [vertices]: the group of each vertex */
} cm_fabric_groups;

/* Gives every group a chip, chip [groups], so that no chip has more than its cores and memory, and pins are kept. Chips are filled by number along a curve, by number in bands, and each with
 * groups that share targets and flows; of these ways the best is kept, and what stands on whole chips is swapped while flows become shorter. With `start` [vertices] groups stay where their first vertex is there, the
 * largest first, or come to the nearest chip with room. The same input gives the same places. Errors: CM_NO_ROOM, CM_BAD_NETWORK, CM_MEMORY_LIMIT, CM_NO_MEMORY, CM_CANCELLED. */
cm_status cm_fabric_place(const cm_flows *flows, const cm_fabric_groups *groups, const uint32_t *start, cm_run *run, uint32_t *chip, cm_error *error);
