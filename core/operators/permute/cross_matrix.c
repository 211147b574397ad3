/* Crossing matrix products: batch axes go along, rows and columns with their outputs, and the inner dimension with the
 * other operand; (AB)^T = B^T A^T. */
#include <string.h>

#include "core/operators/permute/cross.h"
#include "core/operators/evaluate.h"

/* ---- Gemm ---- */

/* The layout of [M, K], [K, N] or [M, N] as what it does to rows and columns of the product. */
typedef struct matrix_view {
  bool swapped;
  uint32_t row, column; /* maps of the first and second logical axis */
} matrix_view;

/* Slots 0, 1 and the output; a transposed operand is seen as it is multiplied. */
static matrix_view view_of(const cm_layout *l, bool transposed)
{
  return (matrix_view){l->perm[0] == 1, l->map[transposed], l->map[!transposed]};
}

static cm_layout layout_of(uint32_t row, uint32_t column, bool transposed)
{
  cm_layout l = cm_layout_identity(2);
  l.map[transposed] = row;
  l.map[!transposed] = column;
  return l;
}

static bool transposed(const cm_crossing *c, const char *name)
{
  return cm_node_integer(cm_crossing_node(c), name, 0) != 0;
}

static bool constant_or_none(const cm_crossing *c, uint32_t input)
{
  const cm_value *v = cm_crossing_input(c, input);
  return v == NULL || v->constant;
}

static bool is_constant(const cm_crossing *c, uint32_t input)
{
  return cm_crossing_value(c, input)->constant;
}

/* An operand alone: a swap is a flag, what comes along the inner dimension goes to the other operand, along the outer
 * one to the output. */
static bool cross_gemm_operand(cm_crossing *c, uint32_t from)
{
  bool flag[2] = {transposed(c, "transA"), transposed(c, "transB")};
  matrix_view v = view_of(&c->layout[from], flag[from]);
  uint32_t outer = from == 0 ? v.row : v.column, inner = from == 0 ? v.column : v.row, out = c->input_count;
  if ((outer != 0 && !constant_or_none(c, 2)))
    return false;
  if (outer != 0) {
    cm_layout y = layout_of(from == 0 ? outer : 0, from == 0 ? 0 : outer, false);
    if (!cm_crossing_tie(c, out, &y))
      return false;
  }
  if (inner != 0 && !is_constant(c, 1 - from)) {
    cm_layout other = from == 0 ? layout_of(inner, 0, flag[1]) : layout_of(0, inner, flag[0]);
    if (!cm_crossing_tie(c, 1 - from, &other))
      return false;
  }
  c->independent = outer == 0 && (inner == 0 || is_constant(c, 1 - from));
  return true;
}

bool cm_cross_gemm(cm_crossing *c)
{
  uint32_t out = c->input_count;
  if (c->layout[c->from].rank != 2)
    return false;
  if (c->from < 2)
    return cross_gemm_operand(c, c->from);
  if (c->from != out || !constant_or_none(c, 2))
    return false;
  matrix_view v = view_of(&c->layout[out], false);
  if (v.row != 0 && !is_constant(c, 0)) {
    cm_layout a = layout_of(v.row, 0, transposed(c, "transA"));
    if (!cm_crossing_tie(c, 0, &a))
      return false;
  }
  if (v.column != 0 && !is_constant(c, 1)) {
    cm_layout b = layout_of(0, v.column, transposed(c, "transB"));
    if (!cm_crossing_tie(c, 1, &b))
      return false;
  }
  c->independent = (v.row == 0 || is_constant(c, 0)) && (v.column == 0 || is_constant(c, 1));
  return true;
}

/* The third input under the output's layout; it broadcasts to it. */
static cm_status permute_addend(cm_crossing *c, const cm_layout *out, cm_error *error)
{
  const cm_value *v = cm_crossing_input(c, 2);
  const cm_tensor *t;
  cm_tensor *wide;
  uint32_t fresh;
  if (v == NULL || cm_layout_is_identity(out))
    return CM_OK;
  CM_TRY(cm_constant_tensor(c->model, cm_crossing_node(c)->inputs[2], c->run, &t, error));
  int64_t dims[2] = {t->rank > 1 ? t->dims[0] : 1, t->rank > 0 ? t->dims[t->rank - 1] : 1};
  cm_layout own = *out;
  own.map[0] = dims[0] == 1 ? 0 : own.map[0];
  own.map[1] = dims[1] == 1 ? 0 : own.map[1];
  CM_TRY(cm_tensor_reshaped(c->model->arena.memory, t, 2, dims, &wide, error));
  cm_status status = cm_model_add_constant(c->model, v->name, wide, &fresh, error);
  cm_tensor_free(wide);
  if (status != CM_OK)
    return status;
  c->model->nodes[c->node].inputs[2] = fresh;
  return cm_crossing_permute_constant(c, 2, &own, error);
}

cm_status cm_rewrite_gemm(cm_crossing *c, cm_error *error)
{
  bool flag[2] = {transposed(c, "transA"), transposed(c, "transB")};
  cm_layout a = cm_crossing_layout(c, 0), b = cm_crossing_layout(c, 1), y = cm_crossing_layout(c, c->input_count);
  matrix_view va = view_of(&a, flag[0]), vb = view_of(&b, flag[1]), vy = view_of(&y, false);
  cm_layout for_a = layout_of(vy.row, vb.row, flag[0]), for_b = layout_of(va.column, vy.column, flag[1]);
  CM_TRY_IF(is_constant(c, 0), cm_crossing_permute_constant(c, 0, &for_a, error));
  CM_TRY_IF(is_constant(c, 1), cm_crossing_permute_constant(c, 1, &for_b, error));
  CM_TRY(permute_addend(c, &y, error));
  cm_node *n = &c->model->nodes[c->node];
  flag[0] = flag[0] != va.swapped;
  flag[1] = flag[1] != vb.swapped;
  if (vy.swapped) {
    uint32_t first = n->inputs[0];
    bool first_flag = flag[0];
    n->inputs[0] = n->inputs[1];
    n->inputs[1] = first;
    c->exchanged = true;
    flag[0] = !flag[1];
    flag[1] = !first_flag;
  }
  CM_TRY(cm_node_set_integer(c->model, n, "transA", flag[0], error));
  return cm_node_set_integer(c->model, &c->model->nodes[c->node], "transB", flag[1], error);
}

/* ---- MatMul ---- */

/* What a layout of [batch..., rows, columns] does: an order of the batch axes, maps, and whether the last two are
 * swapped. */
typedef struct stack_view {
  cm_layout batch; /* rank - 2 */
  bool swapped;
  uint32_t row, column;
} stack_view;

static bool stack_of(const cm_layout *l, stack_view *v)
{
  uint32_t r = l->rank;
  *v = (stack_view){.batch = cm_layout_identity(r - 2), .row = l->map[r - 2], .column = l->map[r - 1]};
  v->swapped = l->perm[r - 1] == r - 2;
  if (v->swapped ? l->perm[r - 2] != r - 1 : l->perm[r - 1] != r - 1 || l->perm[r - 2] != r - 2)
    return false;
  memcpy(v->batch.perm, l->perm, (r - 2) * sizeof *l->perm);
  memcpy(v->batch.map, l->map, (r - 2) * sizeof *l->map);
  return true;
}

static cm_layout stack_layout(const stack_view *v, uint32_t row, uint32_t column)
{
  cm_layout l = cm_layout_identity(v->batch.rank + 2);
  uint32_t r = l.rank;
  memcpy(l.perm, v->batch.perm, (r - 2) * sizeof *l.perm);
  memcpy(l.map, v->batch.map, (r - 2) * sizeof *l.map);
  l.perm[r - 2] = v->swapped ? r - 1 : r - 2;
  l.perm[r - 1] = v->swapped ? r - 2 : r - 1;
  l.map[r - 2] = row;
  l.map[r - 1] = column;
  return l;
}

/* Both operands are data over the same batch axes. */
static bool cross_stacks(cm_crossing *c)
{
  const cm_shape *a = &cm_crossing_value(c, 0)->shape, *b = &cm_crossing_value(c, 1)->shape;
  stack_view v;
  if (a->rank != b->rank || a->rank < 2 || memcmp(a->dims, b->dims, (a->rank - 2) * sizeof *a->dims) != 0 ||
      !stack_of(&c->layout[c->from], &v))
    return false;
  uint32_t m = c->from != 1 ? v.row : 0, n = c->from != 0 ? v.column : 0, k = c->from == 0 ? v.column : c->from == 1 ? v.row : 0;
  cm_layout la = stack_layout(&v, m, k), lb = stack_layout(&v, k, n), ly = stack_layout(&v, m, n);
  return cm_crossing_tie(c, 0, &la) && cm_crossing_tie(c, 1, &lb) && cm_crossing_tie(c, 2, &ly);
}

/* Data times a constant matrix: all axes but the last are rows. */
static bool cross_rows(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], other = given;
  uint32_t last = given.rank - 1;
  if (given.perm[last] != last || (c->from != 0 && c->from != 2))
    return false;
  other.map[last] = 0;
  c->independent = cm_layout_is_identity(&other);
  return cm_crossing_tie(c, c->from == 0 ? 2 : 0, &other);
}

/* A constant matrix times data: all axes but the last but one are columns. */
static bool cross_columns(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], other = given;
  uint32_t inner = given.rank - 2;
  if (given.perm[inner] != inner || (c->from != 1 && c->from != 2))
    return false;
  other.map[inner] = 0;
  c->independent = cm_layout_is_identity(&other);
  return cm_crossing_tie(c, c->from == 1 ? 2 : 1, &other);
}

bool cm_cross_matmul(cm_crossing *c)
{
  const cm_value *a = cm_crossing_value(c, 0), *b = cm_crossing_value(c, 1), *y = cm_crossing_value(c, 2);
  if (y == NULL || !cm_shape_known(&a->shape) || !cm_shape_known(&b->shape) || a->shape.rank < 2 || b->shape.rank < 2)
    return false;
  if (!a->constant && !b->constant)
    return cross_stacks(c);
  if (b->constant && !a->constant && b->shape.rank == 2)
    return cross_rows(c);
  return a->constant && !b->constant && a->shape.rank == 2 && cross_columns(c);
}

cm_status cm_rewrite_matmul(cm_crossing *c, cm_error *error)
{
  cm_layout a = cm_crossing_layout(c, 0), b = cm_crossing_layout(c, 1), y = cm_crossing_layout(c, 2);
  cm_layout weights = cm_layout_identity(2);
  if (is_constant(c, 1) && b.rank == 2) {
    weights.map[0] = a.map[a.rank - 1];
    weights.map[1] = y.map[y.rank - 1];
    return cm_crossing_permute_constant(c, 1, &weights, error);
  }
  if (is_constant(c, 0) && a.rank == 2) {
    weights.map[0] = y.map[y.rank - 2];
    weights.map[1] = b.map[b.rank - 2];
    return cm_crossing_permute_constant(c, 0, &weights, error);
  }
  if (y.rank >= 2 && y.perm[y.rank - 1] == y.rank - 2) {
    cm_node *n = &c->model->nodes[c->node];
    uint32_t first = n->inputs[0];
    n->inputs[0] = n->inputs[1];
    n->inputs[1] = first;
    c->exchanged = true;
  }
  return CM_OK;
}
