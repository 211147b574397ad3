/* MatMul and Gemm. */
#include <string.h>

#include "base/product.h"
#include "core/operators/operator.h"

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
  if (cm_call_broadcast(call, &a, &b, &wide, error) != CM_OK)
    return error->status;
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
  if (a->type != CM_FLOAT || b->type != CM_FLOAT)
    return cm_call_bad_type(call, a->type != CM_FLOAT ? a->type : b->type, error);
  int64_t m = a->rank > 1 ? a->dims[a->rank - 2] : 1, k = a->dims[a->rank - 1],
          n = b->rank > 1 ? b->dims[b->rank - 1] : 1;
  uint32_t rank = y->rank - (a->rank > 1) - (b->rank > 1);
  int64_t sa[CM_RANK_MAX], sb[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  if (y->count == 0)
    return CM_OK;
  batch_strides(a, rank, sa);
  batch_strides(b, rank, sb);
  float *to = y->data;
  do {
    int64_t at = 0, bt = 0;
    for (uint32_t i = 0; i < rank; i++) {
      at += index[i] * sa[i];
      bt += index[i] * sb[i];
    }
    cm_ordered_product((cm_product){.m = m, .n = n, .k = k}, (const float *)a->data + at, (const float *)b->data + bt, to);
    to += m * n;
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
    return cm_call_fail(call, error, "inner dimensions %lld and %lld differ", (long long)a->dims[!ta],
                        (long long)b->dims[tb]);
  out->rank = 2;
  out->dims[0] = a->dims[ta];
  out->dims[1] = b->dims[!tb];
  if (cm_has(call, 2) && cm_shape_known(out) && cm_shape_known(&call->input[2])) {
    cm_shape wide = *out;
    if (cm_call_broadcast(call, out, &call->input[2], &wide, error) != CM_OK)
      return error->status;
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
  const float *c = cm_has(call, 2) ? call->value[2]->data : NULL;
  float *to = y->data;
  if (c != NULL)
    cm_broadcast_strides(call->value[2], &wide, strides);
  for (int64_t i = 0; i < y->dims[0]; i++)
    for (int64_t j = 0; j < y->dims[1]; j++, to++)
      *to = c == NULL ? alpha * *to : alpha * *to + beta * c[i * strides[0] + j * strides[1]];
}

cm_status cm_kernel_gemm(cm_call *call, cm_error *error)
{
  const cm_tensor *a = call->value[0], *b = call->value[1];
  cm_tensor *y = call->result[0];
  bool ta = cm_node_integer(call->node, "transA", 0) != 0, tb = cm_node_integer(call->node, "transB", 0) != 0;
  if (a->type != CM_FLOAT || b->type != CM_FLOAT || (cm_has(call, 2) && call->value[2]->type != CM_FLOAT))
    return cm_call_bad_type(call, a->type != CM_FLOAT ? a->type : b->type != CM_FLOAT ? b->type : call->value[2]->type, error);
  cm_ordered_product((cm_product){.m = y->dims[0], .n = y->dims[1], .k = a->dims[!ta], .transpose_a = ta, .transpose_b = tb}, a->data, b->data, y->data);
  scale_and_add(call, y);
  return CM_OK;
}
