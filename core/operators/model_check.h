/* Whether a model can be compiled for a chip at all. */
#pragma once

#include "core/operators/graph.h"

/* Checks a model after cm_infer: every operator that is computed is known and computes its types, and every shape is known.
 * What passes here is never refused when the program runs. O(nodes). Errors: CM_BAD_NETWORK with operator, node and opset. */
cm_status cm_model_check(const cm_model *model, cm_error *error);
