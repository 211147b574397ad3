/* The letter's network forth and back. */
#include "core/learning/letter/letter.h"
#include "base/product.h"

#include <math.h>

#include "core/learning/policy/letter_numbers.h"

/* log(deviation / bound) is middle + span * tanh: from a fiftieth of the bound to nearly three of it. */
static const float middle = -1.5F, span = 2.5F;

cm_status cm_letter_pass_new(const cm_policy_shape *shape, uint32_t rows, cm_memory *memory, cm_letter_pass **pass,
                             cm_error *error)
{
  cm_letter_pass *made;
  CM_TRY(CM_NEW(memory, made, 1, error));
  made->rows = rows;
  cm_status status = cm_convolved_new(shape, rows, 2 * (size_t)shape->kind, memory, &made->convolved, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(made->full, (size_t)rows * shape->readout),
                             CM_ARRAY(made->mixed, shape->readout), CM_ARRAY(made->raw, 2 * (size_t)rows * shape->kind),
                             CM_ARRAY(made->mean, (size_t)rows * shape->kind),
                             CM_ARRAY(made->deviation, (size_t)rows * shape->kind)));
  CM_END(status, *pass = made, cm_letter_pass_free(made));
}

void cm_letter_pass_free(cm_letter_pass *pass)
{
  if (pass == NULL)
    return;
  cm_convolved_free(&pass->convolved);
  CM_FREE(pass->full, pass->mixed, pass->raw, pass->mean, pass->deviation, pass);
}

static cm_convolution_rows rows_of(const cm_letter_view *view)
{
  return (cm_convolution_rows){view->laplacian, view->input, view->rows, 1};
}

void cm_letter_forward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  int64_t rows = view->rows, outputs = 2 * (int64_t)s->kind;
  size_t all = view->rows, readout = s->readout;
  float *sum = pass->convolved.scratch[0];
  cm_convolution_rows from = rows_of(view);
  cm_convolutions_forward(policy, &from, &pass->convolved);
  memset(pass->mixed, 0, readout * sizeof *pass->mixed);
  cm_add_columns(pass->convolved.readout, all, readout, pass->mixed);
  for (size_t k = 0; k < readout; k++)
    pass->mixed[k] /= (float)rows;
  cm_ordered_product((cm_product){.m = 1, .n = s->readout, .k = s->readout}, pass->mixed, p + n.mix, sum);
  cm_add_bias(sum, p + n.full_bias, 1, readout, false);
  cm_ordered_product((cm_product){.m = rows, .n = s->readout, .k = s->readout}, pass->convolved.readout, p + n.full, pass->full);
  cm_add_bias(pass->full, sum, all, readout, true);
  cm_ordered_product((cm_product){.m = rows, .n = outputs, .k = s->readout}, pass->full, p + n.output, pass->raw);
  cm_add_bias(pass->raw, p + n.output_bias, all, (size_t)outputs, false);
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

void cm_letter_backward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass, const float *d_mean,
                        const float *d_deviation, float *gradient)
{
  const cm_policy_shape *s = &policy->shape;
  const float *p = policy->parameter, *below = pass->convolved.readout;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  int64_t rows = view->rows, outputs = 2 * (int64_t)s->kind;
  size_t all = view->rows, readout = s->readout;
  float *d_raw = pass->convolved.scratch[0], *d_readout = pass->convolved.scratch[1];
  float *d_full = pass->convolved.scratch[2], sum[CM_POLICY_WIDTH_MAX] = {0}, mixed[CM_POLICY_WIDTH_MAX];
  cm_convolution_rows from = rows_of(view);
  back_to_raw(policy, view, pass, d_mean, d_deviation, d_raw);
  cm_ordered_product((cm_product){.m = s->readout, .n = outputs, .k = rows, .transpose_a = true, .add = true}, pass->full, d_raw,
                     gradient + n.output);
  cm_add_columns(d_raw, all, (size_t)outputs, gradient + n.output_bias);
  cm_ordered_product((cm_product){.m = rows, .n = s->readout, .k = outputs, .transpose_b = true}, d_raw, p + n.output, d_full);
  cm_relu_back(d_full, pass->full, all * readout);
  cm_ordered_product((cm_product){.m = s->readout, .n = s->readout, .k = rows, .transpose_a = true, .add = true}, below, d_full,
                     gradient + n.full);
  cm_add_columns(d_full, all, readout, sum);
  for (size_t k = 0; k < readout; k++)
    gradient[n.full_bias + k] += sum[k];
  cm_ordered_product((cm_product){.m = s->readout, .n = s->readout, .k = 1, .transpose_a = true, .add = true}, pass->mixed, sum,
                     gradient + n.mix);
  cm_ordered_product((cm_product){.m = 1, .n = s->readout, .k = s->readout, .transpose_b = true}, sum, p + n.mix, mixed);
  for (size_t k = 0; k < readout; k++)
    mixed[k] /= (float)rows;
  cm_ordered_product((cm_product){.m = rows, .n = s->readout, .k = s->readout, .transpose_b = true}, d_full, p + n.full,
                     d_readout);
  cm_add_bias(d_readout, mixed, all, readout, false);
  cm_convolutions_backward(policy, &from, &pass->convolved, gradient);
}
