/* Single neurons that change parts, for fewer packets within a budget of time. */
#pragma once

#include "core/partition/step/step_state.h"

typedef struct cm_step_anneal_options {
  double budget_ns;  /* what a part may take; where `lower`, the first one to try */
  bool lower;        /* the budget goes down while hardly any part exceeds it */
  double heat;       /* at first, in mean packets */
  uint32_t sweeps;   /* visits of all neurons */
  double share;      /* of the neurons, that each of them visits */
  double swaps;      /* share of visits that look at two neurons changing places */
  uint64_t seed;
  const uint32_t *movable; /* [movable_count] neurons that may change parts; NULL: all */
  uint32_t movable_count;
} cm_step_anneal_options;

/* Moves neurons of a whole, legal partition within the limits that are kept; the best that was seen stays: with `lower`
 * the one with the shortest time, else that with the fewest packets within the budget (the shortest, where none is).
 * Deterministic. O(sweeps * synapses * parts that axons reach). */
cm_status cm_step_anneal(cm_step_state *state, const cm_step_anneal_options *options, cm_error *error);
