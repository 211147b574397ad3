/* What cannot be compiled for a chip is refused before anything is laid out. */
#include "core/operators/model_check.h"

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

static cm_status unknown_shape(const cm_node *node, const char *value, cm_error *error)
{
  char label[160];
  (void)cm_fail(error, CM_BAD_NETWORK,
                "node %s: the shape of '%.80s' is not known before the model runs; a program needs every shape",
                cm_node_label(node, label, sizeof label), value);
  return cm_fail_at(error, "node %.80s", node->name);
}

static cm_status unknown_operator(const cm_model *m, const cm_node *node, cm_error *error)
{
  char label[160];
  const char *reason = cm_operator_reason(node);
  (void)cm_fail(error, CM_BAD_NETWORK, "node %s: operator %.60s of %s%.60s, opset %lld, is not supported%s%s",
                cm_node_label(node, label, sizeof label), node->op, node->domain[0] != '\0' ? "domain " : "ONNX",
                node->domain, (long long)cm_model_opset(m, node->domain), reason != NULL ? ": " : "",
                reason != NULL ? reason : "");
  return cm_fail_at(error, "node %.80s", node->name);
}

/* Room for the inputs and outputs of any node, and for a tensor of each value. */
typedef struct checker {
  const cm_model *model;
  cm_shape *input, *output;
  cm_tensor **value, **result, **tensors;
} checker;

/* What constants alone are read by is computed when shapes are found; where that failed, it would fail again. */
static cm_status check_constants(checker *c, const cm_node *node, cm_error *error)
{
  cm_status status = CM_OK;
  if ((node->known->flags & CM_OPERATOR_RANDOM) != 0)
    return CM_OK;
  for (uint32_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] != CM_NONE && (!c->model->values[node->inputs[k]].constant || c->value[k] == NULL))
      return CM_OK;
  for (uint32_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] != CM_NONE)
      c->tensors[node->inputs[k]] = c->value[k];
  status = cm_evaluate_node(node, c->model->opset, c->tensors, c->model->arena.memory, c->result, error);
  for (uint32_t o = 0; status == CM_OK && o < node->output_count; o++)
    cm_tensor_free(c->result[o]);
  return status;
}

static cm_status check_node(checker *c, const cm_node *node, cm_error *error)
{
  const cm_model *m = c->model;
  if (node->known == NULL)
    return unknown_operator(m, node, error);
  cm_call call = {.node = node,
                  .opset = m->opset,
                  .input_count = node->input_count,
                  .output_count = node->output_count,
                  .input = c->input,
                  .value = c->value,
                  .output = c->output};
  for (uint32_t k = 0; k < node->input_count; k++)
    c->value[k] = node->inputs[k] != CM_NONE ? m->values[node->inputs[k]].tensor : NULL;
  CM_TRY(check_constants(c, node, error));
  for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
    uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    cm_shape *shape = k < node->input_count ? &c->input[k] : &c->output[k - node->input_count];
    *shape = value != CM_NONE ? m->values[value].shape : (cm_shape){.rank = CM_UNKNOWN_RANK};
    if (value != CM_NONE && shape->type != CM_STRING && shape->type != CM_SEQUENCE &&
        (!cm_shape_known(shape) || shape->type == CM_TYPE_NONE))
      return unknown_shape(node, m->values[value].name, error);
  }
  return cm_operator_check(&call, error);
}

cm_status cm_model_check(const cm_model *model, cm_error *error)
{
  cm_memory *memory = model->arena.memory;
  uint32_t widest = 1;
  checker c = {.model = model};
  for (size_t i = 0; i < model->order_count; i++) {
    const cm_node *n = &model->nodes[model->order[i]];
    widest = n->input_count > widest ? n->input_count : widest;
    widest = n->output_count > widest ? n->output_count : widest;
  }
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(c.input, widest), CM_ARRAY(c.output, widest), CM_ARRAY(c.value, widest),
                                CM_ARRAY(c.result, widest), CM_ARRAY(c.tensors, model->value_count + 1));
  for (size_t i = 0; status == CM_OK && i < model->order_count; i++) {
    const cm_node *n = &model->nodes[model->order[i]];
    if (n->known == NULL || !cm_node_is_constant(model, n))
      status = check_node(&c, n, error);
  }
  CM_FREE(c.input, c.output, c.value, c.result, c.tensors);
  return status;
}
