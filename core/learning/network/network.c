/* The policy network forth and back. All matrices row-major; a graph convolution is
 *   H' = relu(H A + (L H) B + b),
 * the first-order form of Defferrard, Bresson and Vandergheynst (NIPS 2016), as in Kipf and Welling (ICLR 2017) but with
 * a matrix of its own for what the node has and for what sets it apart from its neighbours. */
#include <math.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/learning/letter/numbers.h"
#include "core/learning/network/network.h"
#include "core/learning/pilot/pilot.h"

/* log(deviation / step) lies between these. */
static const float log_least = -2, log_most = 1;

cm_network cm_network_of(const cm_policy_shape *shape)
{
  cm_network n = {0};
  size_t at = 0;
  uint32_t inputs = shape->inputs;
  for (uint32_t l = 0; l < shape->layers; l++) {
    n.inputs[l] = inputs;
    n.own[l] = at;
    n.difference[l] = at + (size_t)inputs * shape->width;
    n.bias[l] = n.difference[l] + (size_t)inputs * shape->width;
    at = n.bias[l] + shape->width;
    inputs = shape->width;
  }
  n.readout_inputs = inputs;
  n.readout = at;
  n.readout_bias = n.readout + (size_t)inputs * shape->readout;
  n.full = n.readout_bias + shape->readout;
  n.direct = n.full + (size_t)shape->readout * CM_POLICY_OUTPUTS;
  n.full_bias = n.direct + (size_t)shape->inputs * CM_POLICY_OUTPUTS;
  n.count = n.full_bias + CM_POLICY_OUTPUTS;
  return n;
}

size_t cm_policy_count(const cm_policy_shape *shape)
{
  return shape->kind == CM_KIND_LAYOUT  ? cm_network_of(shape).count
         : shape->kind == CM_KIND_PILOT ? cm_pilot_count(shape)
                                        : cm_letter_numbers_of(shape).count;
}

cm_status cm_policy_pass_new(const cm_policy_shape *shape, uint32_t nodes, cm_memory *memory, cm_policy_pass **pass,
                             cm_error *error)
{
  cm_policy_pass *made;
  size_t rows = 2 * (size_t)nodes, widest = CM_POLICY_OUTPUTS;
  if (CM_NEW(memory, made, 1, error) != CM_OK)
    return error->status;
  made->nodes = nodes;
  made->shape = *shape;
  cm_network n = cm_network_of(shape);
  widest = shape->inputs > widest ? shape->inputs : widest;
  widest = shape->width > widest ? shape->width : widest;
  widest = shape->readout > widest ? shape->readout : widest;
  cm_status status = CM_OK;
  for (uint32_t l = 0; l < shape->layers && status == CM_OK; l++) {
    status = CM_NEW(memory, made->differences[l], rows * n.inputs[l], error);
    if (status == CM_OK)
      status = CM_NEW(memory, made->hidden[l], rows * shape->width, error);
  }
  for (int i = 0; i < 4 && status == CM_OK; i++)
    status = CM_NEW(memory, made->scratch[i], rows * widest, error);
  if (status == CM_OK)
    status = CM_NEW(memory, made->readout, rows * shape->readout, error);
  if (status == CM_OK)
    status = CM_NEW(memory, made->raw, rows * CM_POLICY_OUTPUTS, error);
  if (status == CM_OK)
    status = CM_NEW(memory, made->mean, rows, error);
  if (status == CM_OK)
    status = CM_NEW(memory, made->deviation, rows, error);
  if (status != CM_OK) {
    cm_policy_pass_free(made);
    return status;
  }
  *pass = made;
  return CM_OK;
}

void cm_policy_pass_free(cm_policy_pass *pass)
{
  if (pass == NULL)
    return;
  for (uint32_t l = 0; l < CM_POLICY_LAYERS_MAX; l++) {
    cm_free(pass->differences[l]);
    cm_free(pass->hidden[l]);
  }
  for (int i = 0; i < 4; i++)
    cm_free(pass->scratch[i]);
  cm_free(pass->readout);
  cm_free(pass->raw);
  cm_free(pass->mean);
  cm_free(pass->deviation);
  cm_free(pass);
}

static void add_bias(float *x, const float *bias, size_t rows, size_t width, bool relu)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < width; k++) {
      float sum = x[r * width + k] + bias[k];
      x[r * width + k] = relu && sum < 0 ? 0 : sum;
    }
}

void cm_policy_forward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input, cm_policy_pass *pass)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter, *from = input;
  cm_network n = cm_network_of(s);
  int64_t rows = 2 * (int64_t)pass->nodes;
  for (uint32_t l = 0; l < s->layers; l++) {
    /* The two rows of a node stand one after the other: to the Laplacian they are one row of twice the width. */
    cm_laplacian_apply(laplacian, 2 * n.inputs[l], from, pass->differences[l]);
    cm_gemm(false, false, rows, s->width, n.inputs[l], 1, from, p + n.own[l], 0, pass->hidden[l]);
    cm_gemm(false, false, rows, s->width, n.inputs[l], 1, pass->differences[l], p + n.difference[l], 1,
            pass->hidden[l]);
    add_bias(pass->hidden[l], p + n.bias[l], (size_t)rows, s->width, true);
    from = pass->hidden[l];
  }
  cm_gemm(false, false, rows, s->readout, n.readout_inputs, 1, from, p + n.readout, 0, pass->readout);
  add_bias(pass->readout, p + n.readout_bias, (size_t)rows, s->readout, true);
  cm_gemm(false, false, rows, CM_POLICY_OUTPUTS, s->readout, 1, pass->readout, p + n.full, 0, pass->raw);
  cm_gemm(false, false, rows, CM_POLICY_OUTPUTS, s->inputs, 1, input, p + n.direct, 1, pass->raw);
  add_bias(pass->raw, p + n.full_bias, (size_t)rows, CM_POLICY_OUTPUTS, false);
  for (int64_t r = 0; r < rows; r++) {
    const float *raw = pass->raw + r * CM_POLICY_OUTPUTS;
    float share = (1 + tanhf(raw[1])) / 2, step = policy->bound * input[r * s->inputs + CM_INPUT_STEP];
    pass->mean[r] = policy->bound * tanhf(raw[0]);
    pass->deviation[r] = step * expf(log_least + (log_most - log_least) * share);
  }
}

/* The derivative by the raw outputs. */
static void back_to_raw(const cm_policy *policy, const cm_policy_pass *pass, const float *d_mean,
                        const float *d_deviation, float *d_raw)
{
  for (size_t r = 0; r < 2 * (size_t)pass->nodes; r++) {
    float t = tanhf(pass->raw[r * CM_POLICY_OUTPUTS]), u = tanhf(pass->raw[r * CM_POLICY_OUTPUTS + 1]);
    d_raw[r * CM_POLICY_OUTPUTS] = d_mean[r] * policy->bound * (1 - t * t);
    d_raw[r * CM_POLICY_OUTPUTS + 1] = d_deviation[r] * (log_most - log_least) / 2 * (1 - u * u);
  }
}

static void add_columns(const float *x, size_t rows, size_t width, float *sum)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < width; k++)
      sum[k] += x[r * width + k];
}

static void mask(float *d, const float *output, size_t count)
{
  for (size_t i = 0; i < count; i++)
    d[i] = output[i] > 0 ? d[i] : 0;
}

void cm_policy_backward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input,
                        cm_policy_pass *pass, const float *d_mean, const float *d_deviation, float *gradient)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_network n = cm_network_of(s);
  int64_t rows = 2 * (int64_t)pass->nodes;
  float *d = pass->scratch[0], *below = pass->scratch[1];
  back_to_raw(policy, pass, d_mean, d_deviation, d);
  cm_gemm(true, false, s->readout, CM_POLICY_OUTPUTS, rows, 1, pass->readout, d, 1, gradient + n.full);
  cm_gemm(true, false, s->inputs, CM_POLICY_OUTPUTS, rows, 1, input, d, 1, gradient + n.direct);
  add_columns(d, (size_t)rows, CM_POLICY_OUTPUTS, gradient + n.full_bias);
  cm_gemm(false, true, rows, s->readout, CM_POLICY_OUTPUTS, 1, d, p + n.full, 0, below);
  mask(below, pass->readout, (size_t)rows * s->readout);
  const float *top = s->layers > 0 ? pass->hidden[s->layers - 1] : input;
  cm_gemm(true, false, n.readout_inputs, s->readout, rows, 1, top, below, 1, gradient + n.readout);
  add_columns(below, (size_t)rows, s->readout, gradient + n.readout_bias);
  cm_gemm(false, true, rows, n.readout_inputs, s->readout, 1, below, p + n.readout, 0, d);
  for (uint32_t l = s->layers; l-- > 0;) {
    const float *from = l > 0 ? pass->hidden[l - 1] : input;
    mask(d, pass->hidden[l], (size_t)rows * s->width);
    cm_gemm(true, false, n.inputs[l], s->width, rows, 1, from, d, 1, gradient + n.own[l]);
    cm_gemm(true, false, n.inputs[l], s->width, rows, 1, pass->differences[l], d, 1, gradient + n.difference[l]);
    add_columns(d, (size_t)rows, s->width, gradient + n.bias[l]);
    if (l == 0)
      break; /* nobody asks for the derivative by the input */
    cm_gemm(false, true, rows, n.inputs[l], s->width, 1, d, p + n.difference[l], 0, below);
    cm_laplacian_apply_transposed(laplacian, 2 * n.inputs[l], below, pass->scratch[2], pass->scratch[3]);
    cm_gemm(false, true, rows, n.inputs[l], s->width, 1, d, p + n.own[l], 1, pass->scratch[3]);
    memcpy(d, pass->scratch[3], (size_t)rows * n.inputs[l] * sizeof *d);
  }
}
