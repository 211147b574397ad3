/* Nodes that take the place of one that is unrolled: each is inferred, or unrolled itself, as it is added. */
#include "core/operators/unrolling.h"

#include <stdio.h>
#include <string.h>

#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"

/* A failure of the node that is unrolled; `why` may be the error's own text. */
cm_status cm_unroll_fail(const cm_node *node, cm_status status, const char *why, cm_error *error)
{
  char label[160];
  (void)cm_fail(error, status, "node %s: %s", cm_node_label(node, label, sizeof label), cm_say("%s", why).text);
  return cm_fail_at(error, "node %.80s", node->name);
}

static cm_status name_value(cm_unrolling *u, const char *stem, uint32_t *value, cm_error *error)
{
  return cm_model_add_value(u->model, cm_say("%.40s#%u", stem, ++u->model->splices).text, value, error);
}

cm_status cm_unroll_constant(cm_unrolling *u, cm_type type, uint32_t rank, int64_t number, uint32_t *value, cm_error *error)
{
  cm_tensor *tensor;
  int64_t one = 1;
  CM_TRY(name_value(u, "constant", value, error));
  CM_TRY(cm_tensor_new(u->model->arena.memory, type, rank, &one, &tensor, error));
  cm_tensor_put_integer(tensor, 0, number);
  cm_value *v = &u->model->values[*value];
  v->tensor = tensor;
  v->constant = v->initializer = true;
  v->shape = cm_shape_of(tensor);
  return CM_OK;
}

cm_status cm_unroll_number(cm_unrolling *u, cm_type type, double x, uint32_t *value, cm_error *error)
{
  cm_tensor *tensor;
  CM_TRY(cm_tensor_new(u->model->arena.memory, type, 0, NULL, &tensor, error));
  cm_tensor_put_number(tensor, 0, x, false);
  cm_status status = cm_model_add_constant(u->model, "number", tensor, value, error);
  cm_tensor_free(tensor);
  return status;
}

/* A node of one output (CM_NONE: a new value), inferred at once; `attribute` may be NULL. */
cm_status cm_unroll_node(cm_unrolling *u, const cm_new_node *node, uint32_t *output, cm_error *error)
{
  uint32_t made;
  CM_TRY_IF(*output == CM_NONE, name_value(u, node->op, output, error));
  CM_TRY(cm_model_add_node(u->model, node->op, node->inputs, node->count, output, 1, &made, error));
  cm_node *n = &u->model->nodes[made];
  cm_status status = node->attribute == NULL ? CM_OK
                     : strcmp(node->attribute, "axes") == 0
                         ? cm_node_set_integers(u->model, n, node->attribute, &node->number, 1, error)
                         : cm_node_set_integer(u->model, n, node->attribute, node->number, error);
  return status == CM_OK ? u->walk(u, made, error) : status;
}

cm_status cm_unroll_new(cm_unrolling *u, const char *op, const uint32_t *inputs, uint32_t count, uint32_t *value, cm_error *error)
{
  uint32_t made = CM_NONE;
  CM_TRY(cm_unroll_node(u, &(cm_new_node){.op = op, .inputs = inputs, .count = count}, &made, error));
  *value = made;
  return CM_OK;
}

/* Gives what was computed to those who read the node's output. */
cm_status cm_unroll_hand_over(cm_unrolling *u, uint32_t from, uint32_t output, cm_error *error)
{
  return output == CM_NONE ? CM_OK : cm_unroll_node(u, &(cm_new_node){.op = "Identity", .inputs = &from, .count = 1}, &output, error);
}

/* Splices a subgraph and infers its nodes. */
cm_status cm_unroll_body(cm_unrolling *u, const cm_node *node, const char *attribute, const cm_body_values *values, cm_error *error)
{
  size_t first = u->model->node_count;
  if (u->model->node_count > CM_UNROLL_NODES_MAX)
    return cm_unroll_fail(node, CM_TOO_LARGE, "unrolled, the model has too many nodes", error);
  if (cm_onnx_splice(u->model, cm_node_attribute(node, attribute), values, error) != CM_OK)
    return error->status == CM_BAD_NETWORK ? cm_unroll_fail(node, CM_BAD_NETWORK, error->detail, error) : error->status;
  size_t last = u->model->node_count;
  for (size_t i = first; i < last; i++)
    CM_TRY(u->walk(u, (uint32_t)i, error));
  return CM_OK;
}

/* The single element of a value that is known; false when it is not. */
bool cm_unroll_known_integer(const cm_model *m, uint32_t value, int64_t *number)
{
  const cm_tensor *t = m->values[value].tensor;
  if (t == NULL || t->count != 1)
    return false;
  *number = cm_tensor_integer(t, 0);
  return true;
}
