/* QuantizeLinear and DequantizeLinear into a model. */
#pragma once

#include "base/run.h"
#include "core/quantize/layers.h"

/* Puts both behind every value that becomes integers, weights and biases as integers before a DequantizeLinear, and takes the activations
 * away that ranges stand for; names of inputs and outputs stay. Shapes have to be inferred anew. O(nodes + values). Errors: memory. */
cm_status cm_quantize_insert(cm_model *model, const cm_layers *layers, const cm_range *ranges, cm_run *run, cm_error *error);
