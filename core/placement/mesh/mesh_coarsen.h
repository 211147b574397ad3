/* Coarsening and coarse geometry for the integrated mapper. */
#pragma once

#include "core/partition/edge/clustering.h"
#include "core/placement/mesh/mesh_state.h"

/* What makes an edge worth merging over. */
typedef enum cm_mesh_rating {
  CM_RATE_WEIGHT,  /* its weight */
  CM_RATE_DISTANCE /* weight / squared algebraic distance of its ends: tells near neighbours from long-range ones */
} cm_mesh_rating;

typedef struct cm_mesh_coarsening {
  cm_mesh_rating rating;
  const uint32_t *label; /* as in cm_csr_coarsen_options */
  uint32_t vertices_min; /* levels go down to about so many */
  uint64_t seed;
} cm_mesh_coarsening;

/* Builds the levels below `finest`, which is borrowed. O(entries) a level, times some twenty for CM_RATE_DISTANCE. */
cm_status cm_mesh_coarsen(cm_csr_graph *finest, const cm_mesh_coarsening *how, cm_run *run, cm_hierarchy *hierarchy,
                          cm_error *error);

/* Renumbers the vertices of all levels, so that the members of every cluster, of clusters of clusters too, follow each
 * other: what annealing touches together then lies together in memory. The finest graph is replaced by a new one, which
 * is the caller's: (*order)[v] is the old number of its vertex v. After a failure the hierarchy can only be freed, and
 * its finest graph is the old one. O(entries). */
cm_status cm_mesh_sort(cm_hierarchy *hierarchy, cm_run *run, uint32_t **order, cm_error *error);
