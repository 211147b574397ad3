/* Crossing elementwise operators: one output element reads the elements at its own coordinates. */

#include "core/operators/permute/cross.h"
#include "core/operators/evaluate.h"

/* Inputs that are settings, not data: Clip's bounds, Dropout's ratio, CastLike's pattern. */
bool cm_cross_unary(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  if (c->from != 0 && c->from < c->input_count)
    return false;
  if (!cm_crossing_tie(c, 0, &given))
    return false;
  for (uint32_t s = c->input_count; s < c->slot_count; s++)
    if (cm_crossing_value(c, s) != NULL && !cm_crossing_tie(c, s, &given))
      return false;
  return true;
}

static uint64_t count_of(const cm_shape *shape)
{
  uint64_t count = 0;
  (void)cm_dims_count(shape->rank, shape->dims, &count);
  return count;
}

/* An operand's layout as one of the output, and back. The operand's axes are the last ones of the output's. */
static cm_layout lift(const cm_layout *l, uint32_t rank)
{
  cm_layout made = cm_layout_identity(rank);
  uint32_t skip = rank - l->rank;
  for (uint32_t i = 0; i < l->rank; i++) {
    made.perm[skip + i] = l->perm[i] + skip;
    made.map[skip + i] = l->map[i];
  }
  return made;
}

static bool lower(const cm_layout *l, const cm_shape *operand, cm_layout *made)
{
  uint32_t skip = l->rank - operand->rank;
  *made = cm_layout_identity(operand->rank);
  for (uint32_t i = 0; i < skip; i++)
    if (l->perm[i] >= skip)
      return false;
  for (uint32_t i = 0; i < operand->rank; i++) {
    made->perm[i] = l->perm[skip + i] - skip;
    made->map[i] = operand->dims[i] == 1 ? 0 : l->map[skip + i];
  }
  return true;
}

bool cm_cross_broadcast(cm_crossing *c)
{
  uint32_t out = c->input_count;
  const cm_value *y = cm_crossing_value(c, out);
  if (y == NULL || !cm_shape_known(&y->shape) || c->slot_count != out + 1)
    return false;
  cm_layout all = lift(&c->layout[c->from], y->shape.rank);
  if (!cm_crossing_tie(c, out, &all))
    return false;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const cm_value *x = cm_crossing_value(c, i);
    cm_layout own;
    if (x == NULL || !cm_shape_known(&x->shape))
      return false;
    if (x->constant || (count_of(&x->shape) == 1 && i != c->from))
      continue;
    if (!lower(&all, &x->shape, &own) || !cm_crossing_tie(c, i, &own))
      return false;
  }
  return true;
}

/* Constants are brought to the output's rank and stored as it is. */
static cm_status permute_operand(cm_crossing *c, uint32_t input, const cm_layout *all, cm_error *error)
{
  cm_layout own = *all;
  const cm_value *x = cm_crossing_value(c, input);
  cm_shape wide = {.rank = all->rank};
  uint32_t skip = all->rank - x->shape.rank, value = cm_crossing_node(c)->inputs[input], fresh;
  for (uint32_t i = 0; i < all->rank; i++) {
    wide.dims[i] = i < skip ? 1 : x->shape.dims[i - skip];
    own.map[i] = wide.dims[i] == 1 ? 0 : own.map[i];
  }
  if (skip > 0) {
    const cm_tensor *tensor;
    cm_tensor *made;
    CM_TRY(cm_constant_tensor(c->model, value, c->run, &tensor, error));
    CM_TRY(cm_tensor_reshaped(c->model->arena.memory, tensor, wide.rank, wide.dims, &made, error));
    cm_status status = cm_model_add_constant(c->model, c->model->values[value].name, made, &fresh, error);
    cm_tensor_free(made);
    if (status != CM_OK)
      return status;
    c->model->nodes[c->node].inputs[input] = fresh;
  }
  return cm_crossing_permute_constant(c, input, &own, error);
}

cm_status cm_rewrite_broadcast(cm_crossing *c, cm_error *error)
{
  cm_layout all = cm_crossing_layout(c, c->input_count);
  if (cm_layout_is_identity(&all))
    return CM_OK;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const cm_value *x = cm_crossing_value(c, i);
    CM_TRY_IF(x->constant && count_of(&x->shape) != 1, permute_operand(c, i, &all, error));
  }
  return CM_OK;
}

/* ---- QuantizeLinear, DequantizeLinear: elementwise with a scale that may go along one axis ---- */

bool cm_cross_quantize(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  const cm_value *scale = cm_crossing_value(c, 1), *zero = cm_crossing_input(c, 2);
  if ((c->from != 0 && c->from < c->input_count) || !cm_shape_known(&scale->shape) ||
      cm_node_integer(cm_crossing_node(c), "block_size", 0) != 0)
    return false;
  if (count_of(&scale->shape) != 1 && (!scale->constant || (zero != NULL && !zero->constant)))
    return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, c->input_count, &given);
}

cm_status cm_rewrite_quantize(cm_crossing *c, cm_error *error)
{
  cm_layout all = cm_crossing_layout(c, c->input_count);
  uint32_t axis = cm_crossing_axis(c, 1, all.rank);
  if (count_of(&cm_crossing_value(c, 1)->shape) == 1 || axis == CM_NONE)
    return CM_OK;
  cm_layout along = cm_layout_identity(1);
  along.map[0] = all.map[axis];
  for (uint32_t i = 1; i < c->input_count && i < 3; i++)
    CM_TRY_IF(cm_crossing_value(c, i) != NULL, cm_crossing_permute_constant(c, i, &along, error));
  return cm_node_set_integer(c->model, &c->model->nodes[c->node], "axis", cm_layout_place(&all, axis), error);
}
