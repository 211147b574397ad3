/* Shapes, constants and values of operator graphs.
 *
 * The evaluator is the truth against which every rewrite is checked: plain loops, sums in double, or in float32 in one order (base/product.h).
 */
#pragma once

#include "core/operators/graph.h"

/* Finds the shape of every value and marks what depends on constants alone; small constants (shape arithmetic) are
 * computed at once. What an unknown operator makes stays unknown. Linear in the graph. Errors: CM_BAD_NETWORK when
 * inputs of a node cannot be right, memory, CM_CANCELLED. */
cm_status cm_infer(cm_model *model, cm_run *run, cm_error *error);

/* The same for one node whose inputs' shapes are known as far as they will be. */
cm_status cm_infer_node(cm_model *model, uint32_t node, cm_run *run, cm_error *error);

/* The tensor of a constant value, computed when it has not been; borrowed from the model. */
cm_status cm_constant_tensor(cm_model *model, uint32_t value, cm_run *run, const cm_tensor **tensor, cm_error *error);

/* Computes a model: `inputs` in the order of model->inputs, `outputs` in the order of
 * model->outputs, each with one reference for the caller. Errors: CM_BAD_NETWORK (an operator that is not known, a type
 * that is not computed, an input of another shape than declared), memory, CM_CANCELLED. */
cm_status cm_evaluate(cm_model *model, cm_tensor *const *inputs, cm_run *run, cm_tensor **outputs, cm_error *error);

/* Called after each node of cm_evaluate_watched, while `tensors`, by value, still has what it read and made. An error ends the evaluation. */
typedef struct cm_watch {
  cm_status (*after)(void *user, uint32_t node, cm_tensor *const *tensors, cm_error *error);
  void *user;
} cm_watch;

/* The same, watched; `outputs` may be NULL. */
cm_status cm_evaluate_watched(cm_model *model, cm_tensor *const *inputs, const cm_watch *watch, cm_run *run, cm_tensor **outputs, cm_error *error);

/* Computes one node alone. `tensors` are named by node->inputs; `results` (output_count) get one reference each for the
 * caller, NULL for left-out outputs; on failure all are NULL. node->known must be set. Errors: as cm_evaluate. */
cm_status cm_evaluate_node(const cm_node *node, int64_t opset, cm_tensor *const *tensors, cm_memory *memory,
                           cm_tensor **results, cm_error *error);
