#include "core/quantize/scheme.h"

#include <math.h>

enum { LEAST = -128, MOST = 127, WEIGHT_MOST = 127, CANDIDATES = 100, WEIGHT_CANDIDATES = 40 };

cm_affine cm_affine_of(cm_range range)
{
  const double low = fmin(range.low, 0), high = fmax(range.high, 0);
  const float scale = (float)((high - low) / (MOST - LEAST));
  if (!(scale > 0) || !isfinite(scale))
    return (cm_affine){1, 0};
  return (cm_affine){scale, (int32_t)fmin(fmax(nearbyint(LEAST - low / (double)scale), LEAST), MOST)};
}

/* ---- ranges ---- */

static double edge(const cm_histogram *h, size_t bin)
{
  return h->range.low + (h->range.high - h->range.low) * (double)bin / CM_HISTOGRAM_BINS;
}

cm_range cm_range_percentile(const cm_histogram *h, double percentile)
{
  uint64_t all = 0, below = 0, above = 0;
  size_t first = 0, last = CM_HISTOGRAM_BINS;
  for (size_t i = 0; i < CM_HISTOGRAM_BINS; i++)
    all += h->bin[i];
  const double cut = (double)all * (100 - percentile) / 200;
  while (first + 1 < last && (double)(below + h->bin[first]) <= cut)
    below += h->bin[first++];
  while (last - 1 > first && (double)(above + h->bin[last - 1]) <= cut)
    above += h->bin[--last];
  return (cm_range){edge(h, first), edge(h, last)};
}

static double rounded(double x, cm_affine a)
{
  const double q = nearbyint(x / (double)a.scale) + a.zero;
  return (fmin(fmax(q, LEAST), MOST) - a.zero) * (double)a.scale;
}

static double squared_error(const cm_histogram *h, cm_affine a)
{
  double sum = 0;
  for (size_t i = 0; i < CM_HISTOGRAM_BINS; i++) {
    const double x = (edge(h, i) + edge(h, i + 1)) / 2, d = x - rounded(x, a);
    sum += (double)h->bin[i] * d * d;
  }
  return sum;
}

cm_range cm_range_least_error(const cm_histogram *h)
{
  cm_range best = h->range;
  double least = INFINITY;
  for (int k = CANDIDATES; k > 0; k--) {
    const cm_range r = {h->range.low * k / CANDIDATES, h->range.high * k / CANDIDATES};
    const double sum = squared_error(h, cm_affine_of(r));
    if (sum < least) {
      least = sum;
      best = r;
    }
  }
  return best;
}

cm_status cm_affine_round(const cm_tensor *x, cm_affine affine, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  CM_TRY(cm_tensor_new(memory, CM_FLOAT, x->rank, x->dims, made, error));
  for (uint64_t i = 0; i < x->count; i++)
    ((float *)(*made)->data)[i] = (float)rounded((double)((const float *)x->data)[i], affine);
  return CM_OK;
}

/* ---- weights ---- */

/* The weights of one element of an axis: runs of `inner` numbers, `step` apart. */
typedef struct channel {
  const float *first;
  uint64_t runs, inner, step;
} channel;

static double channel_error(const channel *c, double scale)
{
  double sum = 0;
  for (uint64_t r = 0; r < c->runs; r++)
    for (uint64_t i = 0; i < c->inner; i++) {
      const double w = (double)c->first[r * c->step + i], q = fmin(fmax(nearbyint(w / scale), -WEIGHT_MOST), WEIGHT_MOST), d = w - q * scale;
      sum += d * d;
    }
  return sum;
}

static float channel_scale(const channel *c, bool least_error)
{
  double largest = 0;
  for (uint64_t r = 0; r < c->runs; r++)
    for (uint64_t i = 0; i < c->inner; i++)
      largest = fmax(largest, fabs((double)c->first[r * c->step + i]));
  const float whole = (float)(largest / WEIGHT_MOST);
  if (!(whole > 0) || !isfinite(whole))
    return 1;
  float best = whole;
  double least = least_error ? channel_error(c, (double)whole) : 0;
  for (int k = WEIGHT_CANDIDATES - 1; least_error && k >= WEIGHT_CANDIDATES / 2; k--) {
    const float scale = whole * (float)k / WEIGHT_CANDIDATES;
    const double sum = scale > 0 ? channel_error(c, (double)scale) : INFINITY;
    if (sum < least) {
      least = sum;
      best = scale;
    }
  }
  return best;
}

cm_status cm_rounded_weights_make(const cm_tensor *weights, uint32_t axis, bool least_error, cm_memory *memory, cm_rounded_weights *made, cm_error *error)
{
  cm_rounded_weights w = {0};
  channel c = {.inner = 1};
  cm_status status = cm_tensor_new(memory, CM_INT8, weights->rank, weights->dims, &w.integers, error);
  CM_THEN(status, cm_tensor_new(memory, CM_FLOAT, 1, &weights->dims[axis], &w.scales, error));
  CM_THEN(status, cm_tensor_new(memory, CM_FLOAT, weights->rank, weights->dims, &w.rounded, error));
  CM_TRY_OR(status, cm_rounded_weights_free(&w));
  for (uint32_t i = axis + 1; i < weights->rank; i++)
    c.inner *= (uint64_t)weights->dims[i];
  c.step = c.inner * w.scales->count;
  c.runs = c.step > 0 ? weights->count / c.step : 0;
  for (uint64_t k = 0; k < w.scales->count; k++) {
    const uint64_t begin = k * c.inner;
    c.first = (const float *)weights->data + begin;
    const float scale = ((float *)w.scales->data)[k] = channel_scale(&c, least_error);
    for (uint64_t r = 0; r < c.runs; r++)
      for (uint64_t i = 0; i < c.inner; i++) {
        const double q = nearbyint((double)(c.first[r * c.step + i] / scale));
        const int8_t integer = (int8_t)fmin(fmax(q, -WEIGHT_MOST), WEIGHT_MOST);
        ((int8_t *)w.integers->data)[begin + r * c.step + i] = integer;
        ((float *)w.rounded->data)[begin + r * c.step + i] = (float)integer * scale;
      }
  }
  *made = w;
  return CM_OK;
}

void cm_rounded_weights_free(cm_rounded_weights *weights)
{
  cm_tensor_free(weights->integers);
  cm_tensor_free(weights->scales);
  cm_tensor_free(weights->rounded);
  *weights = (cm_rounded_weights){0};
}
