/* How near other cores can be to one: what the lower bounds on hops and energy of a placement rest on. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"

/* What is found out about a chip. */
typedef struct cm_nearness {
  const cm_chip *chip;
  uint32_t most;       /* partners of a core */
  double *hops, *cost; /* [most] */
} cm_nearness;

/* Fills hops and cost: least hops, and energy in pJ, from any usable core to its i-th nearest other one. O(routers * the square
 * of the radius that holds so many), and O(most log most). Errors: memory, stops. */
cm_status cm_bound_nearness(const cm_nearness *nearness, const uint8_t *usable, cm_run *run, cm_error *error);

/* Energy of the cheapest step, its router included, in pJ. O(links) of an interconnect. */
double cm_bound_step_pj(const cm_chip *chip);
