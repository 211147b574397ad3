/* Layout nodes as ONNX operators, and permutations that a matrix product takes along for nothing. */
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/permute/permute.h"

cm_status cm_permute_shaped(cm_permute *p, uint32_t like, uint32_t rank, const int64_t *dims, uint32_t *value,
                            cm_error *error)
{
  if (cm_model_add_named(p->model, p->model->values[like].name, value, error) != CM_OK)
    return error->status;
  cm_shape *s = &p->model->values[*value].shape;
  s->type = p->model->values[like].shape.type;
  s->rank = rank;
  memcpy(s->dims, dims, rank * sizeof *dims);
  return CM_OK;
}

cm_status cm_permute_reshape(cm_permute *p, uint32_t input, uint32_t rank, const int64_t *dims, uint32_t output,
                             cm_error *error)
{
  uint32_t inputs[2] = {input}, node;
  if (cm_model_add_integers(p->model, "shape", dims, rank, &inputs[1], error) != CM_OK)
    return error->status;
  return cm_model_add_node(p->model, "Reshape", inputs, 2, &output, 1, &node, error);
}

cm_status cm_permute_transpose(cm_permute *p, uint32_t input, uint32_t rank, const uint32_t *perm, uint32_t output,
                               cm_error *error)
{
  int64_t axes[CM_RANK_MAX];
  uint32_t node;
  for (uint32_t i = 0; i < rank; i++)
    axes[i] = perm[i];
  if (cm_model_add_node(p->model, "Transpose", &input, 1, &output, 1, &node, error) != CM_OK)
    return error->status;
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
  if (cm_permute_shaped(p, output, count, sizes, &split, error) != CM_OK ||
      cm_permute_shaped(p, output, count, moved_sizes, &moved, error) != CM_OK ||
      cm_permute_reshape(p, input, count, sizes, split, error) != CM_OK ||
      cm_permute_transpose(p, split, count, perm, moved, error) != CM_OK)
    return error->status;
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
    if (CM_ARENA_NEW(&p->model->arena, index, s->dims[a], error) != CM_OK)
      return error->status;
    for (int64_t i = 0; i < s->dims[a]; i++)
      index[i] = cm_map_at(p->maps, l->map[a], (uint32_t)i);
    if (cm_model_add_integers(p->model, "order", index, (size_t)s->dims[a], &inputs[1], error) != CM_OK)
      return error->status;
    s = &p->model->values[input].shape;
    if (--left > 0 && cm_permute_shaped(p, output, s->rank, s->dims, &made, error) != CM_OK)
      return error->status;
    if (cm_model_add_node(p->model, "Gather", inputs, 2, &made, 1, &node, error) != CM_OK ||
        cm_node_set_integer(p->model, &p->model->nodes[node], "axis", a, error) != CM_OK)
      return error->status;
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
  if (cm_model_sort(m, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->order_count; i++) {
    cm_node *n = &m->nodes[m->order[i]];
    if (n->known == NULL || strcmp(n->op, "Reshape") != 0)
      continue;
    const cm_value *y = &m->values[n->outputs[0]];
    uint32_t producer = m->values[n->inputs[0]].producer;
    if (!cm_shape_known(&y->shape) || !cm_shape_known(&m->values[n->inputs[0]].shape))
      continue;
    for (uint32_t k = 0; k < y->shape.rank; k++)
      if (y->shape.dims[k] == 0)
        goto next;
    while (producer != CM_NONE && m->nodes[producer].known != NULL && strcmp(m->nodes[producer].op, "Reshape") == 0 &&
           cm_shape_known(&m->values[m->nodes[producer].inputs[0]].shape)) {
      uint32_t shape;
      if (cm_model_add_integers(m, "shape", y->shape.dims, y->shape.rank, &shape, error) != CM_OK)
        return error->status;
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
    if (!p->model->nodes[i].removed && p->model->nodes[i].layout != NULL && emit_one(p, (uint32_t)i, error) != CM_OK)
      return error->status;
  return tidy_reshapes(p, error);
}

/* ---- matrix products that read an operand transposed ---- */

/* Gemm(a, b) with flags, reshaped into `output`; before opset 11 Gemm needs a third input. */
static cm_status add_gemm(cm_permute *p, const uint32_t *operands, const bool *flags, uint32_t addend,
                          const int64_t *dims, uint32_t output, cm_error *error)
{
  cm_model *m = p->model;
  uint32_t inputs[3] = {operands[0], operands[1], addend}, product, node;
  cm_shape y = m->values[output].shape;
  if (addend == CM_NONE && m->opset < 11) {
    cm_tensor *zero;
    if (cm_tensor_new(m->arena.memory, CM_FLOAT, 1, (int64_t[]){1}, &zero, error) != CM_OK)
      return error->status;
    cm_status status = cm_model_add_constant(m, "zero", zero, &inputs[2], error);
    cm_tensor_free(zero);
    if (status != CM_OK)
      return status;
  }
  if (cm_permute_shaped(p, output, 2, dims, &product, error) != CM_OK ||
      cm_model_add_node(m, "Gemm", inputs, inputs[2] == CM_NONE ? 2 : 3, &product, 1, &node, error) != CM_OK ||
      cm_node_set_integer(m, &m->nodes[node], "transA", flags[0], error) != CM_OK ||
      cm_node_set_integer(m, &m->nodes[node], "transB", flags[1], error) != CM_OK)
    return error->status;
  return cm_permute_reshape(p, product, y.rank, y.dims, output, error);
}

/* An operand of one matrix [rows, columns]: read as it is, or, where a permutation makes it that only exchanges the
 * two, from before that permutation. *matrix is CM_NONE when it is no single matrix. */
static cm_status take_operand(cm_permute *p, uint32_t value, int64_t rows, int64_t columns, uint32_t *matrix,
                              bool *flag, cm_error *error)
{
  cm_model *m = p->model;
  uint32_t producer = m->values[value].producer;
  int64_t plain[2] = {rows, columns}, turned[2] = {columns, rows};
  cm_layout view;
  *flag = false;
  if (producer != CM_NONE && m->nodes[producer].layout != NULL) {
    const cm_layout *l = m->nodes[producer].layout;
    uint32_t before = m->nodes[producer].inputs[0];
    const cm_shape *x = &m->values[before].shape;
    if (cm_layout_moves(l, x->dims) && cm_layout_reshape(p->maps, l, x->dims, 2, turned, &view) && view.perm[0] == 1 &&
        cm_layout_keeps_elements(&view)) {
      *flag = true;
      value = before;
    }
  }
  if (cm_permute_shaped(p, value, 2, *flag ? turned : plain, matrix, error) != CM_OK)
    return error->status;
  return cm_permute_reshape(p, value, 2, *flag ? turned : plain, *matrix, error);
}

static bool one_matrix(const cm_value *v)
{
  if (v->shape.type != CM_FLOAT || !cm_shape_known(&v->shape) || v->shape.rank < 2)
    return false;
  for (uint32_t i = 0; i + 2 < v->shape.rank; i++)
    if (v->shape.dims[i] != 1)
      return false;
  return true;
}

/* True when a value comes out of a permutation that moves data, for this reader alone. */
static bool behind_permutation(const cm_permute *p, uint32_t value)
{
  const cm_model *m = p->model;
  uint32_t producer = m->values[value].producer;
  return producer != CM_NONE && m->nodes[producer].layout != NULL && m->values[value].use_count == 1 &&
         cm_shape_known(&m->values[m->nodes[producer].inputs[0]].shape) &&
         cm_layout_moves(m->nodes[producer].layout, m->values[m->nodes[producer].inputs[0]].shape.dims);
}

static cm_status absorb_matmul(cm_permute *p, uint32_t node, cm_error *error)
{
  cm_model *m = p->model;
  const cm_node *n = &m->nodes[node];
  uint32_t a = n->inputs[0], b = n->inputs[1], y = n->outputs[0], operands[2];
  const cm_value *va = &m->values[a], *vb = &m->values[b];
  bool flags[2];
  if (!one_matrix(va) || !one_matrix(vb) || (!behind_permutation(p, a) && !behind_permutation(p, b)))
    return CM_OK;
  int64_t rows = va->shape.dims[va->shape.rank - 2], inner = va->shape.dims[va->shape.rank - 1],
          columns = vb->shape.dims[vb->shape.rank - 1], dims[2] = {rows, columns};
  if (take_operand(p, a, rows, inner, &operands[0], &flags[0], error) != CM_OK ||
      take_operand(p, b, inner, columns, &operands[1], &flags[1], error) != CM_OK)
    return error->status;
  /* When no flag came of it the new views are nobody's and go with the sweep. */
  if (!flags[0] && !flags[1])
    return CM_OK;
  m->nodes[node].removed = true;
  return add_gemm(p, operands, flags, CM_NONE, dims, y, error);
}

static bool all_are(const cm_node *n, const char *name, int64_t number)
{
  const cm_attribute *a = cm_node_attribute(n, name);
  for (size_t i = 0; a != NULL && i < a->count; i++)
    if (a->integers[i] != number)
      return false;
  return true;
}

/* A 1 x 1 convolution of one image is a matrix product too: [filters, channels] x [channels, pixels]. Behind it a
 * permutation to channels-last is the product turned round, with the image read transposed. */
static cm_status absorb_conv(cm_permute *p, uint32_t node, cm_error *error)
{
  cm_model *m = p->model;
  const cm_node *conv, *n = &m->nodes[node];
  uint32_t made = n->inputs[0], y = n->outputs[0], producer = m->values[made].producer, operands[2], addend = CM_NONE;
  cm_layout view;
  if (producer == CM_NONE || m->values[made].use_count != 1 || m->nodes[producer].known == NULL ||
      strcmp(m->nodes[producer].op, "Conv") != 0)
    return CM_OK;
  conv = &m->nodes[producer];
  const cm_value *x = &m->values[conv->inputs[0]], *w = &m->values[conv->inputs[1]], *v = &m->values[made];
  if (!cm_shape_known(&x->shape) || !cm_shape_known(&v->shape) || !w->constant || !cm_shape_known(&w->shape) ||
      x->shape.type != CM_FLOAT || x->shape.dims[0] != 1 || cm_node_integer(conv, "group", 1) != 1 ||
      !all_are(conv, "strides", 1) || !all_are(conv, "pads", 0))
    return CM_OK;
  int64_t pixels = 1, channels = x->shape.dims[1], filters = w->shape.dims[0];
  for (uint32_t i = 2; i < x->shape.rank; i++) {
    pixels *= x->shape.dims[i];
    if (w->shape.dims[i] != 1 || v->shape.dims[i] != x->shape.dims[i])
      return CM_OK;
  }
  if (conv->input_count > 2 && conv->inputs[2] != CM_NONE)
    addend = conv->inputs[2];
  int64_t plane[2] = {filters, pixels}, image[2] = {channels, pixels}, weights[2] = {filters, channels},
          dims[2] = {pixels, filters};
  bool flags[2] = {true, true};
  if (!cm_layout_moves(n->layout, v->shape.dims) ||
      !cm_layout_reshape(p->maps, n->layout, v->shape.dims, 2, plane, &view) || view.perm[0] != 1 ||
      !cm_layout_keeps_elements(&view))
    return CM_OK;
  const cm_tensor *tensor;
  cm_tensor *flat;
  uint32_t input = conv->inputs[0];
  if (cm_constant_tensor(m, conv->inputs[1], p->run, &tensor, error) != CM_OK ||
      cm_tensor_reshaped(m->arena.memory, tensor, 2, weights, &flat, error) != CM_OK)
    return error->status;
  cm_status status = cm_model_add_constant(m, w->name, flat, &operands[1], error);
  cm_tensor_free(flat);
  if (status != CM_OK || cm_permute_shaped(p, input, 2, image, &operands[0], error) != CM_OK ||
      cm_permute_reshape(p, input, 2, image, operands[0], error) != CM_OK)
    return error->status;
  m->nodes[node].removed = m->nodes[producer].removed = true;
  return add_gemm(p, operands, flags, addend, dims, y, error);
}

cm_status cm_permute_absorb(cm_permute *p, cm_error *error)
{
  size_t count = p->model->node_count;
  for (size_t i = 0; i < count; i++) {
    const cm_node *n = &p->model->nodes[i];
    cm_status status = CM_OK;
    if (n->removed)
      continue;
    if (n->layout != NULL)
      status = absorb_conv(p, (uint32_t)i, error);
    else if (n->known != NULL && strcmp(n->op, "MatMul") == 0)
      status = absorb_matmul(p, (uint32_t)i, error);
    if (status != CM_OK)
      return status;
  }
  return cm_permute_normalise(p, error);
}
