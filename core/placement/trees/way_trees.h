/* Placement for multicast on interconnects: parts change places so that the unions of the ways to all cores that an axon reaches
 * cost less. */
#ifndef CM_PLACEMENT_WAY_TREES_H
#define CM_PLACEMENT_WAY_TREES_H

#include "core/placement/trees/trees.h"

/* As cm_place_by_trees, of a chip with an interconnect. Effort is counted in routers of ways that are looked at; where a sweep over
 * all casts takes too much of it, a sample of them is annealed. */
cm_status cm_place_by_way_trees(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                                cm_trees_result *result, cm_error *error);

#endif
