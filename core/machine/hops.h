/* What it takes from core to core of a chip's units. */
#pragma once

#include "base/memory.h"
#include "core/chip/target.h"

/* Cores that units lie on are stations; one is all there is where no hop takes any time. */
typedef struct cm_hop_times {
  uint32_t stations;
  uint32_t *station; /* by lane */
  uint32_t *memory_station; /* by memory of a core; CM_CORE_SHARED of what all share */
  double *ns;        /* [from * stations + to] */
  double *farthest;  /* by station: to any other */
} cm_hop_times;

/* The caller's: cm_hop_times_end, also after a failure. Errors: memory. O(lanes * stations). */
cm_status cm_hop_times_make(const cm_target *target, cm_memory *memory, cm_hop_times *made, cm_error *error);
void cm_hop_times_end(cm_hop_times *hops);

/* Nanoseconds until what a lane did is known in another. */
static inline double cm_hop_ns(const cm_hop_times *hops, uint32_t from, uint32_t to)
{
  return hops->stations < 2 ? 0 : hops->ns[(size_t)hops->station[from] * hops->stations + hops->station[to]];
}

/* The same until it is known in every lane. */
static inline double cm_hop_farthest(const cm_hop_times *hops, uint32_t from)
{
  return hops->stations < 2 ? 0 : hops->farthest[hops->station[from]];
}

/* When the last of `turns` ends, each of which ends at end[lane] after it began: the next begins when that is known in every lane. O(lanes). */
double cm_hop_turns_ns(const cm_hop_times *hops, uint32_t lanes, uint32_t turns, const double *end);

/* How often a result goes the way that its flag goes. Where every memory is a core's, bytes go there too, in the time of who writes
 * or of who reads: twice; through whatever memory they go, the way is no shorter. O(memories). */
uint32_t cm_hop_ways(const cm_target *target);
