/* What a part would pay at every router of a region, all at once: the trees of the casts that it has a part in, if it
 * stood there and all others where they are. */
#pragma once

#include "core/chip/region.h"
#include "core/placement/trees/tree_state.h"

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
