/* Moves neurons between cores that are chosen, until no neuron has more synapses that leave it than the chip allows (core/limits/leaving.h). */
#pragma once

#include "core/limits/leaving.h"

typedef struct cm_keep_leaving {
  const cm_limits *limits; /* of a core, all of which stay kept */
  const uint32_t *cluster; /* [parts] of each part's core */
  uint32_t parts;          /* none of which is emptied */
  uint64_t seed;
} cm_keep_leaving;

/* Changes part [vertices], which keeps the limits on cores: annealing on the sum of what is too much, by moves and exchanges about neurons that have too
 * much; `left` gets what is left of it. Ends at 0, or after looking at some 100 to 1000 times as many synapses as there are. Same input, options, seed: same
 * parts. Memory: that of cm_part_usage, and 4 bytes a synapse. Errors: memory, a stop. */
cm_status cm_keep_leaving_synapses(const cm_demand *demand, const cm_keep_leaving *options, cm_run *run, uint32_t *part, uint64_t *left, cm_error *error);
