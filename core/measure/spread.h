/* Congestion under random minimal routing. */
#pragma once

#include "core/measure/link_tally.h"

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
  const cm_spread *spread;
  uint64_t *column[CM_QUADRANTS]; /* [width * height] packets that reach their target's column here, column by column */
  uint64_t *row[CM_QUADRANTS];    /* [height * width] to its row, row by row */
  /* [height * width] packets that start, and that end having come along the column, the row. */
  uint64_t *begin[CM_QUADRANTS], *column_end[CM_QUADRANTS], *row_end[CM_QUADRANTS];
  cm_flow *flow[2];               /* scratch */
  uint32_t *count;
  size_t flow_room;
} cm_spread_part;

/* Room for `flows_max` flows of one source. */
cm_status cm_spread_part_new(const cm_spread *spread, size_t flows_max, cm_memory *memory, cm_spread_part *part, cm_error *error);
void cm_spread_part_free(cm_spread_part *part);

/* Adds all flows of a source at router (x, y) into one quadrant (bit 0: west, bit 1: north). Flows to the same router
 * may stand apart. O(flow_count + rows and columns that the flows pass). */
void cm_spread_add(cm_spread_part *part, uint32_t x, uint32_t y, unsigned quadrant, const cm_flow *flow, size_t flow_count);

/* Expected packets by router of the window, load [routers], in units of the weights. O(window * parts). */
cm_status cm_spread_finish(const cm_spread *spread, const cm_spread_part *part, uint32_t parts, cm_memory *memory,
                           double *load, cm_error *error);
