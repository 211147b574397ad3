/* Permutations that products and convolutions take over: they read or make their matrices turned. */
#include "core/operators/permute/permute.h"

#include "core/operators/evaluate.h"

/* The two matrices of a product; turned: read by columns. */
typedef struct factors {
  uint32_t matrix[2];
  bool turned[2];
} factors;

/* Gemm(a, b) with flags, reshaped into `output`; before opset 11 Gemm needs a third input. */
static cm_status add_gemm(cm_permute *p, const factors *f, uint32_t addend, const int64_t *dims, uint32_t output, cm_error *error)
{
  cm_model *m = p->model;
  uint32_t inputs[3] = {f->matrix[0], f->matrix[1], addend}, product, node;
  cm_shape y = m->values[output].shape;
  if (addend == CM_NONE && m->opset < 11) {
    cm_tensor *zero;
    CM_TRY(cm_tensor_new(m->arena.memory, CM_FLOAT, 1, (int64_t[]){1}, &zero, error));
    cm_status status = cm_model_add_constant(m, "zero", zero, &inputs[2], error);
    cm_tensor_free(zero);
    if (status != CM_OK)
      return status;
  }
  CM_TRY(cm_permute_shaped(p, output, 2, dims, &product, error));
  CM_TRY(cm_model_add_node(m, "Gemm", inputs, inputs[2] == CM_NONE ? 2 : 3, &product, 1, &node, error));
  CM_TRY(cm_node_set_integer(m, &m->nodes[node], "transA", f->turned[0], error));
  CM_TRY(cm_node_set_integer(m, &m->nodes[node], "transB", f->turned[1], error));
  return cm_permute_reshape(p, product, y.rank, y.dims, output, error);
}

/* The matrix that a product reads: its operand, or, behind a permutation that only turns it, what is before that. */
static cm_status take_operand(cm_permute *p, uint32_t node, uint32_t slot, const int64_t plain[2], factors *f, cm_error *error)
{
  bool *flag = &f->turned[slot];
  cm_model *m = p->model;
  uint32_t value = m->nodes[node].inputs[slot], producer = m->values[value].producer;
  const int64_t turned[2] = {plain[1], plain[0]};
  *flag = false;
  if (producer != CM_NONE && m->nodes[producer].layout != NULL) {
    uint32_t before = m->nodes[producer].inputs[0];
    const cm_shape *x = &m->values[before].shape;
    *flag = cm_shape_known(x) && cm_product_reads_turned(p, node, slot, m->nodes[producer].layout, x->dims);
    value = *flag ? before : value;
  }
  CM_TRY(cm_permute_shaped(p, value, 2, *flag ? turned : plain, &f->matrix[slot], error));
  return cm_permute_reshape(p, value, 2, *flag ? turned : plain, f->matrix[slot], error);
}

/* The permutation that alone reads a value, or CM_NONE. */
static uint32_t only_permutation(const cm_model *m, uint32_t value)
{
  for (size_t i = 0; m->values[value].use_count == 1 && i < m->node_count; i++)
    if (!m->nodes[i].removed && m->nodes[i].layout != NULL && m->nodes[i].inputs[0] == value)
      return (uint32_t)i;
  return CM_NONE;
}

static bool behind_free(cm_permute *p, uint32_t value)
{
  uint32_t producer = p->model->values[value].producer;
  return producer != CM_NONE && p->model->nodes[producer].layout != NULL && cm_permute_is_free(p, producer);
}

static cm_status absorb_matmul(cm_permute *p, uint32_t node, cm_error *error)
{
  cm_model *m = p->model;
  cm_matrix_product x;
  uint32_t y = m->nodes[node].outputs[0], behind = only_permutation(m, y);
  factors f;
  if (!cm_product_of(m, &m->nodes[node], &x))
    return CM_OK;
  bool turned = behind != CM_NONE && cm_product_made_turned(p, &m->nodes[behind]);
  if (!turned && !behind_free(p, m->nodes[node].inputs[0]) && !behind_free(p, m->nodes[node].inputs[1]))
    return CM_OK;
  CM_TRY(take_operand(p, node, 0, (int64_t[]){x.rows, x.inner}, &f, error));
  CM_TRY(take_operand(p, node, 1, (int64_t[]){x.inner, x.columns}, &f, error));
  m->nodes[node].removed = true;
  if (!turned)
    return add_gemm(p, &f, CM_NONE, (int64_t[]){x.rows, x.columns}, y, error);
  m->nodes[behind].removed = true;
  const factors round = {{f.matrix[1], f.matrix[0]}, {!f.turned[1], !f.turned[0]}};
  return add_gemm(p, &round, CM_NONE, (int64_t[]){x.columns, x.rows}, m->nodes[behind].outputs[0], error);
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
  uint32_t made = n->inputs[0], y = n->outputs[0], producer = m->values[made].producer, addend = CM_NONE;
  cm_layout view;
  if (producer == CM_NONE || m->values[made].use_count != 1 || !cm_node_is(&m->nodes[producer], cm_kernel_conv))
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
  factors f = {.turned = {true, true}};
  if (!cm_layout_moves(n->layout, v->shape.dims) || !cm_layout_reshape(p->maps, n->layout, v->shape.dims, 2, plane, &view) ||
      view.perm[0] != 1 || !cm_layout_keeps_elements(&view))
    return CM_OK;
  const cm_tensor *tensor;
  cm_tensor *flat;
  uint32_t input = conv->inputs[0];
  CM_TRY(cm_constant_tensor(m, conv->inputs[1], p->run, &tensor, error));
  CM_TRY(cm_tensor_reshaped(m->arena.memory, tensor, 2, weights, &flat, error));
  cm_status status = cm_model_add_constant(m, w->name, flat, &f.matrix[1], error);
  cm_tensor_free(flat);
  if (status != CM_OK || cm_permute_shaped(p, input, 2, image, &f.matrix[0], error) != CM_OK ||
      cm_permute_reshape(p, input, 2, image, f.matrix[0], error) != CM_OK)
    return error->status;
  m->nodes[node].removed = m->nodes[producer].removed = true;
  return add_gemm(p, &f, addend, dims, y, error);
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
    else if (cm_node_is(n, cm_kernel_matmul))
      status = absorb_matmul(p, (uint32_t)i, error);
    if (status != CM_OK)
      return status;
  }
  return cm_permute_normalise(p, error);
}
