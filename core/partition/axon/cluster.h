/* Clustering by shared inbound axons: the coarsening of the axon objective. */
#pragma once

#include "core/partition/axon/hypergraph.h"
#include "core/partition/axon/sketch.h"

typedef struct cm_cluster_options {
  uint32_t size_max;     /* of a cluster */
  const uint32_t *part;  /* [vertices] only members of the same part join; NULL: all may */
  double floor;          /* a vertex joins a cluster only when it shares at least this part of its nets with it */
  uint64_t seed, level;
} cm_cluster_options;

/* Visits vertices in random order; each that is alone joins the cluster that shares most of its inbound nets per member
 * (average link), by the sketches, among those that hold targets of some of its nets, or,
 * where nets have many, vertices of its bands (bands.h); inbound nets are listed only for the others. Vertices without inbound nets
 * join their targets. Fills map [vertex_count] with cluster numbers, by lowest member; *clusters counts them. The same for any number of threads.
 * O(vertices * (pins of four nets, 2048 each at most, + bins)), with bands O(vertices * (bands + candidates * bins)). */
cm_status cm_cluster(cm_hypergraph *graph, const cm_sketches *sketches, const cm_cluster_options *options,
                     cm_run *run, uint32_t *map, uint32_t *clusters, cm_error *error);
