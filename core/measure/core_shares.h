/* How full a core is, against every limit that it has. */
#pragma once

#include "core/mapping/detail.h"

typedef struct cm_share {
  const char *limit; /* as in chip files */
  uint64_t used, most;
} cm_share;

enum { CM_SHARES_MAX = 8 };

/* Fills `shares` with what a core that is so loaded, by neurons of so many populations, uses of each of its limits; returns how many it
 * has. O(1). */
uint32_t cm_core_shares(const cm_chip *chip, uint32_t core, const cm_core_load *load, uint32_t populations, cm_share shares[CM_SHARES_MAX]);

static inline double cm_share_of(const cm_share *share)
{
  return (double)share->used / (double)share->most;
}
