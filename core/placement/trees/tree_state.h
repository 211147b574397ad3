/* A placement seen by its casts: every cast's targets in the order of the columns and rows around its sender, so that
 * the change of its tree when a target moves is known from two neighbours in that order.
 *
 * A tree is the union of the routes of the chip's own rule: a trunk along one axis (columns under XY), and in every
 * line that it meets branches along the other, to the farthest places on either side. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/region.h"
#include "core/partition/counts.h"
#include "core/placement/trees/casts.h"

/* One axis of the routers. */
typedef struct cm_tree_axis {
  uint32_t length;
  bool torus;
  uint64_t *sum; /* [2 * length + 1] units of the links before each router, twice around */
} cm_tree_axis;

/* A router by the line that its branch runs in and its place there: column and row under XY, row and column under
 * YX. */
typedef struct cm_tree_spot {
  uint32_t line, place;
} cm_tree_spot;

typedef struct cm_tree_net {
  uint64_t first;          /* of its keys */
  uint32_t size;
  cm_tree_spot at;         /* where the sender stands */
  int64_t weight;
} cm_tree_net;

typedef struct cm_trees {
  const cm_casts *casts;
  const cm_chip *chip;
  cm_run *run;
  cm_tree_axis trunk, branch;
  unsigned key_shift;   /* a key: steps along the trunk and, in the lower bits, along the branch, ascending in a net */
  unsigned weight_shift; /* weights are shifted right so far that sums stay within 62 bits */
  uint32_t *key;        /* [casts->first[count]] */
  cm_tree_net *net;     /* [casts->count] */
  cm_inbound_casts inbound;
  uint32_t *core;       /* [parts] */
  cm_tree_spot *spot;   /* [parts] */
  uint32_t *stamp;      /* [trunk.length] scratch */
  int32_t *lowest, *highest; /* [trunk.length] scratch */
  uint32_t mark;
} cm_trees;

cm_tree_spot cm_trees_spot(const cm_trees *trees, uint32_t core);

/* The key of part u among those of a cast. */
uint32_t cm_trees_key(const cm_trees *trees, const cm_tree_net *net, uint32_t u);

/* Line and place of a key, on a chip without a torus. */
static inline uint32_t cm_trees_key_line(const cm_trees *t, const cm_tree_net *net, uint32_t key)
{
  return net->at.line + (key >> t->key_shift) - t->trunk.length;
}
static inline uint32_t cm_trees_key_place(const cm_trees *t, const cm_tree_net *net, uint32_t key)
{
  return net->at.place + (key & ((UINT32_C(1) << t->key_shift) - 1)) - t->branch.length;
}

/* core [casts->parts] is where the parts stand. O(pins log(pins of a cast)); 12 bytes a pin besides the casts. */
cm_status cm_trees_new(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_trees **trees,
                       cm_error *error);
void cm_trees_free(cm_trees *trees); /* NULL is allowed */

/* What all trees cost: weight * links in units (cm_hop_units), from the keys. O(pins). */
int64_t cm_trees_sum(const cm_trees *trees);

/* What all trees would cost more if u went to core `there` and part v (CM_NO_PART: nobody), which is there, to u's.
 * O(casts that reach one of them * log + targets of their own casts). */
int64_t cm_trees_look(cm_trees *trees, uint32_t u, uint32_t v, uint32_t there);

/* Does it. O(targets of all casts that they have a part in). */
void cm_trees_swap(cm_trees *trees, uint32_t u, uint32_t v, uint32_t there);

/* ---- prices: what a part would pay at every router of a region, all at once: the trees of the casts that it has a part in, if it stood
 * there and all others where they are ---- */

/* A price that rises from a point of an axis on: its weight, and weight times the point's distance from the start. */
typedef struct cm_tree_slope {
  int64_t weight, start;
} cm_tree_slope;

/* Slopes upwards and downwards. */
typedef struct cm_tree_slopes {
  cm_tree_slope *up, *down;
} cm_tree_slopes;

typedef struct cm_tree_prices {
  const cm_trees *trees;
  uint32_t line, place;    /* the first of the box of routers under the region */
  uint32_t lines, places;
  cm_tree_slopes of_line, of_place; /* [lines], [places]: what counts in every place, in every line */
  cm_tree_slopes at;                /* [lines * places] what counts in one line */
  int64_t *by_line, *by_place;      /* [lines], [places] scratch */
} cm_tree_prices;

/* For meshes: the chip of the trees has no torus. */
cm_status cm_tree_prices_new(const cm_trees *trees, const cm_region *region, cm_run *run, cm_tree_prices **prices,
                             cm_error *error);
void cm_tree_prices_free(cm_tree_prices *prices); /* NULL is allowed */

/* price [lines * places], by line: what part u pays there more than nothing. A difference of two of them is what
 * cm_trees_look tells of a move to an empty core. O(targets of the casts that u has a part in + lines * places). */
void cm_tree_prices_of(cm_tree_prices *prices, uint32_t u, int64_t *price);

/* Where in such a row the router of a core stands. */
uint32_t cm_tree_prices_cell(const cm_tree_prices *prices, uint32_t core);

/* ---- on an interconnect (core/chip/interconnect): how many targets of a cast are reached over each router of its tree, so that the
 * change of a tree when a target moves is known from the way to where it was and the way to where it goes; a tree is the union of the
 * ways from the sender's router to those of its targets ---- */

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
