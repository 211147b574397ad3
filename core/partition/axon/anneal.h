/* Annealing of the axon objective, on cm_axon_state. */
#pragma once

#include "base/random.h"
#include "core/partition/axon/axon_state.h"

typedef struct cm_anneal_options {
  uint32_t sweeps;       /* visits of all vertices */
  double hot, cold;      /* temperature at start and end, in mean costs of a vertex's move; 0: only improving moves */
  bool hard;             /* only moves that keep the receiving part within its limits */
  bool silent;           /* takes one thread, and may run on any: others run beside it */
  double share;          /* silent: of the stretch under way (cm_run_add) */
  uint32_t level;        /* for progress */
} cm_anneal_options;

/* Sweeps over all vertices in random order; each considers its cheapest part and moves with the probability
 * exp(-cost / temperature). The temperature falls geometrically. Ends early when a cold sweep moves nothing. The
 * vertices of a round of some hundred decide as things stand at its start, on all threads, and the result is the same
 * for any number. O(sweeps * sum over vertices of their nets' lambda). */
cm_status cm_anneal(cm_axon_state *state, const cm_anneal_options *options, cm_random *random, cm_error *error);
