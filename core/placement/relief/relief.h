/* Among placements within 1 % of the least energy, chooses the one with the lowest peak router load. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/qap/qap.h"
#include "core/placement/relief/router_loads.h"
#include "core/placement/task.h"

typedef struct cm_relief_options {
  cm_loads *loads;           /* of what the parts send */
  const cm_qap_pool *others; /* further placements to choose from; NULL: none */
  double work;               /* bookings of packets at routers that the search may take, about */
} cm_relief_options;

typedef struct cm_relief_result {
  uint64_t cost, least;   /* sum of weight * distance that was chosen, and the least */
  double before, highest; /* load of the placement given, and of the chosen one, in units of the flows */
} cm_relief_result;

/* The price of congestion: a hundredth more cost for a twentieth less of the highest load is a fair exchange. */
double cm_relief_score(double cost, double highest);

/* The most that the cost may rise by. */
extern const double cm_relief_dearer;

/* Takes at [parts], numbers of cores of the axes, whose cost is the least that is known, to what scores best: among the
 * others, and what annealing finds from the best of them. Where nothing does, it stays. The result does not depend on
 * the number of threads. O(work + others * flows * rectangle of a way). */
cm_status cm_relieve(const cm_graph *parts, const cm_place_task *task, const cm_relief_options *options, uint32_t *at,
                     cm_relief_result *result, cm_error *error);
