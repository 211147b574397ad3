/* What makes inputs fire: spikes that are given, or chance. */
#pragma once

#include "base/run.h"
#include "core/network/spikes.h"
#include "core/network/topology.h"

typedef struct cm_stimulus {
  cm_spikes spikes;      /* given; steps 0: none */
  uint32_t *input;       /* [inputs] at random: those with a rate */
  double *chance;        /* [inputs] of a spike in a step */
  uint32_t *next;        /* [inputs] step of the next one */
  uint32_t inputs;
  uint64_t seed;
  uint32_t *now;         /* those of this step */
  uint64_t room;
  cm_memory *memory;
} cm_stimulus;

/* Spikes that are given, which it takes over, also on failure. CM_BAD_OPTION: one is of a neuron that is no input, or behind the last of
 * `steps`. O(spikes log(spikes a step)). */
cm_status cm_stimulus_given(const cm_topology *topology, cm_spikes *spikes, uint32_t steps, cm_run *run, cm_stimulus *stimulus, cm_error *error);

/* Inputs fire at random, independently in each step. */
typedef struct cm_poisson {
  const double *hertz; /* [neurons] of each, NAN: never; NULL: */
  double rate;         /* of all, in hertz */
  double dt;           /* seconds of a step */
  uint64_t seed;
} cm_poisson;

/* CM_BAD_OPTION: more than one spike a step. */
cm_status cm_stimulus_poisson(const cm_topology *topology, const cm_poisson *poisson, cm_run *run, cm_stimulus *stimulus, cm_error *error);

/* The inputs that fire in a step, ascending; to be asked for each from 0. O(spikes; at random: inputs). */
cm_status cm_stimulus_step(cm_stimulus *stimulus, uint32_t step, const uint32_t **input, uint32_t *count, cm_error *error);
void cm_stimulus_free(cm_stimulus *stimulus); /* harmless on a zeroed one */
