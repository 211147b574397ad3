/* What of a model becomes 8-bit integers: products, and the values around them. */
#pragma once

#include "core/operators/graph.h"
#include "core/quantize/scheme.h"

/* A Conv, MatMul or Gemm, with the activation behind it that the range of its integers stands for. */
typedef struct cm_layer {
  uint32_t node;
  uint32_t activation; /* Relu or Clip that alone reads it; CM_NONE */
  uint32_t output;     /* value that becomes integers: what the activation makes, or the product */
  double low, high;    /* numbers that the activation lets through */
  uint32_t axis;       /* of its weights, along which scales differ; CM_NONE: two activations are multiplied */
  cm_rounded_weights weights;
  bool kept;           /* stays in float32 */
  double error;        /* of its output when it alone is in integers: root of the mean square, relative */
} cm_layer;

typedef struct cm_layers {
  cm_layer *layer;
  size_t count;
  uint32_t *root; /* of each value the one whose range it has; CM_NONE: stays real. Of the model's memory, value_count long */
} cm_layers;

/* Finds the products that can be in integers: float32, with constant weights of a form that cm_prepare leaves, or two activations. The
 * model has been through cm_infer. Errors: memory, CM_CANCELLED. */
cm_status cm_layers_find(cm_model *model, bool least_error, cm_run *run, cm_layers *layers, cm_error *error);

/* Which values become integers, given the layers that do. What only moves elements takes the range of what it moves. O(nodes). */
void cm_layers_spread(const cm_model *model, cm_layers *layers);

void cm_layers_free(cm_layers *layers);
