/* Coarsened levels of a job: from the cache when it has them, else made now. */
#ifndef CM_LEVELS_LEVELS_H
#define CM_LEVELS_LEVELS_H

#include "base/file.h"
#include "core/levels/cache.h"
#include "core/mapping/input.h"
#include "core/partition/options.h"

typedef struct cm_levels {
  char folder[CM_PATH_MAX]; /* holds level-1.zip .. level-<count>.zip */
  uint32_t count;
  uint32_t available;       /* of them, how many were matched along the heaviest edges available (CM_MATCHING_AUTO) */
  bool cached;              /* found in the cache: nothing was coarsened */
  char key[CM_CACHE_KEY_MAX]; /* in the cache; "" when there is none */
} cm_levels;

/* Finds or makes the levels for these options. The caller gives them back with cm_levels_release. Opens phase "coarsen"
 * unless they are cached. */
cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_run *run,
                            cm_levels *levels, cm_error *error);

/* Gives levels back; `damaged` drops them from the cache so that they are made again. Harmless on a zeroed
 * cm_levels. */
void cm_levels_release(const cm_map_input *input, cm_levels *levels, bool damaged);

#endif
