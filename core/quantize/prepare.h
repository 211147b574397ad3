/* What a model becomes before its products do: an opset that has scales by channel, and products with biases. */
#pragma once

#include "core/operators/graph.h"

/* Writes a model after cm_infer in opset 13 or later: attributes that became inputs are moved, operators that were replaced are renamed.
 * Its shapes have to be inferred anew. O(nodes). Errors: CM_BAD_NETWORK (an operator whose meaning changed: which), memory. */
cm_status cm_raise_opset(cm_model *model, cm_error *error);

/* A BatchNormalization goes into the Conv that it alone reads, a constant that is added to a MatMul of two matrices makes it a Gemm, and
 * constant weights of a Gemm are turned so that transB is 1, its bias one number a column. Shapes of what is new are inferred. O(nodes). Errors: memory, CM_CANCELLED. */
cm_status cm_prepare(cm_model *model, cm_run *run, cm_error *error);
