/* Partitioning a directed network for short time steps: no core receives or sends for long, and few packets are sent
 * (docs/explanation/step-time.md). */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/network/demand.h"

typedef struct cm_step_options {
  const cm_costs *costs;
  cm_limits limits;    /* of a core; all hard but those on target cores, which the caller checks */
  uint32_t parts_max;  /* cores that are free */
  double budget_ns;    /* fewest packets within this time of the busiest core; 0: the least time that is found, then
                          the fewest packets within it */
  uint32_t growths;    /* budgets that parts are grown to, one after another; 0: there is a start, and no more */
  double growth_looks; /* where one would look at more targets of axons (cm_step_growth_looks) parts are grown along a window; 0: never */
  double visits;       /* of synapses, about: what annealing may take */
  uint64_t seed;
  bool mean;           /* of a network with scenarios the mean of their times counts, not the longest */
  const uint32_t *start; /* [vertices] parts of another origin, numbered from 0 without gaps, or NULL; left aside where they break limits */
} cm_step_options;

typedef struct cm_step_result {
  double busiest_ns;   /* of the busiest core, without barrier and contention; in scenarios the longest, or what their mean does not
                          exceed */
  double packets;      /* rate of all, those to the sender's own core included */
} cm_step_result;

/* With scenarios, rates are those of net_weight for packets, and those of all scenarios for time. For their mean, each one's time
 * is scaled by the mean of all lower bounds over its own, and the longest scaled time is what is shortened: it bounds the mean.
 *
 * Fills part [vertices] with numbers 0 .. *parts - 1, none empty. Deterministic, one thread. CM_NO_ROOM when no parts
 * within the limits are found on parts_max cores. Phases "grow" and "anneal". */
cm_status cm_partition_for_steps(const cm_demand *demand, const cm_step_options *options, cm_run *run,
                                 uint32_t *part, uint32_t *parts, cm_step_result *result, cm_error *error);
