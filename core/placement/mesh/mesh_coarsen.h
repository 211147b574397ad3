/* Coarsening and coarse geometry for the integrated mapper. */
#ifndef CM_PLACEMENT_MESH_COARSEN_H
#define CM_PLACEMENT_MESH_COARSEN_H

#include "core/partition/edge/clustering.h"
#include "core/placement/mesh/mesh_state.h"

/* What makes an edge worth merging over. */
typedef enum cm_mesh_rating {
  CM_RATE_WEIGHT,  /* its weight */
  CM_RATE_DISTANCE /* weight / squared algebraic distance of its ends: tells near neighbours from long-range ones */
} cm_mesh_rating;

/* Builds the levels below `finest`, which is borrowed, down to about vertices_min. label as in cm_csr_coarsen_options.
 * O(entries) a level, times some twenty for CM_RATE_DISTANCE. */
cm_status cm_mesh_coarsen(cm_csr_graph *finest, cm_mesh_rating rating, const uint32_t *label, uint32_t vertices_min,
                          uint64_t seed, cm_run *run, cm_hierarchy *hierarchy, cm_error *error);

/* Renumbers the vertices of all levels, so that the members of every cluster, of clusters of clusters too, follow each
 * other: what annealing touches together then lies together in memory. The finest graph is replaced by a new one, which
 * is the caller's: (*order)[v] is the old number of its vertex v. After a failure the hierarchy can only be freed, and
 * its finest graph is the old one. O(entries). */
cm_status cm_mesh_sort(cm_hierarchy *hierarchy, cm_run *run, uint32_t **order, cm_error *error);

/* Assigns the vertices of a level to cells by the two slowest modes of the graph (spectral layout), turned to the angle
 * of least cost: cell [vertices]. The modes are found on the coarsest level and smoothed on the way down. Effort 1
 * finds them well, less saves walks. O(entries of the levels passed) times some forty times the effort. */
cm_status cm_mesh_layout(const cm_hierarchy *hierarchy, uint32_t level, const cm_mesh_grid *grid, double effort,
                         uint64_t seed, cm_run *run, uint32_t *cell, cm_error *error);

#endif
