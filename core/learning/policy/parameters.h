/* Where the numbers of the policy network stand among its parameters; inside this room only. */
#pragma once

#include "core/learning/policy/policy.h"

typedef struct cm_policy_parameters {
  cm_convolutions below;
  size_t full, direct, full_bias; /* [readout * outputs], [inputs * outputs], [outputs] */
  size_t count;
} cm_policy_parameters;

cm_policy_parameters cm_policy_parameters_of(const cm_policy_shape *shape);
