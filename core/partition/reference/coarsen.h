/* Coarsening (source 0, steps s2-1 and s2-2). */
#pragma once

#include "base/file.h"
#include "core/partition/graph.h"
#include "core/partition/options.h"

enum { CM_LEVELS_MAX = 60 };

/* Capacities with which all pairs that were asked about would have been allowed or refused as they were. */
typedef struct cm_capacities {
  uint64_t least, most;
} cm_capacities;

/* Pairs that a matching begins with. */
typedef struct cm_pairs_kept {
  const uint32_t *mate; /* [vertices] itself when unpaired; not looked at where there are no */
  uint32_t pairs;
  cm_capacities holds;  /* with these they are the same */
  bool available;       /* CM_MATCHING_AUTO begins with CM_MATCHING_AVAILABLE */
} cm_pairs_kept;

/* What matches a level, and the matching. */
typedef struct cm_pairing_task {
  const cm_graph *graph;
  const cm_partition_options *options;
  cm_matching matching;
  uint32_t level;
  cm_run *run;
  const cm_pairs_kept *kept; /* NULL: none */
} cm_pairing_task;

typedef struct cm_pairing {
  uint32_t *mate; /* [vertex_count] itself when unpaired */
  cm_capacities holds;
  uint32_t pairs;
  uint64_t removed; /* edge weight that merging the pairs removes */
} cm_pairing;

/* One matching: visits vertices in the random order of (seed, level, try), pairs each with a neighbour on its
 * heaviest edge (one of them at random when several weigh the same; CM_MATCHING_AVAILABLE: on the heaviest of the edges
 * that allow it) if neither is paired and the merged size times share is at most the capacity. Fills `pairing`. O(entries). */
cm_status cm_match(const cm_pairing_task *task, uint32_t try, cm_pairing *pairing, cm_error *error);

/* What is noted of a level beside its graph. */
typedef struct cm_level_note {
  cm_capacities holds; /* with these the same level is made of the same graph, or none as well */
  bool available;      /* matched by CM_MATCHING_AVAILABLE because CM_MATCHING_AUTO's first way would have ended coarsening */
} cm_level_note;

/* One level: the best of options->coarsening_tries matchings by removed weight (the first of equals), contracted.
 * parent [graph->vertex_count] gets the coarse vertex of each vertex; coarse vertices are numbered by their lowest
 * member. *coarse is NULL when the level would shrink by less than options->coarsening_stop; with CM_MATCHING_AUTO it is
 * matched again by CM_MATCHING_AVAILABLE before, which the note then says. */
cm_status cm_coarsen_level(const cm_pairing_task *task, uint32_t *parent, cm_graph **coarse, cm_level_note *note, cm_error *error);

/* Where levels 1 .. count lie: each as level-N.zip, with its note beside it; the note of level count + 1 says why there is none. */
typedef struct cm_level_files {
  char shared
    [CM_PATH_MAX]; /* of the first shared_count, which were made with another capacity and are the same; "": there is none */
  char folder[CM_PATH_MAX]; /* of the others */
  uint32_t shared_count, count;
  uint64_t weight_scale;
  bool pairs; /* they are pairs-N.zip, which say what was merged, without edges */
} cm_level_files;

cm_status cm_level_path(const cm_level_files *files, uint32_t number, char path[CM_PATH_MAX], cm_error *error);

/* The note of a level, also of one that was tried and not made, to its file and back: whether the folder, "" for none, has one. */
cm_status cm_level_note_write(const char *folder, uint32_t level, const cm_level_note *note, cm_error *error);
bool cm_level_note_read(const char *folder, uint32_t level, cm_level_note *note);

/* Whether the levels in both folders are all that a capacity has, by their notes; counts those that it has there. */
bool cm_levels_hold(cm_level_files *files, uint64_t capacity, uint32_t *available);

/* One level below *graph, which is level files->count and which it replaces, written and counted; *made is false where it would shrink too
 * little. parent [vertices] gets the coarse vertex of each. The task's graph and level are these. */
cm_status cm_coarsen_once(cm_graph **graph, const cm_pairing_task *task, cm_level_files *files, uint32_t *parent, bool *made,
                          cm_error *error);

/* The levels below a graph, which is level files->shared_count, written to files->folder, and counted. Frees
 * the graph as soon as it is no longer needed. */
cm_status cm_coarsen(cm_graph *graph, const cm_partition_options *options, cm_level_files *files, cm_run *run, cm_error *error);
