/* MatMul and Gemm. */
#include <string.h>

#include "base/product.h"
#include "core/operators/operator.h"

/* Two matrices, what they make, and the elements where each begins. */
typedef struct factors {
  const cm_tensor *a, *b;
  cm_tensor *y;
  int64_t at, bt, to;
} factors;

/* Integers wrap. */
static void multiply(const cm_product *p, const factors *f)
{
  if (f->y->type == CM_FLOAT) {
    cm_ordered_product(*p, (const float *)f->a->data + f->at, (const float *)f->b->data + f->bt, (float *)f->y->data + f->to);
    return;
  }
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < p->k; k++) {
        const int64_t a = f->at + (p->transpose_a ? k * p->m + i : i * p->k + k), b = f->bt + (p->transpose_b ? j * p->k + k : k * p->n + j);
        sum += (uint64_t)cm_tensor_integer(f->a, (uint64_t)a) * (uint64_t)cm_tensor_integer(f->b, (uint64_t)b);
      }
      cm_tensor_put_integer(f->y, (uint64_t)(f->to + i * p->n + j), (int64_t)sum);
    }
}

/* ---- MatMul: NumPy's rules; a vector is a row on the left and a column on the right ---- */

cm_status cm_shape_matmul(cm_call *call, cm_error *error)
{
  cm_shape *out = &call->output[0];
  cm_shape a = call->input[0], b = call->input[1], wide = {0};
  out->type = a.type;
  if (a.rank == CM_UNKNOWN_RANK || b.rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (a.rank == 0 || b.rank == 0)
    return cm_call_fail(call, error, "cannot multiply scalars");
  int64_t inner_a = a.dims[a.rank - 1], inner_b = b.dims[b.rank > 1 ? b.rank - 2 : 0];
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
    return cm_call_fail(call, error, "inner dimensions %lld and %lld differ", (long long)inner_a, (long long)inner_b);
  int64_t rows = a.rank > 1 ? a.dims[a.rank - 2] : 1, columns = b.rank > 1 ? b.dims[b.rank - 1] : 1;
  bool has_rows = a.rank > 1, has_columns = b.rank > 1;
  a.rank = a.rank > 2 ? a.rank - 2 : 0;
  b.rank = b.rank > 2 ? b.rank - 2 : 0;
  CM_TRY(cm_call_broadcast(call, &a, &b, &wide, error));
  out->rank = wide.rank;
  memcpy(out->dims, wide.dims, sizeof out->dims);
  if (has_rows)
    out->dims[out->rank++] = rows;
  if (has_columns)
    out->dims[out->rank++] = columns;
  return CM_OK;
}

/* Elements to skip per batch step of an operand, 0 where it is broadcast. */
static void batch_strides(const cm_tensor *t, uint32_t rank, int64_t *strides)
{
  uint32_t own = t->rank > 2 ? t->rank - 2 : 0;
  int64_t step = t->rank > 1 ? t->dims[t->rank - 1] * t->dims[t->rank - 2] : t->dims[0];
  memset(strides, 0, CM_RANK_MAX * sizeof *strides);
  for (uint32_t i = own; i-- > 0; step *= t->dims[i])
    strides[rank - own + i] = t->dims[i] == 1 ? 0 : step;
}

cm_status cm_kernel_matmul(cm_call *call, cm_error *error)
{
  const cm_tensor *a = call->value[0], *b = call->value[1];
  cm_tensor *y = call->result[0];
  (void)error;
  int64_t m = a->rank > 1 ? a->dims[a->rank - 2] : 1, k = a->dims[a->rank - 1], n = b->rank > 1 ? b->dims[b->rank - 1] : 1;
  uint32_t rank = y->rank - (a->rank > 1) - (b->rank > 1);
  int64_t sa[CM_RANK_MAX], sb[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  if (y->count == 0)
    return CM_OK;
  batch_strides(a, rank, sa);
  batch_strides(b, rank, sb);
  const cm_product product = {.m = m, .n = n, .k = k};
  factors f = {.a = a, .b = b, .y = y};
  do {
    f.at = f.bt = 0;
    for (uint32_t i = 0; i < rank; i++) {
      f.at += index[i] * sa[i];
      f.bt += index[i] * sb[i];
    }
    multiply(&product, &f);
    f.to += m * n;
  } while (cm_next_index(rank, y->dims, index));
  return CM_OK;
}

/* ---- Gemm ---- */

cm_status cm_shape_gemm(cm_call *call, cm_error *error)
{
  const cm_shape *a = &call->input[0], *b = &call->input[1];
  cm_shape *out = &call->output[0];
  bool ta = cm_node_integer(call->node, "transA", 0) != 0, tb = cm_node_integer(call->node, "transB", 0) != 0;
  out->type = a->type;
  if (a->rank == CM_UNKNOWN_RANK || b->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (a->rank != 2 || b->rank != 2)
    return cm_call_fail(call, error, "needs matrices, not ranks %u and %u", a->rank, b->rank);
  if (a->dims[!ta] >= 0 && b->dims[tb] >= 0 && a->dims[!ta] != b->dims[tb])
    return cm_call_fail(call, error, "inner dimensions %lld and %lld differ", (long long)a->dims[!ta], (long long)b->dims[tb]);
  out->rank = 2;
  out->dims[0] = a->dims[ta];
  out->dims[1] = b->dims[!tb];
  if (cm_has(call, 2) && cm_shape_known(out) && cm_shape_known(&call->input[2])) {
    cm_shape wide = *out;
    CM_TRY(cm_call_broadcast(call, out, &call->input[2], &wide, error));
    if (wide.rank != 2 || memcmp(wide.dims, out->dims, 2 * sizeof *wide.dims) != 0)
      return cm_call_fail(call, error, "its third input is larger than the product");
  }
  return CM_OK;
}

/* The product times alpha, and where there is a third input beta times that is added. */
static void scale_and_add(const cm_call *call, cm_tensor *y)
{
  const float alpha = cm_node_number(call->node, "alpha", 1), beta = cm_node_number(call->node, "beta", 1);
  cm_shape wide = cm_shape_of(y);
  int64_t strides[CM_RANK_MAX] = {0};
  const cm_tensor *third = cm_has(call, 2) ? call->value[2] : NULL;
  if (third != NULL)
    cm_broadcast_strides(third, &wide, strides);
  if (y->type != CM_FLOAT) {
    for (int64_t i = 0; i < (int64_t)y->count; i++) {
      const int64_t c = i / y->dims[1] * strides[0] + i % y->dims[1] * strides[1];
      const double added = third != NULL ? (double)beta * (double)cm_tensor_integer(third, (uint64_t)c) : 0;
      cm_tensor_put_integer(y, (uint64_t)i, (int64_t)((double)alpha * (double)cm_tensor_integer(y, (uint64_t)i) + added));
    }
    return;
  }
  const float *c = third != NULL ? third->data : NULL;
  float *to = y->data;
  for (int64_t i = 0; i < y->dims[0]; i++)
    for (int64_t j = 0; j < y->dims[1]; j++, to++)
      *to = c == NULL ? alpha * *to : alpha * *to + beta * c[i * strides[0] + j * strides[1]];
}

cm_status cm_kernel_gemm(cm_call *call, cm_error *error)
{
  const cm_tensor *a = call->value[0], *b = call->value[1];
  cm_tensor *y = call->result[0];
  bool ta = cm_node_integer(call->node, "transA", 0) != 0, tb = cm_node_integer(call->node, "transB", 0) != 0;
  (void)error;
  multiply(&(cm_product){.m = y->dims[0], .n = y->dims[1], .k = a->dims[!ta], .transpose_a = ta, .transpose_b = tb},
           &(factors){.a = a, .b = b, .y = y});
  scale_and_add(call, y);
  return CM_OK;
}
