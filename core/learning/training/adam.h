/* Adam (Kingma and Ba 2015): steps of gradient descent with a rate of its own for every number. */
#pragma once

#include "base/memory.h"

typedef struct cm_adam {
  size_t count;
  float *moment, *square; /* [count] running means of gradients and of their squares */
  uint64_t steps;
} cm_adam;

cm_status cm_adam_new(size_t count, cm_memory *memory, cm_adam *adam, cm_error *error);
void cm_adam_free(cm_adam *adam); /* harmless on a zeroed one */

/* One step down a gradient [count], cut to length 1. O(count). */
void cm_adam_step(cm_adam *adam, double rate, const float *gradient, float *parameter);
