/* Layout nodes as ONNX operators. */
#include <string.h>

#include "core/operators/permute/permute.h"

cm_status cm_permute_shaped(cm_permute *p, uint32_t like, uint32_t rank, const int64_t *dims, uint32_t *value, cm_error *error)
{
  CM_TRY(cm_model_add_named(p->model, p->model->values[like].name, value, error));
  cm_shape *s = &p->model->values[*value].shape;
  s->type = p->model->values[like].shape.type;
  s->rank = rank;
  memcpy(s->dims, dims, rank * sizeof *dims);
  return CM_OK;
}

cm_status cm_permute_reshape(cm_permute *p, uint32_t input, uint32_t rank, const int64_t *dims, uint32_t output, cm_error *error)
{
  uint32_t inputs[2] = {input}, node;
  CM_TRY(cm_model_add_integers(p->model, "shape", dims, rank, &inputs[1], error));
  return cm_model_add_node(p->model, "Reshape", inputs, 2, &output, 1, &node, error);
}

cm_status cm_permute_transpose(cm_permute *p, uint32_t input, uint32_t rank, const uint32_t *perm, uint32_t output,
                               cm_error *error)
{
  int64_t axes[CM_RANK_MAX];
  uint32_t node;
  for (uint32_t i = 0; i < rank; i++)
    axes[i] = perm[i];
  CM_TRY(cm_model_add_node(p->model, "Transpose", &input, 1, &output, 1, &node, error));
  return cm_node_set_integers(p->model, &p->model->nodes[node], "perm", axes, rank, error);
}

/* All axes as digits: [digits] -> transposed -> stored dims. */
static cm_status emit_digits(cm_permute *p, uint32_t input, const cm_layout *l, const int64_t *stored, uint32_t output,
                             cm_error *error)
{
  const int64_t *dims = p->model->values[input].shape.dims;
  uint32_t first[CM_RANK_MAX] = {0}, perm[CM_RANK_MAX] = {0}, count = 0, next = 0, split, moved;
  cm_digits digits[CM_RANK_MAX];
  int64_t sizes[CM_RANK_MAX], moved_sizes[CM_RANK_MAX];
  for (uint32_t a = 0; a < l->rank; a++) {
    first[a] = count;
    if (l->map[a] == 0)
      digits[a] = (cm_digits){.count = 1, .size = {(uint32_t)dims[a]}};
    else
      (void)cm_map_digits(p->maps, l->map[a], (uint32_t)dims[a], &digits[a]);
    for (uint32_t i = 0; i < digits[a].count; i++)
      sizes[count++] = digits[a].size[i];
  }
  for (uint32_t k = 0; k < l->rank; k++)
    for (uint32_t i = 0; i < digits[l->perm[k]].count; i++)
      perm[next++] = first[l->perm[k]] + digits[l->perm[k]].order[i];
  for (uint32_t i = 0; i < count; i++)
    moved_sizes[i] = sizes[perm[i]];
  CM_TRY(cm_permute_shaped(p, output, count, sizes, &split, error));
  CM_TRY(cm_permute_shaped(p, output, count, moved_sizes, &moved, error));
  CM_TRY(cm_permute_reshape(p, input, count, sizes, split, error));
  CM_TRY(cm_permute_transpose(p, split, count, perm, moved, error));
  return cm_permute_reshape(p, moved, l->rank, stored, output, error);
}

/* One Gather a map, then the axes. */
static cm_status emit_gathers(cm_permute *p, uint32_t input, const cm_layout *l, uint32_t output, cm_error *error)
{
  uint32_t left = !cm_layout_keeps_axes(l);
  for (uint32_t a = 0; a < l->rank; a++)
    left += l->map[a] != 0;
  for (uint32_t a = 0; a < l->rank; a++) {
    const cm_shape *s = &p->model->values[input].shape;
    uint32_t inputs[2] = {input}, made = output, node;
    int64_t *index;
    if (l->map[a] == 0)
      continue;
    CM_TRY(CM_ARENA_NEW(&p->model->arena, index, s->dims[a], error));
    for (int64_t i = 0; i < s->dims[a]; i++)
      index[i] = cm_map_at(p->maps, l->map[a], (uint32_t)i);
    CM_TRY(cm_model_add_integers(p->model, "order", index, (size_t)s->dims[a], &inputs[1], error));
    s = &p->model->values[input].shape;
    CM_TRY_IF(--left > 0, cm_permute_shaped(p, output, s->rank, s->dims, &made, error));
    CM_TRY(cm_model_add_node(p->model, "Gather", inputs, 2, &made, 1, &node, error));
    CM_TRY(cm_node_set_integer(p->model, &p->model->nodes[node], "axis", a, error));
    input = made;
  }
  return cm_layout_keeps_axes(l) ? CM_OK : cm_permute_transpose(p, input, l->rank, l->perm, output, error);
}

static cm_status emit_one(cm_permute *p, uint32_t node, cm_error *error)
{
  cm_model *m = p->model;
  const cm_layout *l = m->nodes[node].layout;
  uint32_t input = m->nodes[node].inputs[0], output = m->nodes[node].outputs[0];
  const cm_shape *x = &m->values[input].shape;
  int64_t stored[CM_RANK_MAX];
  m->nodes[node].removed = true;
  m->nodes[node].layout = NULL;
  if (!cm_shape_known(x))
    return cm_permute_transpose(p, input, l->rank, l->perm, output, error);
  cm_layout_dims(l, x->dims, stored);
  if (!cm_layout_moves(l, x->dims))
    return cm_permute_reshape(p, input, l->rank, stored, output, error);
  if (cm_layout_keeps_elements(l))
    return cm_permute_transpose(p, input, l->rank, l->perm, output, error);
  return cm_layout_has_digits(p->maps, l, x->dims) ? emit_digits(p, input, l, stored, output, error)
                                                   : emit_gathers(p, input, l, output, error);
}

/* A chain of reshapes is its last one, and one to the shape that is there already is nothing. */
static cm_status tidy_reshapes(cm_permute *p, cm_error *error)
{
  cm_model *m = p->model;
  CM_TRY(cm_model_sort(m, error));
  for (size_t i = 0; i < m->order_count; i++) {
    cm_node *n = &m->nodes[m->order[i]];
    if (!cm_node_is(n, cm_kernel_reshape))
      continue;
    const cm_value *y = &m->values[n->outputs[0]];
    uint32_t producer = m->values[n->inputs[0]].producer;
    if (!cm_shape_known(&y->shape) || !cm_shape_known(&m->values[n->inputs[0]].shape))
      continue;
    for (uint32_t k = 0; k < y->shape.rank; k++)
      if (y->shape.dims[k] == 0)
        goto next;
    while (producer != CM_NONE && cm_node_is(&m->nodes[producer], cm_kernel_reshape) &&
           cm_shape_known(&m->values[m->nodes[producer].inputs[0]].shape)) {
      uint32_t shape;
      CM_TRY(cm_model_add_integers(m, "shape", y->shape.dims, y->shape.rank, &shape, error));
      y = &m->values[n->outputs[0]];
      n->inputs[0] = m->nodes[producer].inputs[0];
      n->inputs[1] = shape;
      producer = m->values[n->inputs[0]].producer;
    }
    const cm_shape *x = &m->values[n->inputs[0]].shape;
    if (x->rank == y->shape.rank && memcmp(x->dims, y->shape.dims, x->rank * sizeof *x->dims) == 0 &&
        !cm_model_is_output(m, n->outputs[0])) {
      cm_model_redirect(m, n->outputs[0], n->inputs[0]);
    }
  next:;
  }
  return cm_model_sweep(m, error);
}

cm_status cm_permute_emit(cm_permute *p, cm_error *error)
{
  size_t count = p->model->node_count;
  for (size_t i = 0; i < count; i++)
    CM_TRY_IF(!p->model->nodes[i].removed && p->model->nodes[i].layout != NULL, emit_one(p, (uint32_t)i, error));
  return tidy_reshapes(p, error);
}
