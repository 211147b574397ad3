/* What the rules share. */
#include "core/operators/permute/cross.h"

#include <string.h>

#include "core/operators/evaluate.h"

const cm_node *cm_crossing_node(const cm_crossing *c)
{
  return &c->model->nodes[c->node];
}

const cm_value *cm_crossing_value(const cm_crossing *c, uint32_t slot)
{
  const cm_node *n = cm_crossing_node(c);
  uint32_t value = slot < n->input_count ? n->inputs[slot]
                   : slot - n->input_count < n->output_count ? n->outputs[slot - n->input_count]
                                                             : CM_NONE;
  return value != CM_NONE ? &c->model->values[value] : NULL;
}

const cm_value *cm_crossing_input(const cm_crossing *c, uint32_t input)
{
  return input < c->input_count ? cm_crossing_value(c, input) : NULL;
}

bool cm_crossing_is_data(const cm_crossing *c, uint32_t slot)
{
  const cm_value *v = cm_crossing_value(c, slot);
  return v != NULL && !v->constant && cm_shape_known(&v->shape);
}

bool cm_crossing_tie(cm_crossing *c, uint32_t slot, const cm_layout *layout)
{
  if (c->tied[slot])
    return cm_layout_equal(&c->layout[slot], layout);
  c->tied[slot] = true;
  c->layout[slot] = *layout;
  return true;
}

cm_layout cm_crossing_layout(const cm_crossing *c, uint32_t slot)
{
  const cm_value *v = cm_crossing_value(c, slot);
  return c->tied[slot] ? c->layout[slot] : cm_layout_identity(v != NULL ? v->shape.rank : 0);
}

uint32_t cm_crossing_axis(const cm_crossing *c, int64_t otherwise, uint32_t rank)
{
  int64_t axis = cm_node_integer(cm_crossing_node(c), "axis", otherwise);
  axis = axis < 0 ? axis + rank : axis;
  return axis >= 0 && axis < rank ? (uint32_t)axis : CM_NONE;
}

bool cm_cross(cm_crossing *c)
{
  const cm_node *n = cm_crossing_node(c);
  if (n->known == NULL || n->known->cross == NULL)
    return false;
  /* Rules look at the shapes of all that is there. */
  for (uint32_t s = 0; s < c->slot_count; s++) {
    const cm_value *v = cm_crossing_value(c, s);
    if (v != NULL && !cm_shape_known(&v->shape))
      return false;
  }
  if (!n->known->cross(c))
    return false;
  for (uint32_t s = 0; s < c->slot_count; s++)
    if (c->tied[s] && s != c->from) {
      const cm_value *v = cm_crossing_value(c, s);
      if (v == NULL || v->constant)
        return false;
      c->tied[s] = !cm_layout_is_identity(&c->layout[s]);
    }
  return c->maps->error.status == CM_OK;
}

cm_status cm_cross_rewrite(cm_crossing *c, cm_error *error)
{
  const cm_operator *known = cm_crossing_node(c)->known;
  return known->rewrite != NULL ? known->rewrite(c, error) : CM_OK;
}

cm_status cm_crossing_permute_constant(cm_crossing *c, uint32_t input, const cm_layout *layout, cm_error *error)
{
  const cm_tensor *tensor;
  cm_tensor *made;
  uint32_t value = cm_crossing_node(c)->inputs[input], fresh;
  if (cm_layout_is_identity(layout))
    return CM_OK;
  CM_TRY(cm_constant_tensor(c->model, value, c->run, &tensor, error));
  CM_TRY(cm_layout_apply(c->maps, layout, tensor, c->model->arena.memory, &made, error));
  /* Equal numbers everywhere: the old constant does. */
  cm_status status = CM_OK;
  if (!cm_tensor_equal(tensor, made)) {
    status = cm_model_add_constant(c->model, c->model->values[value].name, made, &fresh, error);
    if (status == CM_OK)
      c->model->nodes[c->node].inputs[input] = fresh;
  }
  cm_tensor_free(made);
  return status;
}

cm_status cm_crossing_set_integers(cm_crossing *c, uint32_t input, const int64_t *numbers, size_t count, cm_error *error)
{
  uint32_t value, *inputs;
  cm_node *n = &c->model->nodes[c->node];
  if (input >= n->input_count) {
    CM_TRY(CM_ARENA_NEW(&c->model->arena, inputs, input + 1, error));
    memcpy(inputs, n->inputs, n->input_count * sizeof *inputs);
    for (uint32_t i = n->input_count; i <= input; i++)
      inputs[i] = CM_NONE;
    n->inputs = inputs;
    n->input_count = input + 1;
  }
  CM_TRY(cm_model_add_integers(c->model, "permuted", numbers, count, &value, error));
  c->model->nodes[c->node].inputs[input] = value;
  return CM_OK;
}

bool cm_crossing_integers(const cm_crossing *c, const char *attribute, uint32_t input, int64_t *numbers, size_t *count)
{
  const cm_node *n = cm_crossing_node(c);
  const cm_attribute *a = attribute != NULL ? cm_node_attribute(n, attribute) : NULL;
  *count = 0;
  if (a != NULL && a->count <= (size_t)2 * CM_RANK_MAX) {
    memcpy(numbers, a->integers, a->count * sizeof *numbers);
    *count = a->count;
    return true;
  }
  if (a != NULL)
    return false;
  if (input >= n->input_count || n->inputs[input] == CM_NONE)
    return true;
  const cm_tensor *t = c->model->values[n->inputs[input]].tensor;
  if (t == NULL || t->count > (uint64_t)2 * CM_RANK_MAX)
    return false;
  for (uint64_t i = 0; i < t->count; i++)
    numbers[i] = cm_tensor_integer(t, i);
  *count = t->count;
  return true;
}
