#include "core/learning/policy/convolutions.h"
#include "base/product.h"

#include <math.h>

cm_convolutions cm_convolutions_of(const cm_policy_shape *shape)
{
  cm_convolutions n = {0};
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
  n.end = n.readout_bias + shape->readout;
  return n;
}

void cm_draw_weights(cm_random *random, float *weight, size_t count, double deviation)
{
  cm_random_normals(random, weight, count);
  for (size_t i = 0; i < count; i++)
    weight[i] *= (float)deviation;
}

void cm_convolutions_draw(cm_policy *policy, cm_random *random)
{
  const cm_policy_shape *s = &policy->shape;
  cm_convolutions n = cm_convolutions_of(s);
  float *p = policy->parameter;
  for (uint32_t l = 0; l < s->layers; l++) {
    cm_draw_weights(random, p + n.own[l], (size_t)n.inputs[l] * s->width, sqrt(1.0 / n.inputs[l]));
    cm_draw_weights(random, p + n.difference[l], (size_t)n.inputs[l] * s->width, sqrt(1.0 / n.inputs[l]));
  }
  cm_draw_weights(random, p + n.readout, (size_t)n.readout_inputs * s->readout, sqrt(2.0 / n.readout_inputs));
}

cm_status cm_convolved_new(const cm_policy_shape *shape, size_t rows, size_t outputs, cm_memory *memory,
                           cm_convolved *convolved, cm_error *error)
{
  cm_convolutions n = cm_convolutions_of(shape);
  size_t widest = outputs;
  widest = shape->inputs > widest ? shape->inputs : widest;
  widest = shape->width > widest ? shape->width : widest;
  widest = shape->readout > widest ? shape->readout : widest;
  cm_status status = CM_OK;
  *convolved = (cm_convolved){0};
  for (uint32_t l = 0; l < shape->layers && status == CM_OK; l++) {
    status = CM_NEW(memory, convolved->differences[l], rows * n.inputs[l], error);
    CM_THEN(status, CM_NEW(memory, convolved->hidden[l], rows * shape->width, error));
  }
  for (int i = 0; i < 4 && status == CM_OK; i++)
    status = CM_NEW(memory, convolved->scratch[i], rows * widest, error);
  return status == CM_OK ? CM_NEW(memory, convolved->readout, rows * shape->readout, error) : status;
}

void cm_convolved_free(cm_convolved *convolved)
{
  for (uint32_t l = 0; l < CM_POLICY_LAYERS_MAX; l++) {
    CM_FREE(convolved->differences[l], convolved->hidden[l]);
  }
  for (int i = 0; i < 4; i++)
    cm_free(convolved->scratch[i]);
  cm_free(convolved->readout);
}

void cm_add_bias(float *x, const float *bias, size_t rows, size_t width, bool relu)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < width; k++) {
      float sum = x[r * width + k] + bias[k];
      x[r * width + k] = relu && sum < 0 ? 0 : sum;
    }
}

void cm_add_columns(const float *x, size_t rows, size_t width, float *sum)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < width; k++)
      sum[k] += x[r * width + k];
}

void cm_relu_back(float *d, const float *output, size_t count)
{
  for (size_t i = 0; i < count; i++)
    d[i] = output[i] > 0 ? d[i] : 0;
}

/* The rows of padding, of any width. */
static void clear_padding(const cm_convolution_rows *from, uint32_t width, float *x)
{
  size_t nodes = (size_t)from->laplacian->graph->vertex_count * from->fold;
  memset(x + nodes * width, 0, (from->rows - nodes) * width * sizeof *x);
}

void cm_convolutions_forward(const cm_policy *policy, const cm_convolution_rows *from, cm_convolved *to)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter, *below = from->input;
  cm_convolutions n = cm_convolutions_of(s);
  int64_t rows = (int64_t)from->rows;
  for (uint32_t l = 0; l < s->layers; l++) {
    cm_laplacian_apply(from->laplacian, from->fold * n.inputs[l], below, to->differences[l]);
    clear_padding(from, n.inputs[l], to->differences[l]);
    cm_ordered_product((cm_product){.m = rows, .n = s->width, .k = n.inputs[l]}, below, p + n.own[l], to->hidden[l]);
    cm_ordered_product((cm_product){.m = rows, .n = s->width, .k = n.inputs[l], .add = true}, to->differences[l],
                       p + n.difference[l], to->hidden[l]);
    cm_add_bias(to->hidden[l], p + n.bias[l], from->rows, s->width, true);
    below = to->hidden[l];
  }
  cm_ordered_product((cm_product){.m = rows, .n = s->readout, .k = n.readout_inputs}, below, p + n.readout, to->readout);
  cm_add_bias(to->readout, p + n.readout_bias, from->rows, s->readout, true);
}

void cm_convolutions_backward(const cm_policy *policy, const cm_convolution_rows *from, cm_convolved *pass, float *gradient)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_convolutions n = cm_convolutions_of(s);
  int64_t rows = (int64_t)from->rows;
  float *d = pass->scratch[0], *below = pass->scratch[1];
  cm_relu_back(below, pass->readout, from->rows * s->readout);
  const float *top = s->layers > 0 ? pass->hidden[s->layers - 1] : from->input;
  cm_ordered_product((cm_product){.m = n.readout_inputs, .n = s->readout, .k = rows, .transpose_a = true, .add = true}, top,
                     below, gradient + n.readout);
  cm_add_columns(below, from->rows, s->readout, gradient + n.readout_bias);
  cm_ordered_product((cm_product){.m = rows, .n = n.readout_inputs, .k = s->readout, .transpose_b = true}, below, p + n.readout,
                     d);
  for (uint32_t l = s->layers; l-- > 0;) {
    const float *in = l > 0 ? pass->hidden[l - 1] : from->input;
    cm_relu_back(d, pass->hidden[l], from->rows * s->width);
    cm_ordered_product((cm_product){.m = n.inputs[l], .n = s->width, .k = rows, .transpose_a = true, .add = true}, in, d,
                       gradient + n.own[l]);
    cm_ordered_product((cm_product){.m = n.inputs[l], .n = s->width, .k = rows, .transpose_a = true, .add = true},
                       pass->differences[l], d, gradient + n.difference[l]);
    cm_add_columns(d, from->rows, s->width, gradient + n.bias[l]);
    if (l == 0)
      break; /* nobody asks for the derivative by the input */
    cm_ordered_product((cm_product){.m = rows, .n = n.inputs[l], .k = s->width, .transpose_b = true}, d, p + n.difference[l],
                       below);
    cm_laplacian_apply_transposed(from->laplacian, from->fold * n.inputs[l], below, pass->scratch[2], pass->scratch[3]);
    clear_padding(from, n.inputs[l], pass->scratch[3]);
    cm_ordered_product((cm_product){.m = rows, .n = n.inputs[l], .k = s->width, .transpose_b = true, .add = true}, d,
                       p + n.own[l], pass->scratch[3]);
    memcpy(d, pass->scratch[3], from->rows * n.inputs[l] * sizeof *d);
  }
}
