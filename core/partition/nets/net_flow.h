/* Refinement of a partition of small nets by maximum flows: pairs of parts are cut anew along the least cut near the one between
 * them. */
#ifndef CM_PARTITION_NET_FLOW_H
#define CM_PARTITION_NET_FLOW_H

#include "core/partition/nets/net_state.h"

typedef struct cm_net_flow_options {
  const uint64_t *most; /* [parts] size that a part may have */
  uint32_t rounds;      /* at most; a pair has its turn where one of its parts has changed since the round before */
  double reach;         /* how much of a part may lie in the region around the cut: as if parts were allowed so many times the room
                           that they have beyond the mean */
  uint32_t distance;    /* of a region's vertices from the cut, in nets */
  uint64_t seed, stream;
} cm_net_flow_options;

/* What connectivity loses by a change between two parts depends on their own pins alone: a net that both have costs once more than
 * one that only one has. So the least cut of that region is the best that vertices of the region can do, in one go, where
 * moves one by one lose on the way. No part that is within its limit leaves it; connectivity never grows. Adds to *gain what it
 * loses. O(rounds * pairs * cut * pins of a region) at worst. */
cm_status cm_net_flow(cm_net_state *state, const cm_net_flow_options *options, cm_run *run, int64_t *gain, cm_error *error);

#endif
