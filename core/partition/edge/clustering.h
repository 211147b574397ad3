/* Clustering by heavy edges under a size limit, and the coarser graphs that it gives: shared by the edge objective, mesh mapping
 * and the order of many parts. */
#pragma once

#include "core/partition/edge/csr_graph.h"
#include "core/partition/multilevel.h"

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

/* Ratings of a graph's entries to merge by in place of their weights: rating [entry_count]. */
typedef cm_status cm_rate_entries(const cm_csr_graph *graph, uint64_t seed, uint32_t level, cm_run *run, uint32_t **rating,
                                  cm_error *error);

typedef struct cm_csr_coarsen_options {
  uint32_t vertices_min; /* stop at about so many vertices */
  uint64_t size_max;     /* of a vertex on any level */
  uint64_t size_min;     /* what a cluster may have in any case */
  double growth;         /* a cluster is at most so many times as large as the mean vertex of its level */
  const uint32_t *label; /* [vertices of the finest graph] never merged across; NULL: none */
  uint64_t seed;
  cm_rate_entries *rate; /* NULL: by weight */
  double share;        /* of the run's stretch that it tells as progress; 0: none */
} cm_csr_coarsen_options;

/* Builds the levels below `finest`, which is borrowed. Stops early where clustering shrinks a level by less than a twentieth.
 * O(entries) for graphs that shrink as meshes do, and what rating takes. */
cm_status cm_csr_coarsen(cm_csr_graph *finest, const cm_csr_coarsen_options *options, cm_run *run, cm_hierarchy *hierarchy,
                         cm_error *error);

/* The same from vertices of a good order: 2^bits that follow each other make one of the next level. */
cm_status cm_csr_coarsen_in_order(cm_csr_graph *finest, unsigned bits, uint32_t vertices_min, cm_run *run,
                                  cm_hierarchy *hierarchy, cm_error *error);
