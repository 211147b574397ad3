/* A numbering of vertices in which those with common nets are near each other, so that what is worked on together lies
 * together in memory. */
#pragma once

#include "base/random.h"
#include "base/run.h"
#include "core/network/topology.h"

/* Fills number [vertex_count] with a permutation: cells of vertices that one net reaches, cells beside cells that they
 * touch. O(vertices + pins of the nets that found a cell). */
cm_status cm_number_by_locality(const cm_topology *topology, cm_run *run, uint32_t *number, cm_error *error);

/* Fills order [count] with a random permutation of 0 .. count - 1 in which runs of `block` numbers stay together, each
 * shuffled: random enough for local search, and what is near each other is visited together. O(count). */
void cm_shuffle_by_locality(cm_random *random, uint32_t block, uint32_t *order, uint32_t count);
