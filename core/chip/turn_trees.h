/* Routes over the routers of a chip: trees from one router to several, under a turn rule and around dead links.
 *
 * In each quadrant around the source a tree follows a shape: to reach a router, where the way came from is fixed by how
 * far east or west and north or south of the source it lies, so that ways to different targets share what they can
 * and never meet again once parted. A tree of one target is a path of minimal length. Where a dead link lies in the
 * way, the shortest way from the tree built so far that the turn rule allows is taken instead. */
#pragma once

#include "base/run.h"
#include "core/chip/turns.h"

/* Shapes of a quadrant: along x first; along y first; a step at 1/4, 2/4, 3/4 of the way along x; along y. */
enum { CM_SHAPES = 8, CM_SHAPE_BITS = 3, CM_NO_DIRECTION = CM_DIRECTIONS };

/* A router of a tree. */
typedef struct cm_tree_node {
  uint32_t router;
  uint8_t in;     /* cm_direction in which the packet travels when it comes; CM_NO_DIRECTION at the source */
  uint8_t out;    /* bit d: the packet goes on in direction d */
  uint8_t target; /* the packet is also for this router */
} cm_tree_node;

typedef struct cm_tree {
  const cm_tree_node *node; /* [count] the source first; valid until the next call */
  size_t count;
} cm_tree;

typedef struct cm_tracer cm_tracer;

/* Scratch for building trees, for one thread. 4 bytes a router between the first and the last of any tree; 52 a router of the
 * chip once dead links force a search. */
cm_status cm_tracer_new(const cm_chip *chip, cm_turn_rule rule, cm_memory *memory, cm_tracer **tracer, cm_error *error);
void cm_tracer_free(cm_tracer *tracer); /* NULL is allowed */

/* The quadrants (bit 0: west, bit 1: north) in which the rule leaves the shape open: 0 under XY and YX, else 2. */
unsigned cm_tracer_open_quadrants(const cm_tracer *tracer, unsigned quadrant[2]);

/* The tree from a router to others. `shapes` holds CM_SHAPE_BITS for each open
 * quadrant, the first in the lowest bits. O(links of the tree + targets), and O(routers) more for a target behind a
 * dead link. CM_NO_ROUTE when the rule allows no way to some target, or none that joins the others in one tree; *lost
 * is then that router. */
cm_status cm_trace(cm_tracer *tracer, const cm_ends *ends, unsigned shapes, cm_tree *tree, uint32_t *lost, cm_error *error);
