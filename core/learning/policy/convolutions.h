/* The beginning of both networks: graph convolutions, and a readout with ReLU. A graph convolution is
 *   H' = relu(H A + (L H) B + b),
 * the first-order form of Defferrard, Bresson and Vandergheynst (NIPS 2016), as in Kipf and Welling (ICLR 2017) but with
 * a matrix of its own for what the node has and for what sets it apart from its neighbours. All matrices row-major. */
#pragma once

#include "base/random.h"
#include "core/learning/policy/laplacian.h"
#include "core/learning/policy/shape.h"

/* Where their numbers stand among a policy's parameters. */
typedef struct cm_convolutions {
  uint32_t inputs[CM_POLICY_LAYERS_MAX]; /* of each convolution */
  size_t own[CM_POLICY_LAYERS_MAX];      /* [inputs * width] */
  size_t difference[CM_POLICY_LAYERS_MAX];
  size_t bias[CM_POLICY_LAYERS_MAX];     /* [width] */
  uint32_t readout_inputs;
  size_t readout, readout_bias;          /* [readout_inputs * readout], [readout] */
  size_t end;                            /* where the network's own numbers begin */
} cm_convolutions;

cm_convolutions cm_convolutions_of(const cm_policy_shape *shape);

/* Draws count weights of a normal distribution. */
void cm_draw_weights(cm_random *random, float *weight, size_t count, double deviation);

/* Draws the weights of these layers as He et al. 2015 say; biases stay. */
void cm_convolutions_draw(cm_policy *policy, cm_random *random);

/* Rows that go in. A node has `fold` of them, one after the other, which the Laplacian takes as one row of that many
 * times the width; rows behind those of its nodes are padding, where L is zero. */
typedef struct cm_convolution_rows {
  const cm_laplacian *laplacian;
  const float *input; /* [rows * inputs] */
  size_t rows;
  uint32_t fold;
} cm_convolution_rows;

/* What a pass keeps for the way back. */
typedef struct cm_convolved {
  float *differences[CM_POLICY_LAYERS_MAX], *hidden[CM_POLICY_LAYERS_MAX]; /* [rows * inputs], [rows * width] */
  float *readout;    /* [rows * readout] */
  float *scratch[4]; /* [rows * the widest row] */
} cm_convolved;

/* Room for so many rows and a network with `outputs` a row. On failure what there is of it is freed by
 * cm_convolved_free. */
cm_status cm_convolved_new(const cm_policy_shape *shape, size_t rows, size_t outputs, cm_memory *memory,
                           cm_convolved *convolved, cm_error *error);
void cm_convolved_free(cm_convolved *convolved); /* harmless on a zeroed one */

/* Fills differences, hidden and readout. O(parameters * rows + layers * entries * width). */
void cm_convolutions_forward(const cm_policy *policy, const cm_convolution_rows *from, cm_convolved *to);

/* Adds to gradient the derivative by every number of these layers of a function whose derivative by the readout, after
 * its ReLU, is in scratch[1]; uses all of scratch. After cm_convolutions_forward on the same rows. */
void cm_convolutions_backward(const cm_policy *policy, const cm_convolution_rows *from, cm_convolved *pass, float *gradient);

/* x [rows * width] += bias [width] in each row; with `relu`, what is below 0 then is 0. */
void cm_add_bias(float *x, const float *bias, size_t rows, size_t width, bool relu);

/* sum [width] += each row of x [rows * width]. */
void cm_add_columns(const float *x, size_t rows, size_t width, float *sum);

/* The derivative through a ReLU: d [count] is 0 where its output is. */
void cm_relu_back(float *d, const float *output, size_t count);
