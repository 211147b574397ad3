/* A placement seen by its casts: every cast's targets in the order of the columns and rows around its sender, so that
 * the change of its tree when a target moves is known from two neighbours in that order.
 *
 * A tree is the union of the routes of the chip's own rule: a trunk along one axis (columns under XY), and in every
 * line that it meets branches along the other, to the farthest places on either side. */
#pragma once

#include "core/chip/chip.h"
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
  uint32_t size, sender;
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
