/* A mapping as those see it who measure, simulate, check, bound, draw or write it. */
#pragma once

#include "core/chip/chip.h"
#include "core/network/demand.h"

/* How the cores of a mapping spread what they send over a step: a core of n neurons turns to its i-th at (i + 1/2) / n of `ns`, or as soon after
 * it as it can; a neuron that fires k times in the step does so k times as often at k-th parts of that. */
typedef struct cm_pacing {
  double ns;      /* 0: each core sends as fast as it can */
  double step_ns; /* that a step then takes with finite buffers, barrier included, as it was foreseen */
  uint32_t *turn; /* [vertices] place of each neuron in the order of its core; NULL: there is no pacing */
} cm_pacing;

/* A mapped network; everything is the caller's. */
typedef struct cm_mapped {
  const cm_demand *demand;
  const cm_chip *chip;
  const uint32_t *part; /* [vertices] */
  uint32_t parts;
  const uint32_t *core; /* [parts] */
  const cm_pacing *pacing; /* NULL: none: cores send as fast as they can, in the order of their neurons' numbers */
} cm_mapped;
