/* The synapses of single vertices, out of them and into them, wherever the arrays stand: what is looked up here and
 * there in an array in a file is read there, not mapped (base/memory.h, cm_peek). */
#pragma once

#include "core/partition/inbound.h"

typedef struct cm_synapses {
  const cm_demand *demand;
  cm_inbound in;
  uint32_t *net_first; /* [vertices + 1] nets of each source */
} cm_synapses;

/* Some synapses of one vertex, by ascending neighbour: of one of its nets, or into it. */
typedef struct cm_synapse_run {
  uint32_t net; /* CM_INBOUND: into it */
  uint64_t begin, end;
} cm_synapse_run;

#define CM_INBOUND UINT32_MAX

/* Builds the list of sources by target. Parallel. O(pins), 4 bytes a synapse (8 where weights are many). */
cm_status cm_synapses_new(const cm_demand *demand, cm_run *run, cm_synapses *synapses, cm_error *error);
void cm_synapses_free(cm_synapses *synapses); /* harmless on a zeroed one */

/* The first of `count` ascending numbers that is `least` or more, by bisection; `count` when none is. */
static inline uint32_t cm_first_at_least(const uint32_t *number, uint32_t count, uint32_t least)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (number[middle] < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Fills neighbour and weight [run->end - run->begin]; a synapse of the vertex with itself weighs 0. Errors: CM_IO. */
cm_status cm_synapses_read(const cm_synapses *synapses, const cm_synapse_run *run, uint32_t *neighbour,
                           uint32_t *weight, cm_error *error);

/* The weight of all synapses between two vertices, both ways. O(log pins of v). Errors: CM_IO. */
cm_status cm_synapses_between(const cm_synapses *synapses, uint32_t v, uint32_t u, int64_t *weight, cm_error *error);
