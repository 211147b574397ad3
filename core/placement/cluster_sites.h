/* Parts in clusters of cores, so that little leaves neurons for others (core/limits/leaving.h). */
#pragma once

#include "core/chip/occupancy.h"
#include "core/chip/region.h"
#include "core/limits/leaving.h"

typedef struct cm_cluster_task {
  const cm_demand *demand;
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  const cm_region *region; /* parts may go to free cores of the clusters that it touches */
  const uint32_t *part;    /* [vertices] */
  uint32_t parts;
  cm_run *run;
} cm_cluster_task;

/* Changes core [parts], free ones and different, by single moves and exchanges across clusters as long as fewer synapses leave neurons that have too many;
 * *left: how many are too many in the end. 0 at once where none are. O(pins) a move that is tried, 2e8 in all. Errors: memory, a stop. */
cm_status cm_place_in_clusters(const cm_cluster_task *task, uint32_t *core, uint64_t *left, cm_error *error);
