/* The letter's network forth and back. All matrices row-major; convolutions as in core/learning/network/network.c. */
#include "core/learning/letter/letter.h"

#include <math.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/base/random.h"
#include "core/learning/letter/numbers.h"
#include "core/partition/options.h"

/* log(deviation / bound) is middle + span * tanh: from a fiftieth of the bound to nearly three of it. */
static const float middle = -1.5F, span = 2.5F;

cm_letter_numbers cm_letter_numbers_of(const cm_policy_shape *shape)
{
  cm_letter_numbers n = {0};
  size_t at = 0, outputs = 2 * (size_t)shape->kind, readout = shape->readout;
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
  n.readout_bias = n.readout + inputs * readout;
  n.full = n.readout_bias + readout;
  n.mix = n.full + readout * readout;
  n.full_bias = n.mix + readout * readout;
  n.output = n.full_bias + readout;
  n.output_bias = n.output + readout * outputs;
  n.count = n.output_bias + outputs;
  return n;
}

static void draw(cm_random *random, float *weight, size_t count, double deviation)
{
  cm_random_normals(random, weight, count);
  for (size_t i = 0; i < count; i++)
    weight[i] *= (float)deviation;
}

void cm_letter_initialise(cm_policy *policy, uint64_t seed)
{
  const cm_policy_shape *s = &policy->shape;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  cm_random random;
  float *p = policy->parameter;
  size_t readout = s->readout;
  cm_random_init(&random, seed, CM_STREAM_POLICY, 1);
  for (uint32_t l = 0; l < s->layers; l++) {
    draw(&random, p + n.own[l], (size_t)n.inputs[l] * s->width, sqrt(1.0 / n.inputs[l]));
    draw(&random, p + n.difference[l], (size_t)n.inputs[l] * s->width, sqrt(1.0 / n.inputs[l]));
  }
  draw(&random, p + n.readout, n.readout_inputs * readout, sqrt(2.0 / n.readout_inputs));
  draw(&random, p + n.full, readout * readout, sqrt(1.0 / s->readout));
  draw(&random, p + n.mix, readout * readout, sqrt(1.0 / s->readout));
  draw(&random, p + n.output, readout * 2 * s->kind, 0.1 * sqrt(2.0 / s->readout));
}

cm_status cm_letter_pass_new(const cm_policy_shape *shape, uint32_t rows, cm_memory *memory, cm_letter_pass **pass,
                             cm_error *error)
{
  cm_letter_pass *made;
  size_t widest = 2 * (size_t)shape->kind;
  if (CM_NEW(memory, made, 1, error) != CM_OK)
    return error->status;
  made->rows = rows;
  cm_letter_numbers n = cm_letter_numbers_of(shape);
  widest = shape->inputs > widest ? shape->inputs : widest;
  widest = shape->width > widest ? shape->width : widest;
  widest = shape->readout > widest ? shape->readout : widest;
  cm_status status = CM_OK;
  for (uint32_t l = 0; l < shape->layers && status == CM_OK; l++) {
    status = CM_NEW(memory, made->differences[l], (size_t)rows * n.inputs[l], error);
    if (status == CM_OK)
      status = CM_NEW(memory, made->hidden[l], (size_t)rows * shape->width, error);
  }
  for (int i = 0; i < 4 && status == CM_OK; i++)
    status = CM_NEW(memory, made->scratch[i], rows * widest, error);
  if (status == CM_OK &&
      (CM_NEW(memory, made->readout, (size_t)rows * shape->readout, error) != CM_OK ||
       CM_NEW(memory, made->full, (size_t)rows * shape->readout, error) != CM_OK ||
       CM_NEW(memory, made->mixed, shape->readout, error) != CM_OK ||
       CM_NEW(memory, made->raw, 2 * (size_t)rows * shape->kind, error) != CM_OK ||
       CM_NEW(memory, made->mean, (size_t)rows * shape->kind, error) != CM_OK ||
       CM_NEW(memory, made->deviation, (size_t)rows * shape->kind, error) != CM_OK))
    status = error->status;
  if (status != CM_OK) {
    cm_letter_pass_free(made);
    return status;
  }
  *pass = made;
  return CM_OK;
}

void cm_letter_pass_free(cm_letter_pass *pass)
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
  cm_free(pass->full);
  cm_free(pass->mixed);
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

/* y = L x with the padding's rows, which are zeros. */
static void apply(const cm_letter_view *view, uint32_t width, const float *x, float *y)
{
  cm_laplacian_apply(view->laplacian, width, x, y);
  memset(y + (size_t)view->nodes * width, 0, (size_t)(view->rows - view->nodes) * width * sizeof *y);
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

void cm_letter_forward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter, *from = view->input;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  int64_t rows = view->rows, outputs = 2 * (int64_t)s->kind;
  size_t all = view->rows, readout = s->readout;
  for (uint32_t l = 0; l < s->layers; l++) {
    apply(view, n.inputs[l], from, pass->differences[l]);
    cm_gemm(false, false, rows, s->width, n.inputs[l], 1, from, p + n.own[l], 0, pass->hidden[l]);
    cm_gemm(false, false, rows, s->width, n.inputs[l], 1, pass->differences[l], p + n.difference[l], 1,
            pass->hidden[l]);
    add_bias(pass->hidden[l], p + n.bias[l], all, s->width, true);
    from = pass->hidden[l];
  }
  cm_gemm(false, false, rows, s->readout, n.readout_inputs, 1, from, p + n.readout, 0, pass->readout);
  add_bias(pass->readout, p + n.readout_bias, all, readout, true);
  memset(pass->mixed, 0, readout * sizeof *pass->mixed);
  add_columns(pass->readout, all, readout, pass->mixed);
  for (size_t k = 0; k < readout; k++)
    pass->mixed[k] /= (float)rows;
  cm_gemm(false, false, 1, s->readout, s->readout, 1, pass->mixed, p + n.mix, 0, pass->scratch[0]);
  add_bias(pass->scratch[0], p + n.full_bias, 1, readout, false);
  cm_gemm(false, false, rows, s->readout, s->readout, 1, pass->readout, p + n.full, 0, pass->full);
  add_bias(pass->full, pass->scratch[0], all, readout, true);
  cm_gemm(false, false, rows, outputs, s->readout, 1, pass->full, p + n.output, 0, pass->raw);
  add_bias(pass->raw, p + n.output_bias, all, (size_t)outputs, false);
  for (size_t r = 0; r < all * s->kind; r++) {
    pass->mean[r] = policy->bound * tanhf(pass->raw[2 * r]);
    pass->deviation[r] = policy->bound * expf(middle + span * tanhf(pass->raw[2 * r + 1]));
  }
}

/* The derivative by the raw outputs; nobody asks where padding goes. */
static void back_to_raw(const cm_policy *policy, const cm_letter_view *view, const cm_letter_pass *pass,
                        const float *d_mean, const float *d_deviation, float *d_raw)
{
  memset(d_raw, 0, 2 * (size_t)view->rows * policy->shape.kind * sizeof *d_raw);
  for (size_t r = 0; r < (size_t)view->nodes * policy->shape.kind; r++) {
    float t = tanhf(pass->raw[2 * r]), u = tanhf(pass->raw[2 * r + 1]);
    d_raw[2 * r] = d_mean[r] * policy->bound * (1 - t * t);
    d_raw[2 * r + 1] = d_deviation[r] * span * (1 - u * u);
  }
}

/* Through the output layer, the fully connected one and the readout: fills `below` [rows * readout_inputs] and uses
 * scratch 0 to 2 of the pass. */
static void back_to_convolutions(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass,
                                 float *gradient, float *below)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  int64_t rows = view->rows, outputs = 2 * (int64_t)s->kind;
  size_t all = view->rows, readout = s->readout;
  float *d_raw = pass->scratch[0], *d_full = pass->scratch[1], *d_readout = pass->scratch[2];
  float sum[CM_POLICY_WIDTH_MAX] = {0}, mixed[CM_POLICY_WIDTH_MAX];
  cm_gemm(true, false, s->readout, outputs, rows, 1, pass->full, d_raw, 1, gradient + n.output);
  add_columns(d_raw, all, (size_t)outputs, gradient + n.output_bias);
  cm_gemm(false, true, rows, s->readout, outputs, 1, d_raw, p + n.output, 0, d_full);
  mask(d_full, pass->full, all * readout);
  cm_gemm(true, false, s->readout, s->readout, rows, 1, pass->readout, d_full, 1, gradient + n.full);
  add_columns(d_full, all, readout, sum);
  for (size_t k = 0; k < readout; k++)
    gradient[n.full_bias + k] += sum[k];
  cm_gemm(true, false, s->readout, s->readout, 1, 1, pass->mixed, sum, 1, gradient + n.mix);
  cm_gemm(false, true, 1, s->readout, s->readout, 1 / (float)rows, sum, p + n.mix, 0, mixed);
  cm_gemm(false, true, rows, s->readout, s->readout, 1, d_full, p + n.full, 0, d_readout);
  add_bias(d_readout, mixed, all, readout, false);
  mask(d_readout, pass->readout, all * readout);
  const float *top = s->layers > 0 ? pass->hidden[s->layers - 1] : view->input;
  cm_gemm(true, false, n.readout_inputs, s->readout, rows, 1, top, d_readout, 1, gradient + n.readout);
  add_columns(d_readout, all, readout, gradient + n.readout_bias);
  cm_gemm(false, true, rows, n.readout_inputs, s->readout, 1, d_readout, p + n.readout, 0, below);
}

void cm_letter_backward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass, const float *d_mean,
                        const float *d_deviation, float *gradient)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  int64_t rows = view->rows;
  size_t all = view->rows;
  float *d = pass->scratch[3], *below = pass->scratch[1];
  back_to_raw(policy, view, pass, d_mean, d_deviation, pass->scratch[0]);
  back_to_convolutions(policy, view, pass, gradient, d);
  for (uint32_t l = s->layers; l-- > 0;) {
    const float *from = l > 0 ? pass->hidden[l - 1] : view->input;
    mask(d, pass->hidden[l], all * s->width);
    cm_gemm(true, false, n.inputs[l], s->width, rows, 1, from, d, 1, gradient + n.own[l]);
    cm_gemm(true, false, n.inputs[l], s->width, rows, 1, pass->differences[l], d, 1, gradient + n.difference[l]);
    add_columns(d, all, s->width, gradient + n.bias[l]);
    if (l == 0)
      break; /* nobody asks for the derivative by the input */
    cm_gemm(false, true, rows, n.inputs[l], s->width, 1, d, p + n.difference[l], 0, below);
    memset(pass->scratch[0], 0, all * n.inputs[l] * sizeof *d);
    cm_laplacian_apply_transposed(view->laplacian, n.inputs[l], below, pass->scratch[2], pass->scratch[0]);
    cm_gemm(false, true, rows, n.inputs[l], s->width, 1, d, p + n.own[l], 1, pass->scratch[0]);
    memcpy(d, pass->scratch[0], all * n.inputs[l] * sizeof *d);
  }
}
