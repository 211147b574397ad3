/* Mapper `learned`: the parts of a partition to the cores of a region by a trained policy (docs/explanation/learned-mapper.md). */
#pragma once

#include "core/mapping/input.h"
#include "core/chip/region.h"
#include "core/partition/graph.h"

/* Communities to processors, policy, assignment, and refinement unless option policy_refinement is off. part [vertices]
 * and `parts`, their graph, say what is placed. Fills core [parts] with cores of the region, each once. *report is new:
 * what policy alone, policy with refinement, and bisection with the same refinement cost, and whether routes are free
 * of deadlock. Phases "communities", "policy", "refine", "baseline". Errors: CM_DAMAGED, CM_NOT_FOUND (of the policy's
 * file), memory and run errors. */
cm_status cm_place_by_policy(const cm_map_input *input, const uint32_t *part, const cm_graph *parts,
                             const cm_region *region, cm_run *run, uint32_t *core, json_t **report, cm_error *error);
