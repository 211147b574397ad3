/* Sketches of the sets of inbound nets, from which the overlap of two vertices is estimated without looking at the
 * nets: one-permutation minimum hashing (Li, Owen, Zhang 2012). Sketches of merged vertices follow from those of their
 * members. */
#ifndef CM_PARTITION_SKETCH_H
#define CM_PARTITION_SKETCH_H

#include "core/partition/axon/hypergraph.h"

typedef struct cm_sketches {
  uint32_t vertex_count;
  uint32_t bins;  /* a multiple of 8 */
  uint16_t *rank; /* [vertex_count * bins] least rank of the vertex's nets that fall into the bin; UINT16_MAX: none */
} cm_sketches;

void cm_sketches_free(cm_sketches *sketches); /* NULL is allowed */

/* Sketches of all vertices; `bins_max` (8 to 64, a multiple of 8) as far as vertices have enough nets. O(pins). */
cm_status cm_sketches_new(const cm_hypergraph *graph, uint32_t bins_max, uint64_t seed, cm_run *run,
                          cm_sketches **sketches, cm_error *error);

/* Sketches of merged vertices, map [vertex_count] to coarse_count. O(vertices * bins). */
cm_status cm_sketches_merge(const cm_sketches *sketches, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_sketches **coarse, cm_error *error);

/* Estimate of |nets of both| / |nets of either|; 0 when neither has any. O(bins). */
float cm_sketch_overlap(const cm_sketches *sketches, uint32_t u, uint32_t v);

#endif
