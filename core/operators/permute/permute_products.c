/* Permutations that a matrix product takes along for nothing: Gemm has a flag for an operand that is read transposed, and
 * (AB)^T = B^T A^T for what it makes. */

#include "core/operators/permute/permute.h"

static bool is_matrix(const cm_value *v)
{
  return v->shape.type == CM_FLOAT && cm_shape_known(&v->shape) && v->shape.rank >= 2;
}

/* The right operand is one matrix; all axes but the last of the left one are rows. */
bool cm_product_of(const cm_model *m, const cm_node *n, cm_matrix_product *product)
{
  if (n->removed || n->layout != NULL || !cm_node_is(n, cm_kernel_matmul))
    return false;
  const cm_value *a = &m->values[n->inputs[0]], *b = &m->values[n->inputs[1]];
  if (!is_matrix(a) || !is_matrix(b) || !is_matrix(&m->values[n->outputs[0]]))
    return false;
  for (uint32_t i = 0; i + 2 < b->shape.rank; i++)
    if (b->shape.dims[i] != 1)
      return false;
  *product = (cm_matrix_product){1, a->shape.dims[a->shape.rank - 1], b->shape.dims[b->shape.rank - 1]};
  for (uint32_t i = 0; i + 1 < a->shape.rank; i++)
    product->rows *= a->shape.dims[i];
  return product->rows > 0 && product->inner > 0 && product->columns > 0;
}

/* True when a layout of a tensor of `dims`, seen as the matrix `plane`, exchanges rows and columns and moves data. */
/* Whether a layout exchanges the rows and columns of a value of `dims`. */
static bool turns(cm_permute *p, const cm_layout *layout, const int64_t *dims, int64_t rows, int64_t columns)
{
  const int64_t plane[2] = {rows, columns};
  cm_layout view;
  return cm_layout_moves(layout, dims) && cm_layout_reshape(p->maps, layout, dims, 2, plane, &view) && view.perm[0] == 1 &&
         cm_layout_keeps_elements(&view);
}

bool cm_product_reads_turned(cm_permute *p, uint32_t node, uint32_t slot, const cm_layout *layout, const int64_t *dims)
{
  cm_matrix_product x;
  if (slot > 1 || !cm_product_of(p->model, &p->model->nodes[node], &x))
    return false;
  return slot == 0 ? turns(p, layout, dims, x.inner, x.rows) : turns(p, layout, dims, x.columns, x.inner);
}

/* A product that makes its matrix turned reads its left operand by columns, as the right one: that pays only where this is no larger
 * than what need not be copied. (ConvNeXt's last product, with an operand four times as large, takes 6 % longer so.) */
bool cm_product_makes_turned(cm_permute *p, uint32_t value, const cm_layout *layout)
{
  const cm_model *m = p->model;
  uint32_t producer = m->values[value].producer;
  cm_matrix_product x;
  return producer != CM_NONE && cm_product_of(m, &m->nodes[producer], &x) && x.inner <= x.columns &&
         turns(p, layout, m->values[value].shape.dims, x.rows, x.columns);
}

/* Every reader of a permutation's output is a product that reads it turned. */
static bool read_turned(cm_permute *p, const cm_node *n)
{
  const cm_model *m = p->model;
  const cm_value *x = &m->values[n->inputs[0]], *y = &m->values[n->outputs[0]];
  uint32_t found = 0;
  if (!cm_shape_known(&x->shape) || cm_model_is_output(m, n->outputs[0]))
    return false;
  for (size_t i = 0; i < m->node_count && found < y->use_count; i++)
    for (uint32_t s = 0; s < m->nodes[i].input_count && !m->nodes[i].removed; s++) {
      if (m->nodes[i].inputs[s] != n->outputs[0])
        continue;
      if (!cm_product_reads_turned(p, (uint32_t)i, s, n->layout, x->shape.dims))
        return false;
      found++;
    }
  return found > 0 && found == y->use_count;
}

bool cm_product_made_turned(cm_permute *p, const cm_node *n)
{
  const cm_model *m = p->model;
  return m->values[n->inputs[0]].use_count == 1 && !cm_model_is_output(m, n->inputs[0]) &&
         cm_product_makes_turned(p, n->inputs[0], n->layout);
}

bool cm_permute_is_free(cm_permute *p, uint32_t node)
{
  const cm_node *n = &p->model->nodes[node];
  return cm_product_made_turned(p, n) || read_turned(p, n);
}
