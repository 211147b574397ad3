#include "core/learning/letter/full_letter.h"

#include <math.h>

#include "base/product.h"
#include "core/partition/options.h"

enum { LAYERS = 2, WIDTH = 16, READOUT = 4 };

/* log(deviation / bound) is as in the other network of the letter (letter.c), and 0 at first: as wide as the bound. */
static const float middle = -1.5F, span = 2.5F, wide = 0.69F, spread = 0.3F;

/* All layers but the last: fills hidden. `random` draws their numbers. */
static cm_status pass_below(cm_full_letter *l, const cm_letter_view *view, cm_random *random, cm_memory *memory, cm_error *error)
{
  cm_policy policy = {.shape = {CM_FEATURES, LAYERS, WIDTH, READOUT, 0}, .bound = l->bound};
  const size_t inputs = (size_t)view->rows * READOUT;
  const cm_convolution_rows from = {view->laplacian, view->input, view->rows, 1};
  cm_convolved convolved = {0};
  float *weight = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(policy.parameter, cm_convolutions_of(&policy.shape).end),
                                CM_ARRAY(weight, inputs * CM_FULL_MIDDLE));
  CM_THEN(status, cm_convolved_new(&policy.shape, view->rows, 0, memory, &convolved, error));
  if (status == CM_OK) {
    cm_convolutions_draw(&policy, random);
    cm_draw_weights(random, weight, inputs * CM_FULL_MIDDLE, sqrt(2.0 / (double)inputs));
    cm_convolutions_forward(&policy, &from, &convolved);
    cm_ordered_product((cm_product){.m = 1, .n = CM_FULL_MIDDLE, .k = (int64_t)inputs}, convolved.readout, weight, l->hidden);
    for (int i = 0; i < CM_FULL_MIDDLE; i++)
      l->hidden[i] = fmaxf(l->hidden[i], 0);
  }
  cm_convolved_free(&convolved);
  CM_FREE(policy.parameter, weight);
  return status;
}

static cm_status fill(cm_full_letter *l, const cm_letter_view *view, uint64_t seed, cm_memory *memory, cm_error *error)
{
  const size_t weights = (size_t)CM_FULL_MIDDLE * l->outputs;
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_POLICY, 1);
  l->count = weights + l->outputs;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(l->parameter, l->count), CM_ARRAY(l->raw, l->outputs), CM_ARRAY(l->d_raw, l->outputs),
                 CM_ARRAY(l->mean, l->outputs / 2), CM_ARRAY(l->deviation, l->outputs / 2)) != CM_OK || pass_below(l, view, &random, memory, error) != CM_OK)
    return error->status;
  cm_draw_weights(&random, l->parameter, weights, (double)spread * sqrt(2.0 / CM_FULL_MIDDLE));
  for (uint32_t r = 1; r < l->outputs; r += 2)
    l->parameter[weights + r] = wide;
  return CM_OK;
}

cm_status cm_full_letter_new(const cm_letter_view *view, uint32_t axes, uint64_t seed, cm_memory *memory, cm_full_letter **letter,
                             cm_error *error)
{
  cm_full_letter *made;
  CM_TRY(CM_NEW(memory, made, 1, error));
  made->outputs = 2 * axes * view->nodes;
  made->bound = 1;
  CM_END(fill(made, view, seed, memory, error), *letter = made, cm_full_letter_free(made));
}

void cm_full_letter_free(cm_full_letter *letter)
{
  if (letter == NULL)
    return;
  CM_FREE(letter->parameter, letter->raw, letter->d_raw, letter->mean, letter->deviation, letter);
}

void cm_full_letter_forward(cm_full_letter *letter)
{
  cm_full_letter *l = letter;
  memcpy(l->raw, l->parameter + (size_t)CM_FULL_MIDDLE * l->outputs, l->outputs * sizeof *l->raw);
  cm_ordered_product((cm_product){.m = 1, .n = l->outputs, .k = CM_FULL_MIDDLE, .add = true}, l->hidden, l->parameter, l->raw);
  for (size_t r = 0; r < l->outputs / 2; r++) {
    l->mean[r] = l->bound * tanhf(l->raw[2 * r]);
    l->deviation[r] = l->bound * expf(middle + span * tanhf(l->raw[2 * r + 1]));
  }
}

void cm_full_letter_backward(cm_full_letter *letter, const float *d_mean, const float *d_deviation, float *gradient)
{
  cm_full_letter *l = letter;
  for (size_t r = 0; r < l->outputs / 2; r++) {
    float t = tanhf(l->raw[2 * r]), u = tanhf(l->raw[2 * r + 1]);
    l->d_raw[2 * r] = d_mean[r] * l->bound * (1 - t * t);
    l->d_raw[2 * r + 1] = d_deviation[r] * span * (1 - u * u);
  }
  cm_ordered_product((cm_product){.m = CM_FULL_MIDDLE, .n = l->outputs, .k = 1}, l->hidden, l->d_raw, gradient);
  memcpy(gradient + (size_t)CM_FULL_MIDDLE * l->outputs, l->d_raw, l->outputs * sizeof *gradient);
}
