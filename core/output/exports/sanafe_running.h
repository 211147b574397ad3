/* What makes an exported network run in SANA-FE as its profile did: parameters of somas, scaled weights, spike trains. */
#pragma once

#include <stdio.h>

#include "base/run.h"
#include "core/network/topology.h"
#include "core/spiking/coefficients.h"

typedef struct cm_sanafe_running {
  const cm_topology *topology;
  const cm_semantics *semantics; /* NULL: the mapping is of no profile, and neurons have no parameters */
  cm_coefficients coefficients;
  double scale;      /* of weights and thresholds: SANA-FE cuts v to 1/64 */
  uint64_t *train;   /* [inputs] by neuron, then step: neuron << 32 | step */
  uint64_t inputs;
  bool biased;       /* a neuron has a bias, which a source that fires in every step sends */
} cm_sanafe_running;

/* CM_BAD_MAPPING: semantics that are not known; errors of cm_coefficients_make; memory. O(neurons + spikes of inputs log). */
cm_status cm_sanafe_running_make(const cm_topology *topology, cm_run *run, cm_sanafe_running *running, cm_error *error);
void cm_sanafe_running_free(cm_sanafe_running *running); /* harmless on a zeroed one */

/* The attributes of a neuron, in brackets. */
void cm_sanafe_put_neuron(const cm_sanafe_running *running, uint32_t neuron, FILE *stream);

/* Whether two neurons have the same ones, and no spike train. */
bool cm_sanafe_alike(const cm_sanafe_running *running, uint32_t a, uint32_t b);

/* The weight of pin i of a net; of a synapse of such a weight into a neuron; of its bias, 0: it has none. */
double cm_sanafe_weight(const cm_sanafe_running *running, uint32_t net, uint64_t i);
double cm_sanafe_scaled(const cm_sanafe_running *running, uint32_t target, double weight);
double cm_sanafe_bias(const cm_sanafe_running *running, uint32_t neuron);
