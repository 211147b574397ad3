/* The check's own ways over an interconnect that is no plain mesh: only the list of links is taken from the chip. Lengths of
 * ways by label correction from one router, then back from the target, over the router of the lowest number each time. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"

typedef struct cm_check_ways {
  const cm_chip *chip;
  uint32_t routers, links;
  uint32_t source;   /* router that the lengths are from; UINT32_MAX: none yet */
  uint64_t *length;  /* [routers] UINT64_MAX: no way */
  uint32_t *queue;   /* [routers] */
  uint8_t *queued;   /* [routers] */
  uint32_t *into;    /* [links] links by the router that they lead to, then by the one that they leave */
  uint32_t *first;   /* [routers + 1] */
} cm_check_ways;

cm_status cm_check_ways_new(const cm_chip *chip, cm_memory *memory, cm_check_ways *ways, cm_error *error);
void cm_check_ways_free(cm_check_ways *ways);

/* The links of the way between two cores' routers, the last first, in link [routers]; *count of them. CM_BAD_MAPPING where there is
 * none. O(links) where `from` is another router than before. */
cm_status cm_check_way(cm_check_ways *ways, uint32_t from_core, uint32_t to_core, uint32_t *link, uint32_t *count,
                       cm_error *error);
