/* Chains composed, constants folded, identities gone, equal permutations made once. */

#include "core/operators/evaluate.h"
#include "core/operators/permute/permute.h"

uint64_t cm_layout_bytes(const cm_permute *p, const cm_layout *layout, const cm_value *input)
{
  if (!cm_shape_known(&input->shape)) {
    /* Unknown dims count as one element, but do move. */
    return cm_layout_moves(layout, input->shape.dims) ? cm_value_bytes(input) : 0;
  }
  return cm_layout_passes(p->maps, layout, input->shape.dims) * cm_value_bytes(input);
}

uint64_t cm_permute_total(cm_permute *p)
{
  uint64_t total = 0;
  for (size_t i = 0; i < p->model->node_count; i++) {
    const cm_node *n = &p->model->nodes[i];
    if (n->removed)
      continue;
    if (n->layout == NULL)
      total += cm_node_copy_bytes(p->model, (uint32_t)i);
    else if (!cm_permute_is_free(p, (uint32_t)i))
      total += cm_layout_bytes(p, n->layout, &p->model->values[n->inputs[0]]);
  }
  return total;
}

/* A permuted constant is another constant. */
static cm_status fold_constant(cm_permute *p, cm_node *n, bool *changed, cm_error *error)
{
  cm_model *m = p->model;
  const cm_tensor *tensor;
  cm_tensor *made;
  uint32_t output = n->outputs[0], fresh;
  const cm_layout *layout = n->layout;
  if (!m->values[n->inputs[0]].constant || cm_model_is_output(m, output))
    return CM_OK;
  CM_TRY(cm_constant_tensor(m, n->inputs[0], p->run, &tensor, error));
  CM_TRY(cm_layout_apply(p->maps, layout, tensor, m->arena.memory, &made, error));
  cm_status status = cm_model_add_constant(m, m->values[output].name, made, &fresh, error);
  cm_tensor_free(made);
  if (status != CM_OK)
    return status;
  n->removed = *changed = true;
  cm_model_redirect(m, output, fresh);
  return CM_OK;
}

/* What an identity makes is what it reads. A graph output keeps its name: then the producer makes it directly, if that
 * value has no name of its own to keep. */
static void skip_identity(cm_permute *p, cm_node *n, bool *changed)
{
  cm_model *m = p->model;
  uint32_t input = n->inputs[0], output = n->outputs[0], producer = m->values[input].producer;
  if (!cm_model_is_output(m, output)) {
    n->removed = *changed = true;
    cm_model_redirect(m, output, input);
    return;
  }
  if (producer == CM_NONE || m->values[input].constant || cm_model_is_output(m, input))
    return;
  n->removed = *changed = true;
  cm_node *maker = &m->nodes[producer];
  for (uint32_t o = 0; o < maker->output_count; o++)
    if (maker->outputs[o] == input)
      maker->outputs[o] = output;
  m->values[output].producer = producer;
  cm_model_redirect(m, input, output);
}

static void merge_equal(cm_permute *p, uint32_t node, bool *changed)
{
  cm_model *m = p->model;
  cm_node *n = &m->nodes[node];
  for (size_t i = 0; i < node; i++) {
    cm_node *other = &m->nodes[i];
    if (other->removed || other->layout == NULL || other->inputs[0] != n->inputs[0] || !cm_layout_equal(other->layout, n->layout))
      continue;
    cm_node *gone = cm_model_is_output(m, n->outputs[0]) ? other : n, *stays = gone == n ? other : n;
    if (cm_model_is_output(m, gone->outputs[0]))
      return;
    gone->removed = *changed = true;
    cm_model_redirect(m, gone->outputs[0], stays->outputs[0]);
    return;
  }
}

static cm_status one_round(cm_permute *p, bool *changed, cm_error *error)
{
  cm_model *m = p->model;
  for (size_t i = 0; i < m->order_count; i++) {
    uint32_t node = m->order[i];
    cm_node *n = &m->nodes[node];
    if (n->layout == NULL || n->removed)
      continue;
    uint32_t producer = m->values[n->inputs[0]].producer;
    if (producer != CM_NONE && m->nodes[producer].layout != NULL && !m->nodes[producer].removed) {
      cm_layout *both;
      CM_TRY(CM_ARENA_NEW(&m->arena, both, 1, error));
      *both = cm_layout_compose(p->maps, m->nodes[producer].layout, n->layout);
      n->layout = both;
      n->inputs[0] = m->nodes[producer].inputs[0];
      *changed = true;
    }
    CM_TRY(fold_constant(p, n, changed, error));
    n = &m->nodes[node];
    if (!n->removed && cm_layout_is_identity(n->layout))
      skip_identity(p, n, changed);
    if (!n->removed)
      merge_equal(p, node, changed);
  }
  return CM_OK;
}

cm_status cm_permute_normalise(cm_permute *p, cm_error *error)
{
  for (bool changed = true; changed;) {
    changed = false;
    CM_TRY(cm_model_sweep(p->model, error));
    CM_TRY(one_round(p, &changed, error));
    CM_TRY(cm_run_check(p->run, error));
  }
  if (p->maps->error.status != CM_OK) {
    *error = p->maps->error;
    return error->status;
  }
  return cm_model_sweep(p->model, error);
}
