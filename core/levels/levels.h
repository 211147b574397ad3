/* Coarsened levels of a job: from the cache when it has them, else made now. Levels that are the same for several capacities are
 * made once. */
#ifndef CM_LEVELS_LEVELS_H
#define CM_LEVELS_LEVELS_H

#include "core/levels/cache.h"
#include "core/mapping/input.h"
#include "core/partition/reference/coarsen.h"

typedef struct cm_levels {
  cm_level_files files;
  uint32_t available;       /* of them, how many were matched along the heaviest edges available (CM_MATCHING_AUTO) */
  bool cached;              /* found in the cache: nothing was coarsened */
  char key[CM_CACHE_KEY_MAX], shared_key[CM_CACHE_KEY_MAX]; /* of both folders in the cache; "" when there is none */
} cm_levels;

/* Finds or makes the levels for these options. The caller gives them back with cm_levels_release. Opens phase "coarsen"
 * unless they were made already. Without a cache, *first (zeroed before; may be NULL) keeps the first that are made, for later calls with
 * other capacities; it is given back after all others. */
cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_levels *first, cm_run *run,
                            cm_levels *levels, cm_error *error);

/* Whether this is what reading levels fails with that are not as they were written. */
bool cm_levels_are_damaged(cm_status status);

/* Gives levels back; `damaged` drops them from the cache so that they are made again. Harmless on a zeroed
 * cm_levels. */
void cm_levels_release(const cm_map_input *input, cm_levels *levels, bool damaged);

#endif
