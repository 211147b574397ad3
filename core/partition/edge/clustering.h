/* Clustering by heavy edges under a size limit, and the hierarchy of coarser graphs that it gives: shared by the
 * edge objective and by mesh mapping. */
#ifndef CM_PARTITION_CLUSTERING_H
#define CM_PARTITION_CLUSTERING_H

#include "core/partition/edge/csr_graph.h"

typedef struct cm_clustering_options {
  uint64_t size_max;     /* of a cluster; larger vertices stay alone */
  const uint32_t *label; /* [vertices] only vertices of one label merge; NULL: any */
  uint64_t seed, level;  /* of the visiting order */
} cm_clustering_options;

/* Visits the vertices in a random order that keeps near numbers near; each that is still alone joins the
 * neighbouring cluster of highest rating, weight of the edges to it / its size. Vertices that stay alone, because
 * the clusters they want are full, join each other when they want the same one (two-hop matching: stars and
 * power-law graphs shrink too). Fills map [vertex_count] with cluster numbers, ascending by lowest member;
 * *clusters counts them. Large graphs run in parallel, in fixed batches: proposals from a snapshot, then committed
 * in order, the same for any number of threads. O(entries). */
cm_status cm_cluster_heavy_edges(const cm_csr_graph *graph, const cm_clustering_options *options, cm_run *run, uint32_t *map,
                         uint32_t *clusters, cm_error *error);

enum { CM_HIERARCHY_MAX = 48 };

/* Coarser and coarser graphs. */
typedef struct cm_hierarchy {
  uint32_t levels;                      /* at least 1 */
  cm_csr_graph *level[CM_HIERARCHY_MAX];  /* level[0] is the finest */
  uint32_t *map[CM_HIERARCHY_MAX];      /* map[l]: vertices of level l -> of level l + 1 */
} cm_hierarchy;

typedef struct cm_hierarchy_options {
  uint32_t vertices_min; /* stop at about so many vertices */
  uint64_t size_max;     /* of a vertex on any level */
  double growth;         /* a cluster is at most so many times as large as the mean vertex of its level */
  const uint32_t *label; /* [vertices of the finest graph] never merged across; NULL: none */
  uint64_t seed;
} cm_hierarchy_options;

/* Builds the levels below `finest`, which is borrowed: cm_hierarchy_free leaves it to the caller. Stops early where
 * clustering shrinks a level by less than a twentieth. O(entries) for graphs that shrink as meshes do. */
cm_status cm_hierarchy_build(cm_csr_graph *finest, const cm_hierarchy_options *options, cm_run *run,
                             cm_hierarchy *hierarchy, cm_error *error);

/* Frees all levels but level[0], and the maps; harmless on a zeroed hierarchy. */
void cm_hierarchy_free(cm_hierarchy *hierarchy);

#endif
