/* Places under which no link or router has more circuits than it may (core/limits/circuits.h). */
#pragma once

#include "core/chip/occupancy.h"
#include "core/chip/region.h"
#include "core/limits/circuits.h"

typedef struct cm_circuit_task {
  const cm_occupancy *occupancy;
  const cm_region *region; /* parts may go to free cores of its box and around it */
  uint64_t seed;
  cm_run *run;
} cm_circuit_task;

/* Changes core [parts], free ones and different, of which `circuits` has all booked, by annealing until none are too many or the work is done. O(circuits of a
 * part * hops) a move that is tried. Errors: memory, a stop. */
cm_status cm_place_for_circuits(const cm_circuit_task *task, cm_circuits *circuits, uint32_t *core, cm_error *error);
