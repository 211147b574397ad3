/* 8-bit integers for real numbers: ranges, and the scale and zero point that follow. */
#pragma once

#include "core/operators/tensor.h"

typedef struct cm_range {
  double low, high;
} cm_range;

/* real = scale * (integer - zero), for int8. */
typedef struct cm_affine {
  float scale;
  int32_t zero;
} cm_affine;

enum { CM_HISTOGRAM_BINS = 2048 };

/* How often numbers lie in each of the bins of equal width that share a range. */
typedef struct cm_histogram {
  cm_range range;
  uint64_t bin[CM_HISTOGRAM_BINS];
} cm_histogram;

/* Scale and zero point of activations: the range, widened to hold 0, over all 256 integers. */
cm_affine cm_affine_of(cm_range range);

/* The range without the numbers beyond a percentile (0 to 100), half of them on either side. O(bins). */
cm_range cm_range_percentile(const cm_histogram *h, double percentile);

/* The range, a part of the histogram's around 0, with the least mean squared error of cm_affine_of. O(bins * candidates). */
cm_range cm_range_least_error(const cm_histogram *h);

/* Numbers as int8 and back, into a new tensor of the same shape. Errors: memory. */
cm_status cm_affine_round(const cm_tensor *x, cm_affine affine, cm_memory *memory, cm_tensor **made, cm_error *error);

/* Weights as integers from -127 to 127 with one scale for each element of an axis. */
typedef struct cm_rounded_weights {
  cm_tensor *integers; /* int8, as the weights */
  cm_tensor *scales;   /* float32 [extent of the axis] */
  cm_tensor *rounded;  /* float32: integers times scales */
} cm_rounded_weights;

/* `least_error`: each scale is the one with the least squared error of its weights, not that of the largest. Errors: memory. */
cm_status cm_rounded_weights_make(const cm_tensor *weights, uint32_t axis, bool least_error, cm_memory *memory, cm_rounded_weights *made, cm_error *error);
void cm_rounded_weights_free(cm_rounded_weights *weights);
