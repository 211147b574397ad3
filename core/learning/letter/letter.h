/* The learned mapper to the letter of source 1 (steps s600, s700): a network that is shown a logical graph as a padded
 * Laplacian and seven features a node, nothing else, and says in one time step where every node is to go.
 *
 * Graph convolutions, a ReLU readout, fully connected layers that mix each node's readout with the mean over all rows,
 * and bound * tanh: the mean of a Gaussian a node. It lies over the n physical nodes in the order of their numbers, or,
 * as a variant, one over their columns and one over their rows. Rows beyond the logical nodes are padding: zeros, which
 * count in the mean. */
#pragma once

#include "core/learning/agent/environment.h"

/* What the network is shown for one processor: its logical nodes, padded to as many rows as it has physical nodes. */
typedef struct cm_letter_view {
  uint32_t rows, nodes;
  const cm_laplacian *laplacian; /* of the nodes; rows and columns beyond them are zeros */
  float *input;                  /* [rows * CM_FEATURES] */
  cm_graph *own_graph;           /* of several processors: the graph between the nodes of this one */
  cm_laplacian *own_laplacian;
} cm_letter_view;

/* The view of processor p of an environment, which it borrows. O(entries of its nodes + rows). */
cm_status cm_letter_view_new(const cm_environment *environment, uint32_t p, cm_run *run, cm_letter_view *view, cm_error *error);
void cm_letter_view_free(cm_letter_view *view); /* harmless on a zeroed one */

/* What a pass leaves behind. */
typedef struct cm_letter_pass {
  uint32_t rows;
  cm_convolved convolved;
  float *full;           /* [rows * readout] */
  float *mixed;          /* [readout] mean row of readout */
  float *raw;            /* [rows * 2 axes] */
  float *mean, *deviation; /* [rows * axes] of each Gaussian; those of padding mean nothing */
} cm_letter_pass;

cm_status cm_letter_pass_new(const cm_policy_shape *shape, uint32_t rows, cm_memory *memory, cm_letter_pass **pass,
                             cm_error *error);
void cm_letter_pass_free(cm_letter_pass *pass); /* NULL is allowed */

/* Fills mean and deviation. policy->shape.kind is 1 or 2. O(parameters * rows + layers * entries * width). */
void cm_letter_forward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass);

/* Adds to gradient [count] the derivative by every parameter of a function whose derivatives by mean and by
 * log(deviation) are d_mean and d_deviation [nodes * axes]. After cm_letter_forward on the same view. */
void cm_letter_backward(const cm_policy *policy, const cm_letter_view *view, cm_letter_pass *pass, const float *d_mean,
                        const float *d_deviation, float *gradient);

/* ---- physical nodes ---- */

/* The places of a processor that Gaussians lie over: one axis of n sites, or columns and rows of their box. */
typedef struct cm_letter_places {
  uint32_t axes, count[2]; /* places of each axis */
  uint32_t x0, y0;         /* of the box */
  uint32_t sites;
  const uint32_t *site_of; /* [sites] of the environment, ascending */
} cm_letter_places;

cm_letter_places cm_letter_places_of(const cm_environment *environment, uint32_t p, uint32_t axes);

/* A Gaussian made discrete over the n places of an axis: its density at their positions (cm_position), scaled to add up
 * to 1. The nearest to the mean is the most probable. */
typedef struct cm_letter_gaussian {
  double mean, deviation, bound;
  uint32_t n;
  double all;           /* log of the sum of densities, where that at the mean is 1 */
  double first, second; /* expected distance to the mean, and its square */
} cm_letter_gaussian;

cm_letter_gaussian cm_letter_gaussian_of(double mean, double deviation, uint32_t n, double bound); /* O(n) */

/* The probabilities of all places, probability [n]. O(n). */
void cm_letter_probabilities(double mean, double deviation, uint32_t n, double bound, double *probability);

/* log of one place's, and its derivatives by the mean and by log(deviation). O(1). */
double cm_letter_log_probability(const cm_letter_gaussian *gaussian, uint32_t place, double *by_mean,
                                 double *by_deviation);

/* The whole of it: every node of every processor to its most probable core, conflicts by the rule. Fills at [nodes].
 * O(parameters * sites + layers * entries * width). */
cm_status cm_letter_place(const cm_policy *policy, const cm_environment *environment, cm_run *run, uint32_t *at, cm_error *error);
