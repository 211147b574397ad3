/* Neurons that had to move find parts in which a time step is short, for the objectives of time steps. */
#pragma once

#include "core/placement/reassign/reassign.h"

/* Neurons that may move, and the time that a part may take; 0: as short as can be. */
typedef struct cm_hasten_task {
  const uint32_t *movable; /* [count] */
  uint32_t count;
  double budget_ns;
  uint64_t seed;
} cm_hasten_task;

/* Moves the listed neurons, and nobody else, between the parts of a assignment (new ones too, while there are cores), for
 * the shortest time of the busiest part, or, where budget_ns is above 0, for one within it; then for the fewest packets. No
 * part breaks a limit. The neurons that stay bound what can be reached. Deterministic. O(visits + pins). */
cm_status cm_hasten(cm_assignment *assignment, const cm_hasten_task *task, cm_run *run, cm_error *error);
