#include "core/learning/policy/letter_numbers.h"

#include <math.h>

#include "core/partition/options.h"

cm_letter_numbers cm_letter_numbers_of(const cm_policy_shape *shape)
{
  cm_letter_numbers n = {.below = cm_convolutions_of(shape)};
  size_t outputs = 2 * (size_t)shape->kind, readout = shape->readout;
  n.full = n.below.end;
  n.mix = n.full + readout * readout;
  n.full_bias = n.mix + readout * readout;
  n.output = n.full_bias + readout;
  n.output_bias = n.output + readout * outputs;
  n.count = n.output_bias + outputs;
  return n;
}

void cm_letter_initialise(cm_policy *policy, uint64_t seed)
{
  const cm_policy_shape *s = &policy->shape;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  cm_random random;
  float *p = policy->parameter;
  size_t readout = s->readout;
  cm_random_init(&random, seed, CM_STREAM_POLICY, 1);
  cm_convolutions_draw(policy, &random);
  cm_draw_weights(&random, p + n.full, readout * readout, sqrt(1.0 / s->readout));
  cm_draw_weights(&random, p + n.mix, readout * readout, sqrt(1.0 / s->readout));
  cm_draw_weights(&random, p + n.output, readout * 2 * s->kind, 0.1 * sqrt(2.0 / s->readout));
}
