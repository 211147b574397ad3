/* Between the attempts (attempts.c) and what mends them (attempts_mend.c). */
#pragma once

#include "core/solver/stage/attempts.h"

/* How many parts there may be: as many as cores, and as are asked for. */
static inline uint32_t cm_attempts_parts_most(const cm_attempts *a)
{
  return a->terms.parts != 0 && a->terms.parts < a->terms.cores ? a->terms.parts : a->terms.cores;
}

/* Takes over a partition that is legal and has a core for every part; else *violation says which limit breaks, if
 * any does. */
cm_status cm_attempt_judge(cm_attempts *a, cm_partition **partition, cm_violation *violation, cm_error *error);

/* Whether so many parts ask for far more than all free cores have together. */
bool cm_attempts_ask_far_too_much(const cm_attempts *a, uint32_t parts);

/* Whether the last attempt does so though its method keeps those limits as well as it can: whatever else breaks, smaller parts or
 * moves between them would only ask for more. */
bool cm_attempts_are_out_of_reach(const cm_attempts *a);

/* Why there is no further attempt; NULL: there is one, with this capacity and number of parts. */
const char *cm_attempts_next(cm_attempts *a, const cm_violation *violation, uint64_t *capacity, uint32_t *parts);

/* Whether a partition was taken over. */
static inline bool cm_attempt_done(const cm_attempts *a)
{
  return a->made.partition != NULL;
}

/* Single moves on a copy of a partition; taken over when that makes it legal. Parts that are to keep their cores stay
 * as many. */
cm_status cm_attempt_legalise(cm_attempts *a, const cm_partition *near, bool cores, uint32_t parts_max, cm_error *error);

/* The preset's method for axons, where it is a help against what breaks and it is time for it; else NULL. Where axons
 * exceed the cores by little, somewhat smaller parts are nearer to the engine's own objective. */
const cm_engine *cm_attempt_keeper(const cm_attempts *a, const cm_violation *violation);

/* An attempt by it, where single moves have not helped: its partition is made better for the engine's objective. */
cm_status cm_attempt_by_axons(cm_attempts *a, const cm_engine *keeper, uint64_t capacity, cm_error *error);
