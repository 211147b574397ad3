#include "core/learning/policy/pilot_network.h"

#include <math.h>

#include "core/partition/options.h"

size_t cm_pilot_count(const cm_policy_shape *shape)
{
  return (size_t)shape->inputs * shape->width + ((size_t)shape->width + shape->inputs) * CM_PILOT_OUTPUTS;
}

void cm_pilot_initialise(cm_policy *pilot, uint64_t seed)
{
  size_t hidden = (size_t)pilot->shape.inputs * pilot->shape.width;
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_POLICY, 3);
  cm_random_normals(&random, pilot->parameter, hidden);
  for (size_t i = 0; i < hidden; i++)
    pilot->parameter[i] *= 0.5f;
}

void cm_pilot_ask(const cm_policy *pilot, const float *input, float *output)
{
  size_t width = pilot->shape.width;
  const float *hidden = pilot->parameter, *out = hidden + CM_PILOT_INPUTS * width;
  const float *direct = out + width * CM_PILOT_OUTPUTS;
  memset(output, 0, CM_PILOT_OUTPUTS * sizeof *output);
  for (size_t k = 0; k < width; k++) {
    float sum = 0;
    for (size_t i = 0; i < CM_PILOT_INPUTS; i++)
      sum += input[i] * hidden[i * width + k];
    float bent = tanhf(sum);
    for (size_t o = 0; o < CM_PILOT_OUTPUTS; o++)
      output[o] += bent * out[k * CM_PILOT_OUTPUTS + o];
  }
  for (size_t i = 0; i < CM_PILOT_INPUTS; i++)
    for (size_t o = 0; o < CM_PILOT_OUTPUTS; o++)
      output[o] += input[i] * direct[i * CM_PILOT_OUTPUTS + o];
}
