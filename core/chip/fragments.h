/* How broken up the free cores of a chip are. */
#ifndef CM_CHIP_FRAGMENTS_H
#define CM_CHIP_FRAGMENTS_H

#include "core/chip/occupancy.h"

typedef struct cm_fragmentation {
  double value;               /* 1 - largest_rectangle / free: 0 when they are one rectangle, or there are none */
  uint32_t free;
  uint64_t largest_rectangle; /* cores */
  uint32_t pieces;            /* groups of free cores that hang together */
  uint32_t largest_piece;     /* cores */
} cm_fragmentation;

/* O(cores). */
cm_status cm_fragmentation_of(const cm_occupancy *occupancy, cm_fragmentation *fragmentation, cm_error *error);

#endif
