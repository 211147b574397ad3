/* Coarsening (source 0, steps s2-1 and s2-2). */
#ifndef CM_PARTITION_COARSEN_H
#define CM_PARTITION_COARSEN_H

#include "core/partition/graph.h"
#include "core/partition/options.h"

enum { CM_LEVELS_MAX = 60 };

/* What matches a level, and the matching. */
typedef struct cm_pairing_task {
  const cm_graph *graph;
  const cm_partition_options *options;
  cm_matching matching;
  uint32_t level;
  cm_run *run;
} cm_pairing_task;

typedef struct cm_pairing {
  uint32_t *mate; /* [vertex_count] itself when unpaired */
  uint32_t pairs;
  uint64_t removed; /* edge weight that merging the pairs removes */
} cm_pairing;

/* One matching: visits vertices in the random order of (seed, level, try), pairs each with a neighbour on its
 * heaviest edge (one of them at random when several weigh the same; CM_MATCHING_AVAILABLE: on the heaviest of the edges
 * that allow it) if neither is paired and the merged size times share is at most the capacity. Fills `pairing`. O(entries). */
cm_status cm_match(const cm_pairing_task *task, uint32_t try, cm_pairing *pairing, cm_error *error);

/* One level: the best of options->coarsening_tries matchings by removed weight (the first of equals), contracted.
 * parent [graph->vertex_count] gets the coarse vertex of each vertex; coarse vertices are numbered by their lowest
 * member. *coarse is NULL when the level would shrink by less than options->coarsening_stop; with CM_MATCHING_AUTO it is
 * matched again by CM_MATCHING_AVAILABLE before, which *available then says. */
cm_status cm_coarsen_level(const cm_pairing_task *task, uint32_t *parent, cm_graph **coarse, bool *available, cm_error *error);

/* Where levels are kept: folder/level-N.zip (N = 1, 2, ...). */
typedef struct cm_level_files {
  const char *folder;
  uint64_t weight_scale;
  bool stored; /* not packed */
} cm_level_files;

/* All levels below a finest graph, each written to its file; *levels says how many. Beside a level that CM_MATCHING_AUTO matched by
 * CM_MATCHING_AVAILABLE lies an empty file available-N. Frees `finest` as soon as it is no longer needed. Opens phase "coarsen". */
cm_status cm_coarsen(cm_graph *finest, const cm_partition_options *options, const cm_level_files *files, cm_run *run,
                     uint32_t *levels, cm_error *error);

#endif
