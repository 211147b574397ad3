/* The attempts of the partition stage: one method under one set of terms, until a partition is legal. */
#pragma once

#include "core/levels/levels.h"
#include "core/network/demand_digest.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/stage/infeasibility.h"
#include "core/solver/stage/stage.h"

typedef struct cm_attempts {
  const cm_map_input *input;
  const cm_engine *engine;
  cm_run *run;
  cm_terms terms;
  uint32_t largest;   /* size of the largest neuron, at least 1 */
  uint32_t tries_max; /* attempts at most */
  bool alone;         /* no partition but that of a part a neuron keeps the terms: nothing is searched */
  double fill;        /* what the last attempt asks for of the scarcest of synapses and inbound axons, as a share of all
                         its cores together */
  uint64_t widest;    /* neurons of the largest part of the last attempt, without copies */
  uint64_t least_broken; /* parts over a limit, of the attempts so far that broke one */
  double least_excess;   /* of the worst part over its limit, as a share of it */
  uint32_t vain;      /* attempts in a row that came no nearer by either */
  unsigned char digest[CM_DEMAND_DIGEST_BYTES]; /* cm_engine_task.digest */
  cm_levels levels;   /* that the first attempt made, where there is no cache */
  cm_candidate made;    /* objective, limits that count, attempts and, in the end, the legal partition */
  cm_candidate aside;   /* a legal partition for which single moves paid much, while a smaller capacity is tried */
  /* On failure, the attempt that came nearest: the one whose worst excess is least. */
  cm_partition *nearest;
  cm_violation violation;
  uint64_t most[CM_RESOURCES];
  uint32_t roomy_parts; /* a legal partition with more parts than there are cores; 0: none was met */
  uint32_t first_parts; /* a first partition with so many that the method gave up; 0: it did not */
} cm_attempts;

/* Starts under terms: with a fixed number of parts the stated imbalance becomes the neuron limit. CM_LIMIT_BROKEN
 * when a neuron is larger than that. */
cm_status cm_attempts_begin(const cm_map_input *input, cm_objective objective, const cm_engine *engine, const cm_terms *terms, cm_run *run,
                            cm_attempts *attempts, cm_error *error);

/* Attempts until a partition is legal; smaller capacities where the method does not keep a limit, single moves as
 * the last resort. CM_NO_ROOM or CM_LIMIT_BROKEN when none is. */
cm_status cm_attempts_run(cm_attempts *attempts, cm_error *error);

/* What the job pays for the partition that was judged last. */
double cm_attempts_paid(const cm_candidate *made);

void cm_attempts_end(cm_attempts *attempts);
