/* Refinement of a partition of small nets by maximum flows between pairs of parts. */
#pragma once

#include "core/partition/flow_pairs.h"
#include "core/partition/nets/net_state.h"

/* A net that two parts both have costs once more than one that only one has: what connectivity loses by a change between them
 * depends on their own pins alone. See cm_flow_refine. O(rounds * pairs * cut * pins of a region) at worst. */
cm_status cm_net_flow(cm_net_state *state, const cm_flow_options *options, cm_run *run, int64_t *gain, cm_error *error);
