/* When each lane of a chip is busy. Internal to core/machine. */
#pragma once

#include "base/memory.h"
#include "core/machine/hops.h"
#include "core/machine/issue.h"

enum { CM_LANE_GAPS = 16 };

/* A lane is idle from `tail` on and in some gaps before; short and old gaps are forgotten. */
typedef struct cm_lane_time {
  double tail, busy;
  uint32_t gap_count;
  double gap_from[CM_LANE_GAPS], gap_to[CM_LANE_GAPS]; /* ascending */
} cm_lane_time;

typedef struct cm_lanes {
  cm_lane_time *lane;
  const cm_target *target;
  const cm_hop_times *hops;
  cm_issue issue; /* of a chip that issues in order tasks are taken in the order of its stream, and no gap is filled */
} cm_lanes;

/* When and where a task can run. */
typedef struct cm_slot {
  uint32_t lane;
  double start, ns;
} cm_slot;

/* All idle. The caller's: cm_free(lanes->lane). Errors: memory. */
cm_status cm_lanes_begin(cm_lanes *lanes, const cm_target *target, const cm_hop_times *hops, cm_memory *memory, cm_error *error);

/* What differs by station: when all is there that a task waits for, and what it takes longer there. NULL: nothing. */
typedef struct cm_at_stations {
  const double *arrive, *more;
} cm_at_stations;

/* When and where a task that takes ns[device] (0: it cannot run there) can end first, from `ready` on. Of several lanes of
 * a device the one that was busy last. O(lanes of those devices). */
cm_slot cm_lanes_find(const cm_lanes *lanes, const double *ns, double ready, cm_at_stations at);

/* No lane is idle before then. O(lanes). */
void cm_lanes_bar(cm_lanes *lanes, double until);

/* Makes a lane busy at a time that cm_lanes_find named. */
void cm_lanes_take(cm_lanes *lanes, const cm_slot *slot);
