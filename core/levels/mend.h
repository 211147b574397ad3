/* Levels of an edited network, carried over from those of the network that it was edited from: pairs that still are some stay, the
 * rest is matched anew, level by level. */
#pragma once

#include "core/partition/reference/coarsen.h"

/* What merged in another network. */
typedef struct cm_old_levels {
  uint32_t count;
  uint32_t vertices[CM_LEVELS_MAX + 1]; /* of the network, then of each level */
  uint32_t *parent[CM_LEVELS_MAX];      /* [vertices of the finer one] */
  cm_level_note note[CM_LEVELS_MAX + 1];
} cm_old_levels;

/* Reads the levels that files->count counts, and their notes. The caller frees (harmless on a zeroed one). Errors: memory, damaged files. */
cm_status cm_old_levels_read(const cm_level_files *files, cm_run *run, cm_old_levels *old, cm_error *error);
void cm_old_levels_free(cm_old_levels *old);

typedef struct cm_mend_task {
  const cm_topology *network, *edited_from;
  const cm_partition_options *options;
  const cm_old_levels *old; /* of edited_from, for these options */
} cm_mend_task;

/* Pairs of the levels that were made. */
typedef struct cm_mended {
  uint64_t carried, matched; /* that stayed; all others */
} cm_mended;

/* The levels below a graph, which is level files->shared_count of the network, as cm_coarsen makes them. Neurons are the same by their
 * names where both networks have some, else by their numbers. A pair stays if it may merge by size and has an edge; levels end where the
 * old ones do, unless there is another level's worth of vertices more. Frees the graph. O(entries of the
 * levels). */
cm_status cm_levels_mend(cm_graph *graph, const cm_mend_task *task, cm_level_files *files, cm_run *run, cm_mended *mended,
                         cm_error *error);
