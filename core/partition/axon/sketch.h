/* Sketches of the sets of inbound nets, from which the overlap of two vertices is estimated without looking at the
 * nets: one-permutation minimum hashing (Li, Owen, Zhang 2012). Sketches of merged vertices follow from those of their
 * members. */
#pragma once

#include <string.h>

#include "core/partition/axon/hypergraph.h"

enum { CM_SKETCH_LANES = 8, CM_SKETCH_BINS_MAX = 64, CM_SKETCH_KEYS = 16 };
typedef int16_t cm_lanes __attribute__((vector_size(2 * CM_SKETCH_LANES)));

typedef struct cm_sketches {
  uint32_t vertex_count;
  uint32_t bins;  /* a multiple of CM_SKETCH_LANES */
  uint32_t *key;  /* [vertex_count * CM_SKETCH_KEYS] least hash of the vertex's nets that fall into the bin, of the first
                     bins; UINT32_MAX: none */
  uint16_t *rank; /* [vertex_count * bins] the upper half of it, of all bins; UINT16_MAX: none */
} cm_sketches;

void cm_sketches_free(cm_sketches *sketches); /* NULL is allowed */

/* Sketches of all vertices: 64 bins, fewer where vertices have fewer nets. O(pins). */
cm_status cm_sketches_new(const cm_hypergraph *graph, uint64_t seed, cm_run *run, cm_sketches **sketches, cm_error *error);

/* Sketches of merged vertices, map [vertex_count] to coarse_count. O(vertices * bins). */
cm_status cm_sketches_merge(const cm_sketches *sketches, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_sketches **coarse, cm_error *error);

/* Of lanes that are not negative. */
static inline uint32_t cm_lanes_sum(cm_lanes count)
{
  uint64_t half[2];
  memcpy(half, &count, sizeof half);
  return (uint32_t)((half[0] + half[1]) * UINT64_C(0x0001000100010001) >> 48); /* the products add up in the last lane */
}

/* Estimate of |nets of both| / |nets of either|; 0 when neither has any. O(bins). */
static inline float cm_sketch_overlap(const cm_sketches *sketches, uint32_t u, uint32_t v)
{
  const uint16_t *a = sketches->rank + (size_t)u * sketches->bins, *b = sketches->rank + (size_t)v * sketches->bins;
  cm_lanes both = {0}, neither = {0}, x, y, empty;
  memset(&empty, 0xff, sizeof empty);
  for (uint32_t bin = 0; bin < sketches->bins; bin += CM_SKETCH_LANES) {
    memcpy(&x, a + bin, sizeof x);
    memcpy(&y, b + bin, sizeof y);
    cm_lanes equal = x == y, void_bins = equal & (x == empty);
    both -= equal;
    neither -= void_bins;
  }
  uint32_t equal = cm_lanes_sum(both), void_bins = cm_lanes_sum(neither), either = sketches->bins - void_bins;
  return either > 0 ? (float)(equal - void_bins) / (float)either : 0;
}

/* Brings the sketch of u near, to be compared soon. */
static inline void cm_sketch_fetch(const cm_sketches *sketches, uint32_t u)
{
  const char *row = (const char *)(sketches->rank + (size_t)u * sketches->bins);
  __builtin_prefetch(row);
  __builtin_prefetch(row + (size_t)sketches->bins * sizeof *sketches->rank - 1);
}
