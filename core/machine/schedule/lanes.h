/* When each lane of a chip is busy. Internal to the room. */
#ifndef CM_MACHINE_LANES_H
#define CM_MACHINE_LANES_H

#include "core/base/memory.h"
#include "core/chip/target.h"

enum { CM_LANE_GAPS = 16 };

/* A lane is idle from `tail` on and in some gaps before; short and old gaps are forgotten. */
typedef struct cm_lane_time {
  double tail, busy;
  uint32_t gap_count;
  double gap_from[CM_LANE_GAPS], gap_to[CM_LANE_GAPS]; /* ascending */
} cm_lane_time;

typedef struct cm_lanes {
  cm_lane_time *lane;
  uint32_t first[CM_UNIT_KINDS], count[CM_UNIT_KINDS]; /* lanes of a kind */
} cm_lanes;

/* All idle. The caller's: cm_free(lanes->lane). Errors: memory. */
cm_status cm_lanes_begin(cm_lanes *lanes, const cm_target *target, cm_memory *memory, cm_error *error);

/* When a lane of a kind can first be busy for `ns` from `ready` on; *lane is the one, of several the one that was busy
 * last. O(lanes of the kind). */
double cm_lanes_earliest(const cm_lanes *lanes, cm_unit_kind kind, double ready, double ns, uint32_t *lane);

/* Makes a lane busy at a time that cm_lanes_earliest named. */
void cm_lanes_take(cm_lanes *lanes, uint32_t lane, double start, double ns);

#endif
