/* Crossing operators that name axes: Softmax, LayerNormalization, reductions, Gather,
 * Resize and views. */
#include <string.h>

#include "core/operators/permute/cross.h"

static cm_node *node_of(cm_crossing *c)
{
  return &c->model->nodes[c->node];
}

/* ---- Softmax ---- */

/* The axis attribute that means the same axes in the stored tensor; CM_NONE: none does. Before opset 13 the softmax
 * goes over everything from the axis on. */
static uint32_t softmax_axis(const cm_crossing *c, const cm_layout *l, const int64_t *dims)
{
  bool old = c->model->opset < 13;
  uint32_t axis = cm_crossing_axis(c, old ? 1 : -1, l->rank), place = CM_NONE;
  if (axis == CM_NONE || !old)
    return axis == CM_NONE ? CM_NONE : cm_layout_place(l, axis);
  for (uint32_t k = 0; k < l->rank; k++) {
    bool inside = l->perm[k] >= axis, counts = dims[l->perm[k]] != 1;
    if (counts && inside && place == CM_NONE)
      place = k;
    else if (counts && !inside && place != CM_NONE)
      return CM_NONE;
  }
  return place;
}

bool cm_cross_softmax(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  const cm_value *x = cm_crossing_value(c, 0);
  return softmax_axis(c, &given, x->shape.dims) != CM_NONE && cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, 1, &given);
}

cm_status cm_rewrite_softmax(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  return cm_node_set_integer(c->model, node_of(c), "axis", softmax_axis(c, &l, cm_crossing_value(c, 0)->shape.dims), error);
}

/* ---- LayerNormalization: the normalized axes stay the last ones ---- */

bool cm_cross_layer_norm(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  uint32_t axis = cm_crossing_axis(c, -1, given.rank), out = c->input_count;
  bool changes = false;
  if (axis == CM_NONE || (c->from != 0 && c->from != out))
    return false;
  for (uint32_t k = axis; k < given.rank; k++) {
    if (given.perm[k] < axis)
      return false;
    changes = changes || given.perm[k] != k || given.map[k] != 0;
  }
  for (uint32_t i = 1; i < c->input_count && changes; i++) {
    const cm_value *v = cm_crossing_value(c, i);
    if (v != NULL && (!v->constant || v->shape.rank != given.rank - axis))
      return false;
  }
  for (uint32_t s = out + 1; s < c->slot_count; s++)
    if (cm_crossing_value(c, s) != NULL)
      return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, out, &given);
}

cm_status cm_rewrite_layer_norm(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  uint32_t axis = cm_crossing_axis(c, -1, l.rank);
  cm_layout own = cm_layout_identity(l.rank - axis);
  for (uint32_t k = axis; k < l.rank; k++) {
    own.perm[k - axis] = l.perm[k] - axis;
    own.map[k - axis] = l.map[k];
  }
  for (uint32_t i = 1; i < c->input_count; i++)
    CM_TRY_IF(cm_crossing_value(c, i) != NULL, cm_crossing_permute_constant(c, i, &own, error));
  return CM_OK;
}

/* ---- reductions ---- */

/* Which axes are reduced; false: not known. */
static bool reduced_axes(const cm_crossing *c, uint32_t rank, bool *reduced)
{
  int64_t axes[2 * CM_RANK_MAX];
  size_t count;
  memset(reduced, 0, CM_RANK_MAX * sizeof *reduced);
  if (cm_node_is(cm_crossing_node(c), cm_kernel_arg_reduce)) {
    axes[0] = cm_node_integer(cm_crossing_node(c), "axis", 0);
    count = 1;
  } else if (!cm_crossing_integers(c, "axes", 1, axes, &count))
    return false;
  for (uint32_t i = 0; i < rank && count == 0; i++)
    reduced[i] = cm_node_integer(cm_crossing_node(c), "noop_with_empty_axes", 0) == 0;
  for (size_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return false;
    reduced[axis] = true;
  }
  return true;
}

/* The output's layout from the input's. */
static cm_layout reduce_layout(const cm_layout *l, const bool *reduced, bool keep)
{
  cm_layout made = {0};
  uint32_t number[CM_RANK_MAX] = {0}, next = 0;
  for (uint32_t a = 0; a < l->rank; a++)
    number[a] = keep || !reduced[a] ? next++ : CM_NONE;
  for (uint32_t k = 0; k < l->rank; k++)
    if (number[l->perm[k]] != CM_NONE)
      made.perm[made.rank++] = number[l->perm[k]];
  for (uint32_t a = 0; a < l->rank; a++)
    if (number[a] != CM_NONE)
      made.map[number[a]] = reduced[a] ? 0 : l->map[a];
  return made;
}

/* And the input's from the output's: reduced axes that the output lacks stay where they are. */
static cm_layout expand_layout(const cm_layout *l, const bool *reduced, bool keep, uint32_t rank)
{
  cm_layout made = cm_layout_identity(rank);
  uint32_t kept[CM_RANK_MAX], count = 0;
  if (keep)
    return *l;
  for (uint32_t a = 0; a < rank; a++)
    if (!reduced[a])
      kept[count++] = a;
  for (uint32_t a = 0, next = 0; a < rank; a++)
    if (!reduced[a]) {
      made.map[a] = l->map[next];
      made.perm[a] = kept[l->perm[next++]];
    }
  return made;
}

bool cm_cross_reduce(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], other;
  const cm_value *x = cm_crossing_value(c, 0);
  bool reduced[CM_RANK_MAX], keep = cm_node_integer(cm_crossing_node(c), "keepdims", 1) != 0,
       arg = cm_node_is(cm_crossing_node(c), cm_kernel_arg_reduce);
  uint32_t out = c->input_count;
  if ((c->from != 0 && c->from != out) || !cm_shape_known(&x->shape) || !reduced_axes(c, x->shape.rank, reduced))
    return false;
  other = c->from == 0 ? reduce_layout(&given, reduced, keep) : expand_layout(&given, reduced, keep, x->shape.rank);
  for (uint32_t a = 0; a < x->shape.rank; a++)
    if (arg && c->from == 0 && reduced[a] && given.map[a] != 0)
      return false;
  return cm_crossing_tie(c, c->from == 0 ? out : 0, &other);
}

cm_status cm_rewrite_reduce(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  bool reduced[CM_RANK_MAX];
  int64_t axes[CM_RANK_MAX];
  size_t count = 0;
  if (cm_layout_keeps_axes(&l) || !reduced_axes(c, l.rank, reduced))
    return CM_OK;
  for (uint32_t k = 0; k < l.rank; k++)
    if (reduced[l.perm[k]])
      axes[count++] = k;
  if (cm_node_is(cm_crossing_node(c), cm_kernel_arg_reduce))
    return cm_node_set_integer(c->model, node_of(c), "axis", axes[0], error);
  if (count == l.rank)
    return CM_OK;
  if (cm_crossing_input(c, 1) != NULL)
    return cm_crossing_set_integers(c, 1, axes, count, error);
  return cm_node_set_integers(c->model, node_of(c), "axes", axes, count, error);
}

/* ---- Reshape, Flatten, Squeeze, Unsqueeze ---- */

bool cm_cross_reshape(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], other;
  uint32_t out = c->input_count;
  if (c->from != 0 && c->from != out)
    return false;
  const cm_shape *x = &cm_crossing_value(c, 0)->shape, *y = &cm_crossing_value(c, out)->shape;
  if (!cm_shape_known(x) || !cm_shape_known(y))
    return false;
  if (c->from == 0 ? !cm_layout_reshape(c->maps, &given, x->dims, y->rank, y->dims, &other)
                   : !cm_layout_reshape(c->maps, &given, y->dims, x->rank, x->dims, &other))
    return false;
  return cm_crossing_tie(c, c->from == 0 ? out : 0, &other);
}

/* All four become a Reshape to the stored shape. */
cm_status cm_rewrite_reshape(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, c->input_count);
  int64_t dims[CM_RANK_MAX];
  cm_layout_dims(&l, cm_crossing_value(c, c->input_count)->shape.dims, dims);
  node_of(c)->op = "Reshape";
  node_of(c)->attribute_count = 0;
  node_of(c)->known = cm_operator_find("", "Reshape", c->model->opset);
  return cm_crossing_set_integers(c, 1, dims, l.rank, error);
}

/* ---- Gather with constant indices ---- */

bool cm_cross_gather(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], other;
  const cm_value *x = cm_crossing_value(c, 0), *k = cm_crossing_value(c, 1);
  bool gone[CM_RANK_MAX] = {false};
  uint32_t axis = cm_crossing_axis(c, 0, x->shape.rank);
  if (axis == CM_NONE || !k->constant || k->tensor == NULL || k->shape.rank > 1 || c->from == 1)
    return false;
  bool list = k->shape.rank == 1;
  gone[axis] = !list;
  other = c->from == 0 ? reduce_layout(&given, gone, list) : expand_layout(&given, gone, list, x->shape.rank);
  if (list)
    other.map[axis] = 0; /* goes into the indices */
  c->independent = cm_layout_is_identity(&other);
  return cm_crossing_tie(c, c->from == 0 ? 2 : 0, &other);
}

cm_status cm_rewrite_gather(cm_crossing *c, cm_error *error)
{
  cm_layout in = cm_crossing_layout(c, 0), out = cm_crossing_layout(c, 2);
  uint32_t axis = cm_crossing_axis(c, 0, in.rank), value = cm_crossing_node(c)->inputs[1], fresh;
  const cm_tensor *k = c->model->values[value].tensor;
  int64_t length = cm_crossing_value(c, 0)->shape.dims[axis];
  uint32_t inverse = cm_map_invert(c->maps, in.map[axis]), reorder = k->rank == 1 ? out.map[axis] : 0;
  if (inverse != 0 || reorder != 0) {
    cm_tensor *made;
    CM_TRY(cm_tensor_new(c->model->arena.memory, CM_INT64, k->rank, k->dims, &made, error));
    for (uint64_t i = 0; i < k->count; i++) {
      int64_t index = cm_tensor_integer(k, cm_map_at(c->maps, reorder, (uint32_t)i));
      ((int64_t *)made->data)[i] = cm_map_at(c->maps, inverse, (uint32_t)(index < 0 ? index + length : index));
    }
    cm_status status = cm_model_add_constant(c->model, "permuted", made, &fresh, error);
    cm_tensor_free(made);
    if (status != CM_OK)
      return status;
    node_of(c)->inputs[1] = fresh;
  }
  return cm_node_set_integer(c->model, node_of(c), "axis", cm_layout_place(&in, axis), error);
}

/* ---- Resize ---- */

/* Runtimes interpolate only the last two axes, or all but the first and the last. */
static bool runs_anywhere(const cm_crossing *c, const cm_layout *l)
{
  const char *mode = cm_node_text(cm_crossing_node(c), "mode", "nearest");
  const int64_t *x = cm_crossing_value(c, 0)->shape.dims, *y = cm_crossing_value(c, c->input_count)->shape.dims;
  if (strcmp(mode, "nearest") == 0 || cm_layout_keeps_axes(l))
    return true;
  bool first = x[l->perm[0]] == y[l->perm[0]], second = l->rank > 1 && x[l->perm[1]] == y[l->perm[1]],
       last = x[l->perm[l->rank - 1]] == y[l->perm[l->rank - 1]];
  return l->rank == 4 && first && (second || (last && strcmp(mode, "cubic") != 0));
}

static uint32_t scales_input(const cm_crossing *c)
{
  if (c->model->opset < 11)
    return 1;
  const cm_value *sizes = cm_crossing_input(c, 3);
  return sizes != NULL && sizes->tensor != NULL && sizes->tensor->count > 0 ? 3 : 2;
}

bool cm_cross_resize(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  uint32_t out = c->input_count;
  if ((c->from != 0 && c->from != out) || !cm_crossing_is_data(c, 0) || !cm_crossing_is_data(c, out))
    return false;
  const cm_node *n = cm_crossing_node(c);
  const int64_t *x = cm_crossing_value(c, 0)->shape.dims, *y = cm_crossing_value(c, out)->shape.dims;
  const cm_value *scales = cm_crossing_input(c, scales_input(c));
  for (uint32_t a = 0; a < given.rank; a++)
    if (given.map[a] != 0 && x[a] != y[a])
      return false;
  if (!cm_layout_keeps_elements(&given) || !cm_layout_keeps_axes(&given)) {
    if (strcmp(cm_node_text(n, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0)
      return false;
    if (!cm_layout_keeps_axes(&given) && (scales == NULL || scales->tensor == NULL || cm_node_attribute(n, "axes") != NULL ||
                                          scales->tensor->count != given.rank || !runs_anywhere(c, &given)))
      return false;
  }
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, out, &given);
}

cm_status cm_rewrite_resize(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  uint32_t input = scales_input(c), value = cm_crossing_node(c)->inputs[input], fresh;
  if (cm_layout_keeps_axes(&l))
    return CM_OK;
  const cm_tensor *t = c->model->values[value].tensor;
  cm_tensor *made;
  size_t width = cm_type_bytes(t->type);
  CM_TRY(cm_tensor_new(c->model->arena.memory, t->type, t->rank, t->dims, &made, error));
  for (uint32_t k = 0; k < l.rank; k++)
    memcpy((uint8_t *)made->data + k * width, (const uint8_t *)t->data + l.perm[k] * width, width);
  cm_status status = cm_model_add_constant(c->model, "permuted", made, &fresh, error);
  cm_tensor_free(made);
  if (status == CM_OK)
    node_of(c)->inputs[input] = fresh;
  return status;
}
