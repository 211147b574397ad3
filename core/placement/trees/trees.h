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
