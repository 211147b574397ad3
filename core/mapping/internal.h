/* What the metrics share among their files. */
#ifndef CM_MAPPING_INTERNAL_H
#define CM_MAPPING_INTERNAL_H

#include "core/base/run.h"
#include "core/chip/chip.h"

/* Steps from one router to another: positive is east or south. */
typedef struct cm_offset {
  int32_t x, y;
} cm_offset;

/* One flow that leaves a source: how far, and how many packets in units of the weights. */
typedef struct cm_flow {
  cm_offset to;
  uint64_t weight;
} cm_flow;

/* Probabilities of random minimal routing, shared by all sources: at offset (i, j) from the source, row j.
 *   inside  the packet passes, its target being further in both axes
 *   column  it passes, its target being straight on along y (x is reached)
 *   row     it passes, its target being straight on along x (y is reached) */
typedef struct cm_spread_table {
  uint32_t width, height;
  double *inside, *column, *row; /* [height * width] */
} cm_spread_table;

/* Offsets up to (width - 1, height - 1). O(width * height). */
cm_status cm_spread_table_new(uint32_t width, uint32_t height, cm_memory *memory, cm_spread_table *table,
                              cm_error *error);
void cm_spread_table_free(cm_spread_table *table);

/* Scratch of one thread for cm_spread. */
typedef struct cm_spread_scratch {
  uint64_t *target; /* [table height * width], all 0 between calls */
  uint64_t *column; /* [table width] */
} cm_spread_scratch;

cm_status cm_spread_scratch_new(const cm_spread_table *table, cm_memory *memory, cm_spread_scratch *scratch,
                                cm_error *error);
void cm_spread_scratch_free(cm_spread_scratch *scratch);

/* Adds to `load` [routers] the expected packets of all flows of the source at router (x, y). Per quadrant the
 * cheaper of one pass per flow and one pass over the quadrant that serves all flows. Flows of one quadrant (by
 * sign of x and y, 0 being positive) must stand together. */
void cm_spread(const cm_spread_table *table, cm_spread_scratch *scratch, uint32_t routers_x,
               uint32_t routers_y, uint32_t x, uint32_t y, const cm_flow *flow, size_t flow_count,
               double *load);

#endif
