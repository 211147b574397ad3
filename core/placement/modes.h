/* The slowest non-constant modes of the random walk on a graph: coordinates in which a graph that was drawn on a plane lies nearly
 * as it was drawn (Hall 1970). Found on the coarsest level of a hierarchy and smoothed on the way down. */
#pragma once

#include "base/random.h"
#include "core/partition/edge/csr_graph.h"
#include "core/partition/multilevel.h"

/* Layouts use two; more are kept beside them, so that those that are nearly as slow are told apart. */
enum { CM_MODES_KEPT = 4 };

typedef struct cm_modes {
  const cm_csr_graph *graph;
  double *value, *last, *next; /* [vertices * CM_MODES_KEPT] those of a vertex together, the slowest first */
  double *degree;              /* [vertices] weighted */
  double slowest;              /* of the modes that are not wanted: their eigenvalue at least */
} cm_modes;

/* The modes of a level. Effort 1 finds them well, less saves walks. O(entries of the levels passed) times some forty times the
 * effort. Errors: memory, a stop. */
cm_status cm_modes_find(const cm_hierarchy *hierarchy, uint32_t level, double effort, cm_random *random, cm_run *run,
                        cm_modes *found, cm_error *error);
void cm_modes_free(cm_modes *modes); /* a zeroed one is fine */
