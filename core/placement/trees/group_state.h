/* Groups of parts at routers: the trees of what they send, and how many different ways out of each router those take. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/partition/counts.h"
#include "core/placement/trees/trees.h"

/* ---- casts between groups ----
 *
 * Of a group's casts, those that reach the same groups are one, which remembers how many different sets of a group's parts they reach
 * there: a router needs an entry for each. */

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

/* ---- their trees ---- */

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

/* An order in which parts stand behind one router after the other. */
typedef struct cm_part_order {
  const uint32_t *part;  /* [parts] */
  const uint8_t *begins; /* [parts] those that begin with a router, where that leaves room for all; NULL: none */
  double steps;          /* links that are looked at */
} cm_part_order;

/* Fills core [casts->parts] with the parts in this order. */
cm_status cm_place_groups(const cm_casts *casts, const cm_place_task *task, const cm_part_order *order, uint32_t *core,
                          cm_group_cost *cost, cm_error *error);
