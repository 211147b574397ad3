/* Cheaper places that keep all constraints: annealing by moves and swaps, then neighbourhoods that are searched whole. */
#pragma once

#include "core/constraints/place_search.h"

/* Improves `place` [variables], which is *legal, or so but for circuits, with about `moves` moves in several trials, each with a stream of the run's seed. What is legal
 * stays so, and may become so. Errors: cancelled, memory. */
cm_status cm_anneal_places(const cm_state *state, uint64_t moves, cm_run *run, uint32_t *place, bool *legal, cm_error *error);

/* Frees a few variables at a time and searches all their places, `rounds` times; `domain` [variables * words] is what propagation leaves of the
 * model's. *proved: everything was searched at once, and nothing costs less. */
cm_status cm_search_around(cm_state *state, const uint64_t *domain, uint32_t rounds, cm_run *run, uint32_t *place, cm_error *error);
