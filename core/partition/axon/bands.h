/* Candidates for merging from the sketches alone (banding of minimum hashes, locality-sensitive hashing): vertices that have the
 * same least net in two bins. Two vertices that share a part of all their nets meet in the square of that part of the bands. */
#pragma once

#include "core/partition/axon/sketch.h"

typedef struct cm_bands {
  uint32_t count;
  uint32_t *group; /* [vertices * count] where in the band's order a vertex's group begins; UINT32_MAX: in none */
  uint32_t *order; /* [count][vertices] by group, ascending inside each */
  uint32_t *end;   /* [count][vertices] at where a group begins: where it ends */
} cm_bands;

/* Groups the vertices in `count` bands, CM_SKETCH_KEYS / 2 at most. The same for any number of threads. O(count * vertices). */
cm_status cm_bands_new(const cm_sketches *sketches, uint32_t count, cm_run *run, cm_bands *bands, cm_error *error);
void cm_bands_free(cm_bands *bands); /* zeroed: nothing happens */
