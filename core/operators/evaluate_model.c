/* Computing a whole model, node by node in order; what nobody reads any more goes at once. */
#include "core/operators/evaluate.h"

static cm_status check_input(const cm_value *v, const cm_tensor *t, cm_error *error)
{
  if (v->shape.type != CM_TYPE_NONE && v->shape.type != t->type)
    return cm_fail(error, CM_BAD_NETWORK, "input '%.80s' should be %s, not %s", v->name, cm_type_name(v->shape.type),
                   cm_type_name(t->type));
  if (v->shape.rank == CM_UNKNOWN_RANK || t->type == CM_SEQUENCE)
    return CM_OK;
  bool fits = v->shape.rank == t->rank;
  for (uint32_t i = 0; fits && i < t->rank; i++)
    fits = v->shape.dims[i] < 0 || v->shape.dims[i] == t->dims[i];
  return fits ? CM_OK : cm_fail(error, CM_BAD_NETWORK, "input '%.80s' has another shape than the model declares", v->name);
}

static void drop_use(const cm_model *m, cm_tensor **tensors, uint32_t *uses, uint32_t value)
{
  if (value != CM_NONE && --uses[value] == 0 && m->values[value].producer != CM_NONE) {
    cm_tensor_free(tensors[value]);
    tensors[value] = NULL;
  }
}

static cm_status run_all(cm_model *m, cm_tensor **tensors, uint32_t *uses, const cm_watch *watch, cm_run *run, cm_error *error)
{
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *n = &m->nodes[m->order[i]];
    cm_tensor **results;
    CM_TRY(cm_run_check(run, error));
    CM_TRY(CM_NEW(run->memory, results, n->output_count + 1, error));
    cm_status status = cm_evaluate_node(n, m->opset, tensors, run->memory, results, error);
    for (uint32_t o = 0; status == CM_OK && o < n->output_count; o++)
      if (uses[n->outputs[o]] > 0)
        tensors[n->outputs[o]] = results[o];
      else
        cm_tensor_free(results[o]);
    cm_free(results);
    if (status == CM_OK && watch != NULL)
      status = watch->after(watch->user, m->order[i], tensors, error);
    if (status != CM_OK)
      return status;
    for (uint32_t k = 0; k < n->input_count; k++)
      drop_use(m, tensors, uses, n->inputs[k]);
  }
  return CM_OK;
}

cm_status cm_evaluate_watched(cm_model *model, cm_tensor *const *inputs, const cm_watch *watch, cm_run *run, cm_tensor **outputs, cm_error *error)
{
  cm_tensor **tensors = NULL;
  uint32_t *uses = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(tensors, model->value_count), CM_ARRAY(uses, model->value_count));
  for (size_t i = 0; status == CM_OK && i < model->value_count; i++) {
    uses[i] = model->values[i].use_count;
    if (model->values[i].initializer)
      tensors[i] = cm_tensor_share(model->values[i].tensor);
  }
  for (size_t i = 0; status == CM_OK && i < model->input_count; i++) {
    uint32_t v = model->inputs[i];
    if (inputs[i] == NULL)
      status = cm_fail(error, CM_BAD_NETWORK, "input '%.80s' is needed", model->values[v].name);
    else if ((status = check_input(&model->values[v], inputs[i], error)) == CM_OK)
      tensors[v] = cm_tensor_share(inputs[i]);
  }
  CM_THEN(status, run_all(model, tensors, uses, watch, run, error));
  for (size_t i = 0; status == CM_OK && outputs != NULL && i < model->output_count; i++)
    outputs[i] = cm_tensor_share(tensors[model->outputs[i]]);
  for (size_t i = 0; tensors != NULL && i < model->value_count; i++)
    cm_tensor_free(tensors[i]);
  CM_FREE(tensors, uses);
  return status;
}

cm_status cm_evaluate(cm_model *model, cm_tensor *const *inputs, cm_run *run, cm_tensor **outputs, cm_error *error)
{
  return cm_evaluate_watched(model, inputs, NULL, run, outputs, error);
}
