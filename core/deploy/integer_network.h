/* A network in the steps and the integers of a chip, whichever core each neuron is on: the quantised reference.
 *
 * On a chip every synapse takes its time: `hop` steps from a spike to its targets (1 on one core, 2 by way of relays), and those of the neuron
 * model. So each neuron runs some steps later than in the network, its shift, and synapses that would come too early wait as delays. A loop that
 * is shorter than the chip's becomes as long as that, and nothing else differs. */
#pragma once

#include "base/run.h"
#include "core/deploy/chip_neurons.h"
#include "core/network/spikes.h"
#include "core/network/topology.h"
#include "core/spiking/semantics.h"

typedef struct cm_integer_synapse {
  uint32_t target;
  float real;     /* what it adds to v, in the network's own units */
  int16_t weight; /* the same in the chip's */
  uint8_t delay;  /* steps beyond `hop` */
} cm_integer_synapse;

/* A current that flows into a neuron in every step from `start` on, which is at least 1. */
typedef struct cm_integer_bias {
  uint32_t target, start;
  float real;
  int16_t weight;
} cm_integer_bias;

typedef struct cm_integer_network {
  const cm_topology *topology;
  cm_chip_words words;           /* of the chip */
  uint32_t neurons, hop;
  uint32_t loop;                 /* steps that a synapse inside a loop takes at least */
  bool delayed;                  /* loops by way of synapses with delays are loops, too */
  bool *input;                   /* [neurons] spikes come from outside */
  cm_chip_parameters *parameter; /* [neurons] */
  float *threshold, *rest, *leak; /* [neurons] in the network's units; threshold HUGE_VALF: it never spikes; leak: what v gains in a step, of neurons
                                    with a current */
  uint32_t *shift;               /* [neurons] steps by which its spikes are later than the network's */
  uint32_t shift_most;
  uint32_t groups;               /* of neurons that have one scale: populations */
  uint32_t *group;               /* [neurons] */
  uint64_t *first;               /* [neurons + 1] synapses of each source */
  cm_integer_synapse *synapse;   /* ascending by target, then delay */
  uint64_t synapses;
  cm_integer_bias *bias;         /* [biases] ascending by target, then start */
  uint32_t biases;
} cm_integer_network;

/* Longest delay that a chip's synapse can have. */
enum { CM_CHIP_DELAY_MAX = 63 };

typedef struct cm_integer_setting {
  cm_chip_words words;
  const cm_semantics *semantics;
  double dt;      /* seconds; 0: not said */
  uint32_t hop;
} cm_integer_setting;

/* The structure of a network on a chip; weights and thresholds follow with cm_integer_scale. Errors: as of
 * cm_coefficients_make and cm_synapses_tell; CM_BAD_OPTION: semantics that the chip has no reset or current for; CM_CONFLICT: a neuron that it cannot
 * be, a loop or a delay that is too long; memory, stops. O(pins * populations), mostly O(pins). */
cm_status cm_integer_network_make(const cm_topology *topology, const cm_integer_setting *setting, cm_run *run, cm_integer_network *network, cm_error *error);
void cm_integer_network_free(cm_integer_network *network); /* harmless on a zeroed one */

/* Sets weights, thresholds and rests to `scale` [groups] times their real values, rounded; returns how many did not fit the chip's bits and were clamped. O(pins). */
uint64_t cm_integer_scale(cm_integer_network *network, const double *scale);

/* What came of a run. */
typedef struct cm_integer_result {
  cm_spikes spikes;     /* of all neurons, in the network's own steps */
  uint64_t *clamped;    /* [groups] times that a v stood at its lowest or highest */
} cm_integer_result;

/* Runs it for `steps` of the network's steps with the spikes of inputs that `given` has; other neurons' are passed over. CM_CONFLICT: an input that
 * spikes twice in a step. O(steps * neurons + events). */
cm_status cm_integer_run(const cm_integer_network *network, const cm_spikes *given, uint32_t steps, cm_run *run, cm_integer_result *result,
                         cm_error *error);
void cm_integer_result_free(cm_integer_result *result); /* harmless on a zeroed one */
