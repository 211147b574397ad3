/* What the metrics share among their files. */
#ifndef CM_MAPPING_MEASURE_INTERNAL_H
#define CM_MAPPING_MEASURE_INTERNAL_H

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/mapping/measure/window.h"

/* Steps from one router to another: positive is east or south. */
typedef struct cm_offset {
  int32_t x, y;
} cm_offset;

/* One flow that leaves a source: how far, and how many packets in units of the weights. */
typedef struct cm_flow {
  cm_offset to;
  uint64_t weight;
} cm_flow;

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

/* Books the union of the routes of a net from a core to several: a trunk along the first axis of the routing, and from
 * it branches along the second. O(count). */
void cm_links_book_tree(cm_link_tally *tally, cm_tree_scratch *scratch, const cm_chip *chip, uint32_t net,
                        uint32_t source_core, const cm_offset *to_part, uint32_t count, uint64_t packets);

/* Loads in units of the weights, link_load [routers of the window * CM_DIRECTIONS] (NULL: not wanted), and raises *most
 * to the highest. */
void cm_links_fill(const cm_link_tally *tally, double unit, double *link_load, double *most);

enum { CM_QUADRANTS = 4, CM_EXIT_LEVELS = 9, CM_EXIT_LEVEL_BITS = 8 };

/* Chances that a packet leaves the open field for its target's line: value [a * reach_b + b] is that of coming
 * to a line a steps away (a at least 1) after b steps along it. */
typedef struct cm_exit_table {
  uint32_t reach_a, reach_b;
  double *chance;  /* [reach_a * reach_b] */
  /* [reach_a * CM_EXIT_LEVELS] b outside start .. stop - 1 have chances below 2^-((level + 1) * CM_EXIT_LEVEL_BITS). */
  uint32_t *start, *stop;
} cm_exit_table;

/* Congestion under random minimal routing, summed over flows in fixed point, so that the order of the flows does
 * not matter. A quadrant is walked as if it went east and south from the corner, and not around a torus: the grid is
 * mirrored, and half as long again as a torus is. */
typedef struct cm_spread {
  cm_window window;
  uint32_t width, height;        /* of the walked grid */
  cm_exit_table column, row;    /* to the target's column: a along x; to its row: a along y */
  double scale;                 /* fixed-point units per packet, a power of 2 */
} cm_spread;

/* Flows between cores of a window, of at most `packets` together. O(window). */
cm_status cm_spread_new(const cm_window *window, double packets, cm_memory *memory, cm_spread *spread, cm_error *error);
void cm_spread_free(cm_spread *spread);

/* What one task adds to. */
typedef struct cm_spread_part {
  uint64_t *column[CM_QUADRANTS]; /* [width * height] packets that reach their target's column here, column by column */
  uint64_t *row[CM_QUADRANTS];    /* [height * width] to its row, row by row */
  /* [height * width] packets that start, and that end having come along the column, the row. */
  uint64_t *begin[CM_QUADRANTS], *column_end[CM_QUADRANTS], *row_end[CM_QUADRANTS];
  cm_flow *flow[2];               /* scratch */
  uint32_t *count;
  size_t flow_room;
} cm_spread_part;

/* Room for `flows_max` flows of one source. */
cm_status cm_spread_part_new(const cm_spread *spread, size_t flows_max, cm_memory *memory, cm_spread_part *part,
                             cm_error *error);
void cm_spread_part_free(cm_spread_part *part);

/* Adds all flows of a source at router (x, y) into one quadrant (bit 0: west, bit 1: north). Flows to the same router
 * may stand apart. O(flow_count + rows and columns that the flows pass). */
void cm_spread_add(const cm_spread *spread, cm_spread_part *part, uint32_t x, uint32_t y, unsigned quadrant,
                   const cm_flow *flow, size_t flow_count);

/* Expected packets by router of the window, load [routers], in units of the weights. O(window * parts). */
cm_status cm_spread_finish(const cm_spread *spread, const cm_spread_part *part, uint32_t parts, cm_memory *memory,
                           double *load, cm_error *error);

#endif
