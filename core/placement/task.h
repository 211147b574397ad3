/* What every placer is given: the cores to place on. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/chip/region.h"
#include "core/placement/axes.h"

typedef struct cm_place_task {
  const cm_chip *chip;
  const cm_region *region;
  const cm_axes *axes; /* under the region's cores; NULL where a placer says nothing of them */
  uint64_t seed;
  cm_run *run;
} cm_place_task;
