/* What a step does to each neuron, as numbers: v <- decay v + gain x + offset, where x is what comes in; of current-based models
 * current <- decay_current current + gain_current x, v <- decay v + coupling current (+ gain x) + offset. A second current takes what comes
 * by negative weights, and adds the same to v. */
#pragma once

#include "base/run.h"
#include "core/network/dynamics.h"
#include "core/network/topology.h"
#include "core/spiking/semantics.h"

/* What a step does to a current and it to v; each array is [neurons]. */
typedef struct cm_synaptic {
  float *decay, *gain, *coupling, *over; /* over: what x adds to v in its own step */
} cm_synaptic;

/* Each array is [neurons]; those of currents are NULL where no model has one, of second ones where no neuron has. */
typedef struct cm_coefficients {
  float *decay, *gain, *offset, *bias, *threshold, *reset;
  float *decay_current, *gain_current, *coupling;
  cm_synaptic second; /* 0 of a neuron without */
  uint32_t *refractory; /* steps that v stays after a spike; NULL: none */
} cm_coefficients;

/* The coefficients of all neurons under `semantics` with steps of `dt` seconds (0: not said). In double precision, rounded once. CM_BAD_OPTION:
 * dt is missing and a model needs it, or a refractory time is no multiple of it; CM_BAD_NETWORK with the neuron: a time constant of 0 or less,
 * one below dt / 2 where that is unstable. O(neurons). */
cm_status cm_coefficients_make(const cm_topology *topology, const cm_semantics *semantics, double dt, cm_memory *memory,
                               cm_coefficients *coefficients, cm_error *error);

/* Sets the biases, with or without the part that flows inside loops; not set before. O(neurons). */
void cm_coefficients_set_bias(const cm_topology *topology, bool loops, cm_coefficients *coefficients);
void cm_coefficients_free(cm_coefficients *coefficients); /* harmless on a zeroed one */

/* Whether a model has a synaptic current. */
static inline bool cm_has_current(uint8_t model)
{
  return cm_neuron_has(model, CM_PARAMETER_TAU_SYN);
}

/* Whether a neuron has a second one, which takes negative weights. */
static inline bool cm_has_second_current(const cm_dynamics *dynamics, uint32_t neuron)
{
  const float *tau = dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY];
  return tau != NULL && tau[neuron] > 0;
}

/* "neuron 7" or, of a network with names, "neuron 7 (lif[3])", in `text`, which it returns. */
const char *cm_neuron_called(const cm_topology *topology, uint32_t neuron, char *text, size_t size);
