/* Refinement on one level (source 0, step s5-1). */
#pragma once

#include "core/partition/graph.h"
#include "core/partition/options.h"

/* Visits all vertices in the random order of (seed, level, pass), options->refinement_passes times or until a pass
 * moves nothing. Moving v from its part i to k costs c_ik = w_i - w_k, w being the weight of v's edges into a part;
 * v goes to the part of least negative cost that has room, the lower number among equals. With options->parts no
 * part is emptied. *gain is the edge weight that left the cut. O(passes * entries). */
cm_status cm_refine(const cm_graph *graph, const cm_partition_options *options, uint32_t level, cm_run *run,
                    uint32_t *part, uint32_t parts, uint64_t *gain, cm_error *error);

/* Makes every part fit the capacity: from parts that are too large the vertex of least cost goes to a part with
 * room, until none is too large or no vertex can go (CM_LIMIT_BROKEN). Needed only where the number of parts is
 * fixed, which the seed does not know. O(moves * entries of the part). */
cm_status cm_rebalance(const cm_graph *graph, const cm_partition_options *options, cm_run *run, uint32_t *part,
                       uint32_t parts, cm_error *error);
