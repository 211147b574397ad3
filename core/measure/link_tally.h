/* What goes over the links of a window under the routing of the chip. */
#pragma once

#include "core/chip/router_window.h"
#include "core/measure/measure.h"

/* Steps from one router to another: positive is east or south. */
typedef struct cm_offset {
  int32_t x, y;
} cm_offset;

/* One flow that leaves a source: how far, and how many packets in units of the weights. */
typedef struct cm_flow {
  cm_offset to;
  uint64_t weight;
} cm_flow;

/* What a net sends from its core: packets, each once to all of its targets. */
typedef struct cm_cast {
  uint32_t net, core;
  uint64_t packets; /* in units of the weights */
} cm_cast;

/* Sums that 64 bits may not hold. */
typedef unsigned __int128 cm_wide;

/* What goes over the links of a window under the chip's own routing. Differences along rows [height][width + 1] east and
 * west, along columns [width][height + 1] south and north; they wrap below zero and back, as unsigned numbers may. Of
 * trees also packets times links by kind. */
typedef struct cm_link_tally {
  const cm_window *window;
  uint64_t *row[2], *column[2];
  cm_wide east_west, north_south, die_to_die;
} cm_link_tally;

cm_status cm_link_tally_new(const cm_window *window, cm_memory *memory, cm_link_tally *tally, cm_error *error);
void cm_link_tally_free(cm_link_tally *tally);
void cm_link_tally_add(cm_link_tally *sum, const cm_link_tally *other);

/* Books packets from core to core. O(1). */
void cm_links_book_path(cm_link_tally *tally, const cm_chip *chip, uint32_t source_core, uint32_t target_core,
                        cm_offset to, uint64_t packets);

typedef struct cm_tree_scratch {
  uint32_t *extent; /* [2 * axis length] how far a net's tree goes each way in a column (row for YX) */
  uint32_t *stamp;  /* [axis length] net that wrote the extents, plus 1 */
  uint32_t *branch; /* [axis length] columns (rows) that the net's tree has branches in */
} cm_tree_scratch;

cm_status cm_tree_scratch_new(const cm_chip *chip, cm_memory *memory, cm_tree_scratch *scratch, cm_error *error);
void cm_tree_scratch_free(cm_tree_scratch *scratch);

/* Books the union of the routes from a core to several: a trunk along the first axis of the routing, and from
 * it branches along the second. O(count). */
void cm_links_book_tree(cm_link_tally *tally, cm_tree_scratch *scratch, const cm_chip *chip, const cm_cast *cast,
                        const cm_offset *to_part, uint32_t count);

/* Loads in units of the weights, link_load [routers of the window * CM_DIRECTIONS] (NULL: not wanted), and raises *most
 * to the highest. */
void cm_links_fill(const cm_link_tally *tally, double unit, double *link_load, double *most);
