/* What multilevel methods share: a graph is merged into coarser and coarser ones, something is found on the coarsest, and taken
 * down level by level and refined on each; a V-cycle lifts what is there to the coarsest first. A method says how its graphs
 * are merged (cm_coarsener) and what it does on a level (cm_refine_level); nothing here looks into them.
 *
 * Two have drivers of their own. core/partition/reference keeps one level in memory and all in files, which later jobs read
 * again and which may be damaged. core/partition/axon merges sketches beside its graphs, goes on with larger clusters where a
 * level did not shrink, takes levels out again that hardly lost pins, and frees each as soon as it is left: an interface for
 * that would be longer than its loop. */
#pragma once

#include <stdint.h>

#include "base/run.h"

enum { CM_HIERARCHY_MAX = 64 };

/* Coarser and coarser graphs of one kind. */
typedef struct cm_hierarchy {
  uint32_t levels;                     /* at least 1 */
  void *level[CM_HIERARCHY_MAX];       /* level[0] is the finest, and borrowed */
  uint32_t vertices[CM_HIERARCHY_MAX]; /* of each */
  uint32_t *map[CM_HIERARCHY_MAX];     /* map[l]: vertices of level l -> of level l + 1; map[l][v] <= v */
  void (*release)(void *graph);
} cm_hierarchy;

/* A level whose vertices are to be clustered. */
typedef struct cm_level {
  const void *graph;
  uint32_t number;       /* 0: the finest */
  const uint32_t *label; /* [vertices] no cluster has vertices of two; NULL: any */
} cm_level;

/* How the graphs of a method are merged. */
typedef struct cm_coarsener {
  void *context;
  uint32_t vertices_min; /* levels end at about so many */
  const uint32_t *label; /* of the finest level's vertices; NULL: none */
  /* Clusters of the vertices of a level, ascending by their lowest members. As many clusters as vertices: a coarser level is not
   * worth it. */
  cm_status (*cluster)(void *context, const cm_level *level, uint32_t *map, uint32_t *clusters, cm_error *error);
  cm_status (*contract)(const void *graph, const uint32_t *map, uint32_t clusters, cm_run *run, void **coarse, cm_error *error);
  void (*release)(void *graph);
} cm_coarsener;

/* Builds the levels below `finest`. */
cm_status cm_hierarchy_build(void *finest, uint32_t vertices, const cm_coarsener *coarsener, cm_run *run, cm_hierarchy *hierarchy,
                             cm_error *error);

/* Frees all levels but level[0], and the maps; harmless on a zeroed hierarchy. */
void cm_hierarchy_free(cm_hierarchy *hierarchy);

static inline void *cm_hierarchy_coarsest(const cm_hierarchy *hierarchy)
{
  return hierarchy->level[hierarchy->levels - 1];
}

/* From parts of the finest level's vertices to those of the coarsest's, in place: clusters are inside parts. O(vertices). */
void cm_hierarchy_lift(const cm_hierarchy *hierarchy, uint32_t *part);

/* From parts of the vertices of level + 1 to those of `level`, in place. O(vertices). */
void cm_hierarchy_project(const cm_hierarchy *hierarchy, uint32_t level, uint32_t *part);

typedef cm_status cm_refine_level(void *context, const cm_hierarchy *hierarchy, uint32_t level, uint32_t *part, cm_error *error);

/* From parts of the coarsest level's vertices to those of the finest's, refined on every level but the coarsest.
 * part [vertices of the finest]. */
cm_status cm_hierarchy_descend(const cm_hierarchy *hierarchy, cm_refine_level *refine, void *context, uint32_t *part,
                               cm_error *error);
