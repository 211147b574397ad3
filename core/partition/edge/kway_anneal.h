/* Annealing of a partition of a CSR graph by single moves of border vertices. */
#pragma once

#include "base/random.h"
#include "core/partition/edge/kway.h"

typedef struct cm_kway_anneal_options {
  double sweeps;    /* proposals, in numbers of border vertices */
  double hot, cold; /* temperature at start and end, in typical costs of a move */
  uint64_t most;    /* no move fills a part beyond this */
  double share;     /* of the run's stretch that it tells as progress; 0: none */
} cm_kway_anneal_options;

/* Proposes to move a random border vertex into the part of a random neighbour; takes it with probability min(1,
 * exp(-cost / temperature)). The temperature falls geometrically. O(sweeps * border * parts touched + moves *
 * degree). */
cm_status cm_kway_anneal(cm_kway *state, const cm_kway_anneal_options *options, cm_random *random, cm_error *error);
