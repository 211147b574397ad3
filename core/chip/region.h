/* The region: the free cores chosen for one job (source 0, step s7). */
#pragma once

#include "base/run.h"
#include "core/chip/occupancy.h"

typedef struct cm_region {
  uint32_t x0, y0, width, height; /* bounding box on the chip */
  bool rectangle;                 /* every core of the box was free: surplus ones are only unused */
  uint32_t core_count;
  uint32_t *cores; /* [core_count] ascending core numbers: exactly the cores asked for */
  double cost;     /* mean price of a way between two of them (cm_set_cost) */
} cm_region;

/* Makes the box of a region that of its cores, and says whether every core in it is free. */
void cm_region_enclose(const cm_chip *chip, const cm_occupancy *occupancy, cm_region *region);

/* Chooses `count` free cores: the smallest free rectangle (least half perimeter, then least area, then
 * inside one die, then northernmost, westernmost) that holds them, surplus cores marked unusable from its
 * far corner; when no free rectangle is large enough, the most compact free region. Never a taken or broken
 * core. CM_NO_ROOM carries the figures "needed", "free", "largest_free_rectangle" and says what would fit.
 * O(cores * (width + height)) at worst. */
cm_status cm_region_choose(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, cm_run *run,
                           cm_region **region, cm_error *error);

/* Up to `most` different regions to compare, in regions [most] (the caller's), *found at least 1: the box of
 * cm_region_choose and compact sets of any shape, cheapest first by the prices of the chip's hops (asymmetric,
 * between dies, around a torus, cores behind one router, dead links), the box before all where it costs at most 2 %
 * more. Errors as cm_region_choose. */
cm_status cm_region_candidates(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, uint32_t most,
                               cm_run *run, cm_region **regions, uint32_t *found, cm_error *error);

void cm_region_free(cm_region *region); /* NULL is allowed */
