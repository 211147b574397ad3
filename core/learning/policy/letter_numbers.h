/* Where the numbers of the letter's network stand among its parameters; inside core/learning only. */
#pragma once

#include "core/learning/policy/policy.h"

typedef struct cm_letter_numbers {
  cm_convolutions below;
  size_t full, mix, full_bias; /* [readout * readout] twice, [readout] */
  size_t output, output_bias;  /* [readout * 2 axes], [2 axes] */
  size_t count;
} cm_letter_numbers;

cm_letter_numbers cm_letter_numbers_of(const cm_policy_shape *shape);

/* Before training: He et al. 2015, the output layer a tenth of that, deviations a fifth of the bound. */
void cm_letter_initialise(cm_policy *policy, uint64_t seed);
