/* Cutting the order of operators in segments that are executed depth first, band by band, so that what one operator makes
 * is read by the next while it is still on the chip. Internal to core/machine. */
#pragma once

#include "core/machine/memory/planner.h"

enum { CM_SEGMENT_OPS_MAX = 64 };

typedef struct cm_segment {
  uint32_t first_op, op_count;
  uint32_t first_piece, piece_count; /* in cm_memory_plan.pieces */
  uint64_t first_event, event_count; /* in cm_memory_plan.events */
} cm_segment;

/* The program before it has instructions: pieces in the order of execution, and all that happens to the memory. */
typedef struct cm_memory_plan {
  cm_segment *segments;
  uint32_t segment_count;
  uint32_t *pieces;
  uint32_t piece_count;
  cm_event *events;
  uint64_t event_count;
  cm_traffic traffic;
} cm_memory_plan;

/* Chooses segments for the fewest bytes between the chip and outside (dynamic programming over the order of operators;
 * each candidate is run on the memory planner from the best state found before it) and lays the whole program out. With `fuse`
 * false every operator is a segment of its own. The caller's: cm_memory_plan_free. Errors: memory, cancel, time. */
cm_status cm_memory_plan_make(cm_plan *plan, bool fuse, cm_run *run, cm_memory_plan *layout, cm_error *error);
void cm_memory_plan_free(cm_memory_plan *layout);
