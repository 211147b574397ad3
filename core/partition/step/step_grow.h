/* Parts grown one after another to a budget of time. */
#pragma once

#include "core/partition/step/step_window.h"

/* Fills the parts of a cleared state one after another: always the neuron with the fewest axons that are new to the part
 * for each that it shares, while the part's time stays within budget_ns and its core's limits hold. `expected` [nets]
 * (NULL: nothing is known): how many parts each net reached in an earlier growth, for what a part will send. *used
 * becomes the number of parts; where it would exceed state->parts the growth ends early with *used = state->parts + 1.
 * `window` (NULL: all neurons are looked at): of those that are in no part the first CM_STEP_WINDOW of its order wait, and the others
 * are not looked at. Deterministic. O(packets * fan-out + vertices * neurons of a part). Source: Ronzani and Silvano (arXiv 2601.16118) for
 * the greedy growing of parts; the budget is ours. */
cm_status cm_step_grow(cm_step_state *state, double budget_ns, const uint32_t *expected, cm_step_window *window, uint32_t *used,
                       cm_error *error);
