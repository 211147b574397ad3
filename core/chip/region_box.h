/* The box of free cores for one job: what region.c offers first. */
#pragma once

#include "base/run.h"
#include "core/chip/occupancy.h"

typedef struct cm_box {
  uint32_t x, y, width, height; /* cores */
} cm_box;

typedef struct cm_box_search {
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  uint8_t *usable;      /* [cores] 1: free, and not cut off by dead links */
  uint32_t usable_count;
  uint32_t width, height;
  uint32_t count;       /* cores wanted */
  uint32_t *sums;       /* [(height + 1) * (width + 1)] free cores north-west of each corner, so far as asked for */
  uint32_t rows;        /* of the sums that are filled, besides the first */
} cm_box_search;

/* The smallest rectangle of usable cores that holds `count`, at least 1 and at most all (half perimeter, then area, then
 * inside one die, then northernmost, westernmost), or where there is none the smallest box with so many in it; *whole says
 * which. Looks no further south than it must: O(rows down to the box) on a chip that is mostly free. */
cm_status cm_find_box(cm_box_search *search, cm_run *run, cm_box *best, bool *whole, cm_error *error);
