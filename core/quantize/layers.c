#include "core/quantize/layers.h"

#include <math.h>

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

static bool is_real(const cm_model *m, uint32_t value)
{
  return value != CM_NONE && m->values[value].shape.type == CM_FLOAT && cm_shape_known(&m->values[value].shape);
}

/* Along which axis of its weights a product has scales; false when it is none of ours. CM_NONE: both factors are activations. */
static bool find_axis(const cm_model *m, const cm_node *n, uint32_t *axis)
{
  if (n->known == NULL || n->domain[0] != '\0' || n->input_count < 2 || !is_real(m, n->inputs[0]) || !is_real(m, n->inputs[1]) ||
      m->values[n->inputs[0]].constant)
    return false;
  const cm_value *w = &m->values[n->inputs[1]];
  const bool biased = n->input_count > 2 && n->inputs[2] != CM_NONE;
  if (biased && (!m->values[n->inputs[2]].constant || m->values[n->inputs[2]].shape.rank != 1))
    return false;
  if (cm_node_is(n, cm_kernel_conv)) {
    *axis = 0;
    return w->constant;
  }
  if (cm_node_is(n, cm_kernel_gemm)) {
    *axis = 0;
    return w->constant && cm_node_integer(n, "transA", 0) == 0 && cm_node_integer(n, "transB", 0) != 0 && cm_node_number(n, "alpha", 1) == 1.0F &&
           (!biased || cm_node_number(n, "beta", 1) == 1.0F);
  }
  *axis = w->constant ? 1 : CM_NONE;
  return cm_node_is(n, cm_kernel_matmul) && (w->shape.rank == 2 || !w->constant);
}

static bool constant_number(cm_model *m, uint32_t value, cm_run *run, double *number)
{
  const cm_tensor *t;
  cm_error ignored;
  if (!m->values[value].constant || cm_constant_tensor(m, value, run, &t, &ignored) != CM_OK || t->count != 1)
    return false;
  *number = cm_tensor_number(t, 0);
  return true;
}

/* The bounds of a Relu or Clip from 0 on; false for others. */
static bool find_bounds(cm_model *m, const cm_node *n, cm_run *run, cm_layer *l)
{
  l->low = 0;
  l->high = INFINITY;
  if (n->known == NULL)
    return false;
  if (n->known->variant == CM_VARIANT_RELU)
    return true;
  if (!cm_node_is(n, cm_kernel_clip))
    return false;
  l->low = (double)cm_node_number(n, "min", -INFINITY);
  l->high = (double)cm_node_number(n, "max", INFINITY);
  return (n->input_count < 2 || n->inputs[1] == CM_NONE || constant_number(m, n->inputs[1], run, &l->low)) &&
         (n->input_count < 3 || n->inputs[2] == CM_NONE || constant_number(m, n->inputs[2], run, &l->high)) && l->low == 0 && l->high > 0;
}

static uint32_t only_reader(const cm_model *m, uint32_t value)
{
  if (m->values[value].use_count != 1)
    return CM_NONE;
  for (size_t i = 0; i < m->order_count; i++)
    if (m->nodes[m->order[i]].input_count > 0 && m->nodes[m->order[i]].inputs[0] == value)
      return m->order[i];
  return CM_NONE;
}

static void find_activation(cm_model *m, cm_run *run, cm_layer *l)
{
  l->output = m->nodes[l->node].outputs[0];
  l->activation = only_reader(m, l->output);
  if (l->activation != CM_NONE && find_bounds(m, &m->nodes[l->activation], run, l)) {
    l->output = m->nodes[l->activation].outputs[0];
    return;
  }
  l->activation = CM_NONE;
  l->low = -INFINITY;
  l->high = INFINITY;
}

cm_status cm_layers_find(cm_model *model, bool least_error, cm_run *run, cm_layers *layers, cm_error *error)
{
  *layers = (cm_layers){0};
  cm_status status = CM_NEW_ALL(model->arena.memory, error, CM_ARRAY(layers->layer, model->order_count + 1),
                                CM_ARRAY(layers->root, model->value_count + 1));
  for (size_t i = 0; status == CM_OK && i < model->order_count; i++) {
    const uint32_t node = model->order[i];
    const cm_tensor *w;
    uint32_t axis;
    status = cm_run_check(run, error);
    if (status != CM_OK || !find_axis(model, &model->nodes[node], &axis))
      continue;
    cm_layer *l = &layers->layer[layers->count++];
    *l = (cm_layer){.node = node, .axis = axis};
    find_activation(model, run, l);
    if (axis != CM_NONE && (status = cm_constant_tensor(model, model->nodes[node].inputs[1], run, &w, error)) == CM_OK)
      status = cm_rounded_weights_make(w, axis, least_error, model->arena.memory, &l->weights, error);
  }
  if (status != CM_OK)
    cm_layers_free(layers);
  return status;
}

void cm_layers_free(cm_layers *layers)
{
  for (size_t i = 0; i < layers->count; i++)
    cm_rounded_weights_free(&layers->layer[i].weights);
  CM_FREE(layers->layer, layers->root);
  *layers = (cm_layers){0};
}

/* ---- values ---- */

/* A node that only moves elements of one real value to another. */
static bool moves(const cm_model *m, const cm_node *n)
{
  return n->known != NULL && (n->known->flags & CM_OPERATOR_ANY_SCALE) != 0 && n->output_count == 1 && n->input_count > 0 &&
         is_real(m, n->inputs[0]) && is_real(m, n->outputs[0]) && !m->values[n->inputs[0]].constant;
}

void cm_layers_spread(const cm_model *model, cm_layers *layers)
{
  uint32_t *root = layers->root;
  for (size_t i = 0; i < model->value_count; i++)
    root[i] = CM_NONE;
  for (size_t i = 0; i < layers->count; i++) {
    const cm_layer *l = &layers->layer[i];
    const cm_node *n = &model->nodes[l->node];
    if (l->kept)
      continue;
    root[n->inputs[0]] = n->inputs[0];
    root[l->output] = l->output;
    if (l->axis == CM_NONE)
      root[n->inputs[1]] = n->inputs[1];
  }
  /* Before what is moved to become integers, then behind what is. */
  for (size_t i = model->order_count; i-- > 0;) {
    const cm_node *n = &model->nodes[model->order[i]];
    if (moves(model, n) && root[n->outputs[0]] != CM_NONE)
      root[n->inputs[0]] = n->inputs[0];
  }
  for (size_t i = 0; i < model->order_count; i++) {
    const cm_node *n = &model->nodes[model->order[i]];
    if (moves(model, n) && root[n->inputs[0]] != CM_NONE)
      root[n->outputs[0]] = root[n->inputs[0]];
  }
}
