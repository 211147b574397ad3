/* The policy network forth and back. */
#include <math.h>

#include "base/product.h"
#include "core/learning/policy/letter_numbers.h"
#include "core/learning/policy/parameters.h"
#include "core/learning/policy/pilot_network.h"

/* log(deviation / step) lies between these. */
static const float log_min = -2, log_max = 1;

cm_policy_parameters cm_policy_parameters_of(const cm_policy_shape *shape)
{
  cm_policy_parameters n = {.below = cm_convolutions_of(shape)};
  n.full = n.below.end;
  n.direct = n.full + (size_t)shape->readout * CM_POLICY_OUTPUTS;
  n.full_bias = n.direct + (size_t)shape->inputs * CM_POLICY_OUTPUTS;
  n.count = n.full_bias + CM_POLICY_OUTPUTS;
  return n;
}

size_t cm_policy_count(const cm_policy_shape *shape)
{
  return shape->kind == CM_KIND_LAYOUT  ? cm_policy_parameters_of(shape).count
         : shape->kind == CM_KIND_PILOT ? cm_pilot_count(shape)
                                        : cm_letter_numbers_of(shape).count;
}

cm_status cm_policy_pass_new(const cm_policy_shape *shape, uint32_t nodes, cm_memory *memory, cm_policy_pass **pass,
                             cm_error *error)
{
  cm_policy_pass *made;
  size_t rows = 2 * (size_t)nodes;
  CM_TRY(CM_NEW(memory, made, 1, error));
  made->nodes = nodes;
  made->shape = *shape;
  cm_status status = cm_convolved_new(shape, rows, CM_POLICY_OUTPUTS, memory, &made->convolved, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(made->raw, rows * CM_POLICY_OUTPUTS), CM_ARRAY(made->mean, rows),
                             CM_ARRAY(made->deviation, rows)));
  CM_END(status, *pass = made, cm_policy_pass_free(made));
}

void cm_policy_pass_free(cm_policy_pass *pass)
{
  if (pass == NULL)
    return;
  cm_convolved_free(&pass->convolved);
  CM_FREE(pass->raw, pass->mean, pass->deviation, pass);
}

/* The two rows of a node stand one after the other: to the Laplacian they are one row of twice the width. */
static cm_convolution_rows rows_of(const cm_laplacian *laplacian, const float *input, const cm_policy_pass *pass)
{
  return (cm_convolution_rows){laplacian, input, 2 * (size_t)pass->nodes, 2};
}

void cm_policy_forward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input, cm_policy_pass *pass)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_policy_parameters n = cm_policy_parameters_of(s);
  cm_convolution_rows from = rows_of(laplacian, input, pass);
  int64_t rows = (int64_t)from.rows;
  cm_convolutions_forward(policy, &from, &pass->convolved);
  cm_ordered_product((cm_product){.m = rows, .n = CM_POLICY_OUTPUTS, .k = s->readout}, pass->convolved.readout, p + n.full,
                     pass->raw);
  cm_ordered_product((cm_product){.m = rows, .n = CM_POLICY_OUTPUTS, .k = s->inputs, .add = true}, input, p + n.direct,
                     pass->raw);
  cm_add_bias(pass->raw, p + n.full_bias, from.rows, CM_POLICY_OUTPUTS, false);
  for (int64_t r = 0; r < rows; r++) {
    const float *raw = pass->raw + r * CM_POLICY_OUTPUTS;
    float share = (1 + tanhf(raw[1])) / 2, step = policy->bound * input[r * s->inputs + CM_INPUT_STEP];
    pass->mean[r] = policy->bound * tanhf(raw[0]);
    pass->deviation[r] = step * expf(log_min + (log_max - log_min) * share);
  }
}

/* The derivative by the raw outputs. */
static void back_to_raw(const cm_policy *policy, const cm_policy_pass *pass, const float *d_mean,
                        const float *d_deviation, float *d_raw)
{
  for (size_t r = 0; r < 2 * (size_t)pass->nodes; r++) {
    float t = tanhf(pass->raw[r * CM_POLICY_OUTPUTS]), u = tanhf(pass->raw[r * CM_POLICY_OUTPUTS + 1]);
    d_raw[r * CM_POLICY_OUTPUTS] = d_mean[r] * policy->bound * (1 - t * t);
    d_raw[r * CM_POLICY_OUTPUTS + 1] = d_deviation[r] * (log_max - log_min) / 2 * (1 - u * u);
  }
}

void cm_policy_backward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input,
                        cm_policy_pass *pass, const float *d_mean, const float *d_deviation, float *gradient)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_policy_parameters n = cm_policy_parameters_of(s);
  cm_convolution_rows from = rows_of(laplacian, input, pass);
  int64_t rows = (int64_t)from.rows;
  float *d = pass->convolved.scratch[0];
  back_to_raw(policy, pass, d_mean, d_deviation, d);
  cm_ordered_product((cm_product){.m = s->readout, .n = CM_POLICY_OUTPUTS, .k = rows, .transpose_a = true, .add = true},
                     pass->convolved.readout, d, gradient + n.full);
  cm_ordered_product((cm_product){.m = s->inputs, .n = CM_POLICY_OUTPUTS, .k = rows, .transpose_a = true, .add = true}, input, d,
                     gradient + n.direct);
  cm_add_columns(d, from.rows, CM_POLICY_OUTPUTS, gradient + n.full_bias);
  cm_ordered_product((cm_product){.m = rows, .n = s->readout, .k = CM_POLICY_OUTPUTS, .transpose_b = true}, d, p + n.full,
                     pass->convolved.scratch[1]);
  cm_convolutions_backward(policy, &from, &pass->convolved, gradient);
}
