/* Pieces that could take a lane, by device: which of them can begin first. Internal to core/machine. */
#pragma once

#include "core/machine/schedule/lanes.h"
#include "base/heap.h"

/* One that has all it needs from `ready` on; the earlier its place in the sequence, the sooner it goes among several. */
typedef struct cm_ready_piece {
  double ready;
  uint32_t device, place, number; /* number: the caller's, below `most` */
} cm_ready_piece;

typedef struct cm_ready {
  const cm_target *target;
  cm_heap *now, *later; /* by device: by place what is ready when its first lane is idle, by time what is not */
  cm_heap_item *items;  /* theirs */
  cm_ready_piece *piece; /* by number */
  uint32_t most;
} cm_ready;

/* Empty, for at most `most` pieces at once. The caller's: cm_ready_end, also after a failure. Errors: memory. */
cm_status cm_ready_begin(cm_ready *r, const cm_target *target, uint32_t most, cm_memory *memory, cm_error *error);
void cm_ready_end(cm_ready *r);

/* Puts in `to`, which is for as many, what is in `from`. Linear in devices times most. */
void cm_ready_copy(const cm_ready *from, cm_ready *to);

/* O(log most). */
void cm_ready_add(cm_ready *r, const cm_ready_piece *piece);

/* Takes the one that can begin first, given when lanes are idle after all that they have; among several the first of the
 * sequence. There must be one. O(lanes + log most). */
cm_ready_piece cm_ready_take(cm_ready *r, const cm_lanes *lanes);
