/* How far units are from where their work is needed: for the bound (docs/explanation/program-bound.md). Internal to core/machine. */
#pragma once

#include "core/machine/hops.h"

/* Of all lanes of a kind, weights together 1, those whose work is known within `ns` at one and the same core have `share` at most,
 * wherever that core is. */
typedef struct cm_reach_step {
  double ns, share;
} cm_reach_step;

typedef struct cm_reach {
  uint32_t count;
  cm_reach_step *step; /* both grow; the last share is 1 */
} cm_reach;

typedef struct cm_reach_of {
  const cm_target *target;
  const cm_hop_times *hops;
  const double *weight; /* by device, of a lane */
  bool out;             /* what is known at some port; else at one core that computes */
} cm_reach_of;

/* The caller frees made->step with cm_free. Errors: memory. O(stations^2 * (log stations + distances)). */
cm_status cm_reach_make(const cm_reach_of *of, cm_memory *memory, cm_reach *made, cm_error *error);

/* The least time after which `work` nanoseconds of all lanes can be done and known there. O(distances). */
double cm_reach_ns(const cm_reach *reach, double work);
