/* Ranges of a model's values over samples, and how wrong each layer becomes. */
#pragma once

#include "core/quantize/layers.h"
#include "core/quantize/quantize.h"

/* A model and what it is run on. */
typedef struct cm_calibration {
  const cm_quantize_options *options;
  cm_run *run;
  cm_model *model;
  cm_samples samples;
  cm_layers layers;
  cm_range *ranges;     /* by value; of those that are roots */
  cm_tensor **expected; /* [samples * outputs of the model] in float32; a reference each */
  uint64_t bytes_before; /* of constants in float32 */
} cm_calibration;

/* Runs the model on every sample and finds the range of each value with root[v] == v. Methods other than CM_RANGE_ALL run it twice. Errors: of
 * cm_evaluate. */
cm_status cm_calibrate(cm_calibration *c, cm_error *error);

/* Runs it once more and sets the error of each layer, and what is expected. Errors: of cm_evaluate. */
cm_status cm_layer_errors(cm_calibration *c, cm_error *error);
