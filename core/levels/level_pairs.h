/* Coarsened levels as the cache keeps them: which vertices each level merged. The graphs follow from the network by contracting it, for
 * less time than matching takes, and a few bytes a neuron stand for all levels, however many synapses there are. */
#pragma once

#include "core/partition/reference/coarsen.h"

/* Writes the notes and pairs of the levels that files->folder has. A level is a topology file without edges, for its parents. Errors:
 * memory, disk, what reading the levels fails with. O(neurons and synapses of the levels). */
cm_status cm_level_pairs_keep(const cm_level_files *files, const char *to, cm_run *run, cm_error *error);

/* The coarse vertex of each finer one of a level's file, or of its pairs': *parent [*finer_count], the caller's; *count of the coarse ones. */
cm_status cm_level_parents_read(const char *path, cm_run *run, uint32_t **parent, uint32_t *finer_count, uint32_t *count, cm_error *error);

/* Makes the levels after files->shared_count again in files->folder, with their notes, from what is kept in `from`. Frees the graph,
 * which is of level shared_count. CM_DAMAGED: the pairs are not those of this graph, or levels are missing; also what reading fails
 * with. O(entries of the levels). */
cm_status cm_level_pairs_restore(cm_graph *graph, const char *from, cm_level_files *files, cm_run *run, cm_error *error);
