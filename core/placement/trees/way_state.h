/* A placement seen by its casts on an interconnect (core/chip/interconnect): how many targets of a cast are reached over each router
 * of its tree, so that the change of a tree when a target moves is known from the way to where it was and the way to where it goes.
 *
 * A tree is the union of the ways from the sender's router to those of its targets. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/partition/counts.h"
#include "core/placement/trees/casts.h"

typedef struct cm_way_trees {
  const cm_casts *casts;
  const cm_chip *chip;
  const cm_interconnect *net;
  cm_run *run;
  unsigned weight_shift; /* weights are shifted right so far that sums stay within 62 bits */
  uint32_t *router;      /* [parts] */
  cm_inbound_casts inbound;
  int64_t *cost;         /* [casts->count] */
  int64_t sum;           /* of those */
  cm_counts reached;     /* by cast * routers + router: targets at that router of its tree, or beyond */
  uint32_t *stamp;       /* [routers] scratch */
  uint32_t mark;
  double steps;          /* routers looked at so far: what time goes by */
} cm_way_trees;

/* core [casts->parts] is where the parts stand; the interconnect is prepared. O(hops of all ways); memory 24 bytes or more a link of
 * all trees, besides the casts. */
cm_status cm_way_trees_new(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_way_trees **trees,
                           cm_error *error);
void cm_way_trees_free(cm_way_trees *trees); /* NULL is allowed */

/* What all trees would cost more if part u went to router `to` and part v (CM_NO_PART: nobody), which is there, to u's. O(hops of the
 * ways of casts that reach one of them, and of all targets of their own). */
int64_t cm_way_trees_look(cm_way_trees *trees, uint32_t u, uint32_t v, uint32_t to);

/* Does it; `change` is what the look told. Errors: memory; the trees are of no use then. */
cm_status cm_way_trees_swap(cm_way_trees *trees, uint32_t u, uint32_t v, uint32_t to, int64_t change, cm_error *error);
