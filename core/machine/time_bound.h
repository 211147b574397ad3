/* A time that no program for a model on a chip can be below: proofs in docs/explanation/program-bound.md. Internal to core/machine. */
#pragma once

#include "core/machine/plan/plan.h"

typedef struct cm_time_bound {
  double busy_ns[CM_UNIT_KINDS]; /* operations of a kind over its lanes; what must be moved over the ports */
  double phase_ns[CM_UNIT_KINDS]; /* the same of what cannot begin before a time, from then on */
  double way_ns;                  /* the longest way: of every piece on it issue, latency and its least work */
  double ns;                      /* the largest of all */
} cm_time_bound;

/* Of a model as planned (any cut: only its operators, shapes and rates count). O(operators^2), where there are many of a
 * sample of them. Errors: memory, cancel. */
cm_status cm_time_bound_make(cm_plan *plan, const cm_target *target, cm_run *run, cm_time_bound *bound, cm_error *error);

/* The largest of busy_ns alone. Linear in the operators. Errors: memory. */
cm_status cm_time_bound_plain(cm_plan *plan, const cm_target *target, cm_run *run, double *ns, cm_error *error);
