/* Placement for multicast: parts change places so that the trees of their axons, the unions of the routes to all cores
 * that an axon reaches, cost less. docs/explanation/placement.md explains the method. */
#pragma once

#include "core/placement/task.h"
#include "core/placement/trees/casts.h"

typedef struct cm_trees_budget {
  double looks;                  /* at casts, in all; above 0 */
  double sweeps_min, sweeps_max; /* proposals for every part, of one annealing: 1 and more */
  double sweeps_last;            /* of the descent on all casts, where a sample was annealed, at most: 1 and more */
  /* On interconnects: routers looked at and proposals a part at most, and links looked at for each order of groups, for a part and in
   * all; above 0. */
  double way_looks, way_sweeps, group_looks, group_looks_max;
} cm_trees_budget;

typedef struct cm_trees_result {
  uint64_t before, after; /* weight * links of all trees, in units (cm_cheapest_hop_units); scaled */
  uint32_t sweeps, starts;
  uint64_t swaps;
  const char *groups;     /* the order behind whole routers that was better (groups.h); NULL: parts were placed one by one */
  bool sampled;           /* annealed on a sample of the casts, and by all of them in the end */
} cm_trees_result;

/* Whether whole routers are placed too: on interconnects whose routers have several cores, all alike, and tables of limited size. */
bool cm_has_groups(const cm_chip *chip);

/* Improves core [casts->parts], cores of the region, by swaps with each other and with its empty cores, of the same kind
 * (core/chip/classes.h) where they differ; never worse than it was. The effort is counted in casts that are looked at: the result depends on the input and the seed alone, not on
 * the number of threads. Phase "trees". Memory 12 bytes a target of a cast and thread, besides the casts. */
cm_status cm_place_by_trees(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                            cm_trees_result *result, cm_error *error);

/* Sum over casts of weight * cost of the tree's links, in units (cm_hop_units), from scratch. O(pins log). */
cm_status cm_trees_cost(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                        cm_error *error);

/* ---- whole routers: on interconnects whose routers have several cores and tables, which parts stand behind one router follows an order of
 * all parts, and where each such group stands is annealed by what its axons' trees and the tables' entries cost ---- */

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
