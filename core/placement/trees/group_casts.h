/* Casts between groups of parts that stand behind one router: of a group's casts, those that reach the same groups are one, which
 * remembers how many different sets of a group's parts they reach there: a router needs an entry for each. */
#ifndef CM_PLACEMENT_GROUP_CASTS_H
#define CM_PLACEMENT_GROUP_CASTS_H

#include "core/placement/trees/casts.h"

/* A group that a cast reaches, and the sets of its parts that it does. */
typedef struct cm_group_target {
  uint32_t group;
  uint32_t sets;   /* how many different ones */
  uint64_t digest; /* of them all: equal where they are */
} cm_group_target;

typedef struct cm_group_casts {
  uint32_t groups, count;
  uint32_t *sender;        /* [count] ascending */
  uint64_t *first;         /* [count + 1] */
  cm_group_target *target; /* [first[count]] the sender's own too where parts of it are reached */
  uint64_t *weight;        /* [count] */
  uint64_t *of_group;      /* [groups + 1] */
  uint32_t *touching;      /* [of_group[groups]] casts that a group sends or is reached by */
} cm_group_casts;

/* group [casts->parts] below `groups`. O(targets of all casts * log). Errors: memory. */
cm_status cm_group_casts_new(const cm_casts *casts, const uint32_t *group, uint32_t groups, cm_memory *memory,
                             cm_group_casts *made, cm_error *error);
void cm_group_casts_free(cm_group_casts *casts); /* a zeroed one is fine */

#endif
