/* Rules of old opsets, turned to today's. */
#pragma once

#include "core/operators/graph.h"

/* Where a node of an opset before 7 broadcasts its second input from an axis on (PRelu: from the channels on), an Unsqueeze
 * goes before it; *added is that node, which runs before `node` and is not in model->order yet, else CM_NONE. Shapes of the
 * node's inputs have to be inferred. Errors: memory. */
cm_status cm_legacy_broadcast(cm_model *model, uint32_t node, uint32_t *added, cm_error *error);
