/* What parts with pinned neurons pay on cores that do not take these, which then have to travel: parts that stand somewhere already are
 * pulled to where their neurons may lie. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/network/demand.h"
#include "core/partition/graph.h"

typedef struct cm_pulls {
  const uint8_t *usable;   /* [cores] borrowed */
  uint32_t cores, *first; /* cores of the chip; [parts + 1] pulls of part p: first[p] .. */
  uint32_t *choice;       /* of each: the kinds that take its neurons, as a number */
  double *weight;         /* of each: what these say and are told, scaled */
  uint32_t choices, *far; /* [choices * cores] ways both to the nearest core that takes them, about, in units of hops; 0: this one does */
} cm_pulls;

typedef struct cm_pulls_input {
  const cm_demand *demand;
  const cm_chip *chip;     /* with kinds */
  const uint8_t *usable;   /* [cores] */
  const uint64_t *allowed; /* [vertices] kinds that take each neuron, as bits */
  const uint32_t *part;    /* [vertices] */
  uint32_t parts;
} cm_pulls_input;

/* The caller's: cm_pulls_clear. O(pins + vertices log vertices + choices * cores). *fits: false where choices * cores are too many, and there are none.
 * Errors: memory. */
cm_status cm_pulls_make(const cm_pulls_input *input, cm_run *run, cm_pulls *pulls, bool *fits, cm_error *error);
void cm_pulls_clear(cm_pulls *pulls);

/* What a part pays on a core, in weight * units. O(its pulls). */
static inline double cm_pull(const cm_pulls *pulls, uint32_t part, uint32_t core)
{
  double sum = 0;
  for (uint32_t i = pulls->first[part]; i < pulls->first[part + 1]; i++)
    sum += pulls->weight[i] * pulls->far[(size_t)pulls->choice[i] * pulls->cores + core];
  return sum;
}

/* turned.c: core [parts] are turned, mirrored and shifted as a whole to usable cores of the same kinds of `chip` where that costs less in all. O(64-fold of
 * parts, or of what there is to try). Errors: memory, cancelled. */
cm_status cm_turn_places(const cm_graph *parts, const cm_chip *chip, const cm_pulls *pulls, cm_run *run, uint32_t *core, cm_error *error);
