/* Where the numbers of the policy network stand among its parameters; inside this room only. */
#ifndef CM_LEARNING_NETWORK_NETWORK_H
#define CM_LEARNING_NETWORK_NETWORK_H

#include "core/learning/network/policy.h"

typedef struct cm_network {
  uint32_t inputs[CM_POLICY_LAYERS_MAX]; /* of each convolution */
  size_t own[CM_POLICY_LAYERS_MAX];      /* [inputs * width] */
  size_t difference[CM_POLICY_LAYERS_MAX];
  size_t bias[CM_POLICY_LAYERS_MAX];     /* [width] */
  uint32_t readout_inputs;
  size_t readout, readout_bias;          /* [readout_inputs * readout], [readout] */
  size_t full, direct, full_bias;        /* [readout * outputs], [inputs * outputs], [outputs] */
  size_t count;
} cm_network;

cm_network cm_network_of(const cm_policy_shape *shape);

#endif
