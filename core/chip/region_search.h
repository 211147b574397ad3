/* Compact sets of cores: what region.c looks for where hops have prices (docs/explanation/regions.md). */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"

/* Mean price of a way between two of these cores: energy of its links and of the routers it passes but one, in pJ
 * (where a chip states no energy, hops), and half a mean hop per dead link at the routers of either end. 0 for less
 * than two. O(cores + routers along an axis; on a torus squared). */
cm_status cm_set_cost(const cm_chip *chip, const uint32_t *cores, uint32_t count, cm_memory *memory, double *cost,
                      cm_error *error);

/* Sets of as many cores. */
typedef struct cm_core_sets {
  uint32_t **set; /* [capacity] each a new array of ascending core numbers, the caller's (cm_free) */
  uint32_t count, capacity;
  uint32_t cores; /* of each */
} cm_core_sets;

/* Fills `sets` up to their capacity with sets of `sets->cores` usable cores with low cost, cheapest first, no two the same. `start` is a set that is improved too; NULL: none. A
 * ring of more than 4096 routers is taken for a line. Deterministic. About 2^25 steps. */
cm_status cm_region_search(const cm_chip *chip, const uint8_t *usable, const uint32_t *start, cm_run *run, cm_core_sets *sets,
                           cm_error *error);

/* Which cores of a chip may be used. */
typedef struct cm_core_map {
  const uint8_t *usable; /* [width * height] */
  uint32_t width, height;
} cm_core_map;

/* tallest [width + 2]: at index w the height of the tallest all-usable rectangle at least w wide; *largest: cores of
 * the largest. O(cores). */
cm_status cm_tallest_rectangles(cm_core_map of, cm_memory *memory, uint32_t *tallest, uint64_t *largest, cm_error *error);
