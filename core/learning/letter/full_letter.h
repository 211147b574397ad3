/* The letter's network with fully connected layers over all rows (source 1, steps s600 and s700): every row has numbers of its own, so
 * that every n has a network of its own, and it is trained on the graph that it places.
 *
 * Graph convolutions and a ReLU readout as in letter.h; a fully connected layer from the readouts of all n rows, padding too, to
 * CM_FULL_MIDDLE numbers with ReLU; a fully connected layer from these to mean and deviation of every node's Gaussians, bound * tanh.
 * On one graph what comes before the last layer is the same in every pass: it is computed once, and the last layer is what is trained. */
#pragma once

#include "core/learning/letter/letter.h"

enum { CM_FULL_MIDDLE = 64 };

typedef struct cm_full_letter {
  uint32_t outputs;               /* two a node and axis */
  float bound;                    /* of means */
  float hidden[CM_FULL_MIDDLE];   /* what the last layer is shown */
  size_t count;                   /* of the last layer's numbers */
  float *parameter;               /* [MIDDLE * outputs] weights, [outputs] biases */
  float *raw, *d_raw;             /* [outputs] */
  float *mean, *deviation;        /* [outputs / 2] of each Gaussian */
} cm_full_letter;

/* For a view, with numbers drawn from seed (He et al. 2015) and wide Gaussians. O(layers * (rows + entries) * width). */
cm_status cm_full_letter_new(const cm_letter_view *view, uint32_t axes, uint64_t seed, cm_memory *memory, cm_full_letter **letter,
                             cm_error *error);
void cm_full_letter_free(cm_full_letter *letter); /* NULL is allowed */

/* Fills mean and deviation. O(count). */
void cm_full_letter_forward(cm_full_letter *letter);

/* Fills gradient [count] with the derivative by every number of a function whose derivatives by mean and log(deviation) are d_mean and
 * d_deviation [outputs / 2]. After cm_full_letter_forward. O(count). */
void cm_full_letter_backward(cm_full_letter *letter, const float *d_mean, const float *d_deviation, float *gradient);
