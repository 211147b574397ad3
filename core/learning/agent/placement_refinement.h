/* Refinement of a placement for the fewest hops, whoever made it. */
#pragma once

#include "core/learning/agent/agent.h"

typedef struct cm_refine_options {
  double looks; /* at neighbours of nodes that trade places, that annealing may cost; 0: swaps alone */
  uint64_t seed;
} cm_refine_options;

/* Up to so many the placement engine, which looks at all pairs, is the better annealer. */
enum { CM_REFINE_FEW_SITES = 128 };

/* Swaps towards the centre of those that a node talks to (cm_place_by_swaps), then annealing from there: trades of
 * nodes and moves to free sites inside a window that closes as acceptance falls below Lam's 44 %, hot enough to leave a
 * bad fold, not so hot as to lose the layout; on up to CM_REFINE_FEW_SITES by the placement engine, cold. at [nodes] is
 * never worse afterwards. Nodes may change processors. As cm_place_by_swaps and O(looks). */
cm_status cm_environment_refine(const cm_environment *environment, const cm_refine_options *options, cm_run *run, uint32_t *at,
                          cm_error *error);

/* Refines what a policy made from all starts: options->looks for each of them on few sites; on more, swaps for all
 * and the looks of all for the best, since one long annealing beats several short ones there. Updates acted
 * [CM_LAYOUTS]. */
cm_status cm_acted_refine(const cm_environment *environment, const cm_refine_options *options, cm_run *run, cm_acted *acted,
                          cm_error *error);
