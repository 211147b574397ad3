/* Models with QuantizeLinear and DequantizeLinear around what they compute (QDQ), in integers. */
#pragma once

#include "core/operators/graph.h"

typedef struct cm_quantized {
  uint32_t products; /* convolutions and matrix products that take 8-bit integers now, with 32-bit sums */
  uint32_t moves;    /* operators that only move or compare elements and do so on 8-bit integers now */
} cm_quantized;

/* Rewrites a model after cm_infer: a Conv, MatMul or Gemm between DequantizeLinear and QuantizeLinear becomes QLinearConv or
 * QLinearMatMul (a Gemm a convolution of single elements), so that its weights stay 8 bits wide; MaxPool, Reshape and the like between two of one scale and zero point
 * lose both. Each product's values change by less than one step of its output's scale (its bias is rounded to the scale of
 * the sums). Shapes of what is new are inferred. O(nodes). Errors: memory, CM_CANCELLED. */
cm_status cm_model_quantize(cm_model *model, cm_run *run, cm_quantized *done, cm_error *error);
