/* What cannot be compiled for a chip is refused before anything is laid out. */
#include "core/operators/check.h"

#include <string.h>

#include "core/operators/operator.h"

static bool is_constant(const cm_model *m, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (!m->values[node->outputs[o]].constant)
      return false;
  return true;
}

static cm_status unknown_shape(const cm_node *node, const char *value, cm_error *error)
{
  char label[160];
  (void)cm_fail(error, CM_BAD_NETWORK,
                "node %s: the shape of '%.80s' is not known before the model runs; a program needs every shape",
                cm_node_label(node, label, sizeof label), value);
  return cm_fail_at(error, "node %.80s", node->name);
}

static cm_status check_node(const cm_model *m, const cm_node *node, cm_shape *input, cm_shape *output, cm_error *error)
{
  char label[160];
  if (node->known == NULL) {
    (void)cm_fail(error, CM_BAD_NETWORK, "node %s: operator %.60s of %s%.60s, opset %lld, is not supported%s%s",
                  cm_node_label(node, label, sizeof label), node->op, node->domain[0] != '\0' ? "domain " : "ONNX",
                  node->domain, (long long)m->opset, cm_operator_reason(node) != NULL ? ": " : "",
                  cm_operator_reason(node) != NULL ? cm_operator_reason(node) : "");
    return cm_fail_at(error, "node %.80s", node->name);
  }
  cm_call call = {.node = node,
                  .opset = m->opset,
                  .input_count = node->input_count,
                  .output_count = node->output_count,
                  .input = input,
                  .output = output};
  for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
    uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    cm_shape *shape = k < node->input_count ? &input[k] : &output[k - node->input_count];
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
  uint32_t widest = 0;
  for (size_t i = 0; i < model->order_count; i++) {
    const cm_node *n = &model->nodes[model->order[i]];
    widest = n->input_count > widest ? n->input_count : widest;
    widest = n->output_count > widest ? n->output_count : widest;
  }
  cm_shape *input = NULL, *output = NULL;
  cm_status status = CM_NEW(memory, input, widest + 1, error);
  if (status == CM_OK)
    status = CM_NEW(memory, output, widest + 1, error);
  for (size_t i = 0; status == CM_OK && i < model->order_count; i++) {
    const cm_node *n = &model->nodes[model->order[i]];
    if (n->known == NULL || !is_constant(model, n))
      status = check_node(model, n, input, output, error);
  }
  cm_free(input);
  cm_free(output);
  return status;
}
