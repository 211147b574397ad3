/* Placement for multicast on interconnects whose routers have several cores and tables: which parts stand behind one router follows
 * an order of all parts, and where each such group stands is annealed by what its axons' trees and the tables' entries cost. */
#pragma once

#include "core/placement/task.h"
#include "core/placement/trees/casts.h"

/* What a placement comes to. */
typedef struct cm_group_cost {
  double links;   /* weight * units of the links of all trees */
  double entries; /* ways out of routers that differ and are not straight on: tables cannot have fewer entries */
  double sum;     /* of both, an entry at what a packet pays for a link */
  const char *order; /* of the parts, static text; NULL: none was followed */
} cm_group_cost;

/* What parts on core [casts->parts] cost. O(links of the trees of groups + targets of casts * log). */
cm_status cm_group_cost_of(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_group_cost *cost,
                           cm_error *error);

/* Fills core [casts->parts] with cores of the region, all of one kind: the cheapest of the placements with the parts in their own
 * order, in that with a router of its own where a population begins, and in one that grows along what they send.
 * `steps` links are looked at for each. Does not depend on threads. Errors: memory, a stop. */
cm_status cm_place_by_groups(const cm_casts *casts, const cm_place_task *task, double steps, uint32_t *core, cm_group_cost *cost,
                             cm_error *error);
