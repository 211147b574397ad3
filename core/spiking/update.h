/* One step of neurons of one model. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/spiking/coefficients.h"

typedef struct cm_update {
  const cm_coefficients *coefficients;
  float *v, *current, *second; /* [neurons]; second: of negative weights, NULL: no neuron has one */
  uint32_t *resting;  /* [neurons] steps that v still stays; NULL: none does */
  float *sum;         /* what comes in, of neuron base + i at i; zeroed; what goes to second follows after `apart` */
  uint32_t apart;
  uint32_t base;
  bool closed;        /* v takes what the current is over the step, not its new value */
  cm_reset reset;
  uint8_t model;
} cm_update;

/* Updates neurons begin .. end - 1 and writes those that spike, ascending, to `fired`; returns how many. O(end - begin). */
uint32_t cm_update_neurons(const cm_update *update, uint32_t begin, uint32_t end, uint32_t *fired);
