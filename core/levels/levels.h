/* Coarsened levels of a job: made from the pairs that the cache has of them, else matched now. Levels that are the same for several
 * capacities are made once. */
#pragma once

#include "core/levels/cache.h"
#include "core/mapping/input.h"
#include "core/levels/mend.h"

typedef struct cm_levels {
  cm_level_files files;
  uint32_t available; /* of them, how many were matched along the heaviest edges available (CM_MATCHING_AUTO) */
  bool cached;        /* their pairs were in the cache: nothing was matched */
  cm_mended mended;   /* of levels that this call has made; 0: nothing was carried over */
  cm_level_files before;     /* of the network that they are carried over from, kept as `first` is */
} cm_levels;

/* Finds or makes the levels for these options, carried over from those of input->levels_from where there is one (mend.h), in the input's scratch folder. The caller gives them back with cm_levels_release. Opens
 * phase "coarsen" unless they were there already. *first (zeroed before) keeps the first that are made, for later calls with other
 * capacities; it is given back after all others. */
cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_levels *first, cm_run *run,
                            cm_levels *levels, cm_error *error);

/* Gives levels back. Harmless on a zeroed cm_levels. */
void cm_levels_release(cm_levels *levels);
