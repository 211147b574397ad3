/* The call of a node of the model, with what is known of its inputs. */
#include "core/machine/plan/cutter.h"

cm_status cm_plan_call(cm_plan *plan, const cm_node *node, const cm_call **made, cm_error *error)
{
  const cm_model *m = plan->model;
  size_t number = node >= m->nodes && node < m->nodes + m->node_count ? (size_t)(node - m->nodes) : m->node_count;
  if (number < m->node_count && plan->calls[number] != NULL) {
    *made = plan->calls[number];
    return CM_OK;
  }
  cm_call *call;
  cm_shape *input;
  cm_tensor **value;
  CM_TRY(CM_ARENA_NEW(&plan->arena, call, 1, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, input, node->input_count + 1, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, value, node->input_count + 1, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, call->output, node->output_count + 1, error));
  for (uint32_t i = 0; i < node->input_count; i++) {
    input[i].rank = CM_UNKNOWN_RANK;
    if (node->inputs[i] == CM_NONE)
      continue;
    input[i] = m->values[node->inputs[i]].shape;
    value[i] = m->values[node->inputs[i]].tensor;
  }
  for (uint32_t o = 0; o < node->output_count; o++)
    call->output[o] = m->values[node->outputs[o]].shape;
  call->node = node;
  call->opset = m->opset;
  call->input_count = node->input_count;
  call->output_count = node->output_count;
  call->input = input;
  call->value = value;
  call->memory = plan->memory;
  if (number < m->node_count)
    plan->calls[number] = call;
  *made = call;
  return CM_OK;
}
