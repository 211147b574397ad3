/* A mapping as those see it who measure, simulate, check, bound, draw or write it. */
#ifndef CM_MAPPING_MAPPED_H
#define CM_MAPPING_MAPPED_H

#include "core/chip/chip.h"
#include "core/network/demand.h"

/* A mapped network; everything is the caller's. */
typedef struct cm_mapped {
  const cm_demand *demand;
  const cm_chip *chip;
  const uint32_t *part; /* [vertices] */
  uint32_t parts;
  const uint32_t *core; /* [parts] */
} cm_mapped;

#endif
