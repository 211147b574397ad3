/* Where the numbers of the policy network stand among its parameters; inside this room only. */
#ifndef CM_LEARNING_NETWORK_NETWORK_H
#define CM_LEARNING_NETWORK_NETWORK_H

#include "core/learning/network/policy.h"

typedef struct cm_network {
  cm_convolutions below;
  size_t full, direct, full_bias; /* [readout * outputs], [inputs * outputs], [outputs] */
  size_t count;
} cm_network;

cm_network cm_network_of(const cm_policy_shape *shape);

#endif
