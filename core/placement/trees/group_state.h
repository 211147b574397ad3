/* Groups of parts at routers: the trees of what they send, and how many different ways out of each router those take. */
#ifndef CM_PLACEMENT_GROUP_STATE_H
#define CM_PLACEMENT_GROUP_STATE_H

#include "core/chip/interconnect/interconnect.h"
#include "core/partition/counts.h"
#include "core/placement/trees/group_casts.h"

/* A router of the tree under way. */
typedef struct cm_group_node {
  uint32_t mark, into, last; /* stamp; link that leads here, CM_NO_WAY at the sender; the last that leaves */
  uint32_t outs, sets;
  uint64_t out, digest; /* what leaves; the parts reached here */
} cm_group_node;

typedef struct cm_group_state {
  const cm_group_casts *casts;
  const cm_interconnect *net;
  cm_run *run;
  uint32_t *router;    /* [groups] */
  cm_group_node *node; /* [routers] */
  uint32_t *met;       /* [routers] those of the tree under way */
  uint32_t mark, count;
  cm_counts ways;        /* trees by router, way out and parts reached there */
  double links, entries; /* of all trees */
  double steps;          /* links looked at so far */
} cm_group_state;

/* Memory 16 to 32 bytes a different way out. */
cm_status cm_group_state_new(const cm_group_casts *casts, const cm_interconnect *net, const uint32_t *router, cm_run *run,
                             cm_group_state *state, cm_error *error);
void cm_group_state_free(cm_group_state *state); /* a zeroed one is fine */

/* Adds the tree of a cast to what all come to (by 1), or takes it off (by -1). O(links of it). */
cm_status cm_group_state_book(cm_group_state *state, uint32_t cast, int32_t by, cm_error *error);

#endif
