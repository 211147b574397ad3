/* Neurons as chips compute them: rows of core/deploy/chip_neurons.def. The reference, the images' simulation and the check share them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/spiking/semantics.h"

typedef enum cm_chip_neuron {
#define CHIP_NEURON(number, ...) CM_CHIP_NEURON_##number,
#include "core/deploy/chip_neurons.def"
#undef CHIP_NEURON
  CM_CHIP_NEURONS
} cm_chip_neuron;

/* What is programmed of a neuron, in the chip's words. */
typedef struct cm_chip_parameters {
  uint8_t model; /* cm_chip_neuron */
  int16_t threshold, leak, rest, refractory;
  int16_t decay_v, decay_u; /* parts of 4096 that go in a step */
  int16_t bias;             /* what v gains in every step, of neurons with a current */
  int16_t v_min, v_max;
} cm_chip_parameters;

typedef struct cm_chip_state {
  int32_t v, u;
  int16_t refractory; /* steps that are left of it */
} cm_chip_state;

/* Takes a neuron one step further with what came in; whether it spikes. */
typedef bool cm_chip_step(const cm_chip_parameters *parameters, int32_t in, cm_chip_state *state);

typedef struct cm_chip_neuron_row {
  const char *name;
  cm_chip_step *step;
  unsigned latency;
  cm_reset reset;
  int above; /* 1: a spike where v is above the threshold; 0: where it reaches it */
  const char *about;
} cm_chip_neuron_row;
extern const cm_chip_neuron_row cm_chip_neurons[]; /* [CM_CHIP_NEURONS] */

/* What images of a chip are made of. */
typedef struct cm_chip_words {
  cm_chip_neuron plain, full; /* of inputs, relays, biases and integrators that nothing inhibits; of all others */
  unsigned bits;              /* of a weight, with its sign, at most 16 */
} cm_chip_words;

#define CHIP_NEURON(number, name, function, ...) cm_chip_step function;
#include "core/deploy/chip_neurons.def"
#undef CHIP_NEURON

/* The row of a name; CM_CHIP_NEURONS: there is none. */
cm_chip_neuron cm_chip_neuron_find(const char *name);
