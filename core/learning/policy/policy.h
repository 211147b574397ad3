/* The policy network (source 1, steps s600 and s700): graph convolutions over the normalised Laplacian, a
 * ReLU readout, a fully connected layer, and bound * tanh as output: the mean of a Gaussian over positions, and its
 * deviation, for every logical node.
 *
 * A position lies on an axis of the chip's plane, from -bound at the first column (row) of the cores to bound at the
 * last. The same network is asked about x and about y: row 2 v of its input is node v along x, row 2 v + 1 along y.
 * What it learns of one axis it knows of the other, and graphs and grids of any size do. */
#pragma once

#include "core/learning/policy/convolutions.h"
#include "core/learning/policy/features.h"

/* Inputs of a row: the source's seven, then where the node stands, in units of the bound (environment.h). */
enum cm_policy_input {
  CM_INPUT_POSITION = CM_FEATURES, /* along this axis, -1 to 1 */
  CM_INPUT_LOGIT,                  /* the position as the output layer sees it: its arc tangent hyperbolic */
  CM_INPUT_MEDIAN,                 /* from it to the weighted median of the neighbours */
  CM_INPUT_SPREAD,                 /* mean distance of the neighbours along this axis, weighted */
  CM_INPUT_ACROSS,                 /* the position along the other axis */
  CM_INPUT_STEP,                   /* between adjacent columns (rows) */
  CM_INPUT_FILL,                   /* nodes per core */
  CM_INPUT_SHARE,                  /* interaction weight over that of an average node, as x / (1 + x) */
  CM_POLICY_INPUTS = CM_INPUT_SHARE + 2 /* and one that is 0: rows in whole blocks of four */
};

enum { CM_POLICY_OUTPUTS = 2 };

/* Numbers that a shape has. */
size_t cm_policy_count(const cm_policy_shape *shape);

/* A policy before training: it leaves every node where it stands, give or take a deviation of half a step; one of the
 * letter wants all nodes near the middle; a pilot asks all kernels alike and never cools. Other weights are drawn as He
 * et al. 2015 say. CM_BAD_OPTION for a shape out of range. */
cm_status cm_policy_new(const cm_policy_shape *shape, float bound, uint64_t seed, cm_policy **policy, cm_error *error);
void cm_policy_free(cm_policy *policy); /* NULL is allowed */

/* What a pass through the network leaves behind, for the way back. */
typedef struct cm_policy_pass {
  uint32_t nodes;
  cm_policy_shape shape;
  cm_convolved convolved; /* of 2 nodes rows */
  float *raw;             /* [2 nodes * CM_POLICY_OUTPUTS] before the output functions */
  float *mean;            /* [2 nodes] of each Gaussian */
  float *deviation;       /* [2 nodes] its standard deviation */
} cm_policy_pass;

cm_status cm_policy_pass_new(const cm_policy_shape *shape, uint32_t nodes, cm_memory *memory, cm_policy_pass **pass,
                             cm_error *error);
void cm_policy_pass_free(cm_policy_pass *pass); /* NULL is allowed */

/* Fills mean and deviation of the pass. input [2 nodes * inputs]. O(parameters * nodes + layers * entries * width). */
void cm_policy_forward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input, cm_policy_pass *pass);

/* Adds to gradient [count] the derivative by every parameter of a function of which d_mean [2 nodes] and d_deviation
 * [2 nodes] are the derivatives by mean and by log(deviation). After cm_policy_forward with the same input. */
void cm_policy_backward(const cm_policy *policy, const cm_laplacian *laplacian, const float *input,
                        cm_policy_pass *pass, const float *d_mean, const float *d_deviation, float *gradient);

/* ---- the Gaussian over physical nodes ---- */

/* Position of place i of n along an axis: -bound .. bound is cut in steps of 2 * bound / (n - 1). 0 where there
 * is only one place. */
static inline double cm_position(uint32_t i, uint32_t n, double bound)
{
  return n > 1 ? (2.0 * i / (n - 1) - 1) * bound : 0;
}

/* Where a node's Gaussian is highest of n places along an axis: the nearest to its mean. O(1). */
uint32_t cm_axis_likeliest(double mean, uint32_t n, double bound);

/* ---- files ---- */

enum { CM_POLICY_FILE_BYTES_MAX = 4 << 20 };

/* Policy files (docs/explanation/learned-mapper.md): magic, version, shape, bound, card, parameters, SHA-256 of all before. */
cm_status cm_policy_save(const cm_policy *policy, const char *path, cm_error *error);

/* CM_DAMAGED for a file that is cut short, changed or of another kind or version; CM_NOT_FOUND, CM_IO, CM_TOO_LARGE. */
cm_status cm_policy_load(const char *path, cm_policy **policy, cm_error *error);

/* The same from memory; `name` is for errors. */
cm_status cm_policy_parse(const void *bytes, size_t size, const char *name, cm_policy **policy, cm_error *error);

/* The policies that ship with the program; the one of each kind. */
typedef enum cm_shipped_policy {
  CM_SHIPPED_LAYOUT,
  CM_SHIPPED_LETTER_SHARED,       /* one axis */
  CM_SHIPPED_LETTER_PLANE, /* two */
  CM_SHIPPED_PILOT,
  CM_SHIPPED_POLICIES
} cm_shipped_policy;
cm_status cm_policy_shipped(cm_shipped_policy which, cm_policy **policy, cm_error *error);
