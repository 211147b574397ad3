/* Which integers stand for a network's weights: a scale for each population, found by running. */
#pragma once

#include "core/deploy/integer_network.h"

typedef struct cm_quantised {
  double *scale;      /* [groups] units of the chip for 1 of the network */
  uint64_t clamped;   /* weights, thresholds and biases that did not fit */
  uint64_t differing; /* spikes of populations that are no inputs which one has and the other has not */
  uint32_t runs;
  cm_integer_result result; /* of the last run, the one that stands */
} cm_quantised;

/* Sets the weights of a network so that it spikes as `wanted` says, which ran in floating point with the same loops, counts of neurons before steps: the scale of all populations
 * by powers of the root of 2, then each population's alone. More bits are not fewer errors: words also hold the lowest v. Deterministic. Errors as of
 * cm_integer_run. O(runs * (steps * neurons + events)), at most some 2 * 10^9, the first scale always. */
cm_status cm_quantise(cm_integer_network *network, const cm_spikes *wanted, cm_run *run, cm_quantised *quantised, cm_error *error);
void cm_quantised_free(cm_quantised *quantised); /* harmless on a zeroed one */

/* Spikes that one has and the other has not, of neurons that are no inputs; by_group [groups] (NULL: not asked) counts them, *first is the first step
 * with one, UINT32_MAX: none. Spikes ascend in each step. O(spikes + steps). */
uint64_t cm_spikes_differ(const cm_integer_network *network, const cm_spikes *a, const cm_spikes *b, uint64_t *by_group, uint32_t *first);
