/* Sliding windows over spatial dimensions, as convolutions and pools have them. */
#pragma once

#include "core/operators/operator.h"

typedef struct cm_window {
  uint32_t rank;               /* spatial dimensions: 1 to CM_RANK_MAX - 2 */
  int64_t kernel[CM_RANK_MAX], stride[CM_RANK_MAX], dilation[CM_RANK_MAX];
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX]; /* padding */
  int64_t in[CM_RANK_MAX], out[CM_RANK_MAX];       /* spatial sizes; CM_UNKNOWN_DIM where not known */
} cm_window;

/* Reads a node's window attributes over an input of shape [N, C, spatial...]. `kernel` NULL: attribute kernel_shape.
 * `ceil_mode`: partial windows at the end count too. Errors: numbers that make no sense. */
cm_status cm_window_read(const cm_call *call, const cm_shape *input, const int64_t *kernel, bool ceil_mode,
                         cm_window *window, cm_error *error);

/* The spatial attributes of a node with their defaults: strides and dilations 1, pads 0 (before, then after). */
cm_status cm_window_attributes(const cm_call *call, uint32_t rank, cm_window *window, cm_error *error);

/* Where in one channel the window at an output position and a cell of the kernel meet; -1: in the padding. */
int64_t cm_window_meets(const cm_window *window, const int64_t *position, const int64_t *cell);

/* The window of a transposed convolution, seen from its output: `in` is the size of its output, `out` of its input. Errors:
 * numbers that make no sense. */
cm_status cm_window_transposed(const cm_call *call, cm_window *window, cm_error *error);

/* Of cubic interpolation: what an element at a distance counts (Keys; `a` its coefficient). */
double cm_cubic_weight(double distance, double a);
