/* Operators on the last two dimensions: Det, Trilu, EyeLike. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

/* ---- Det ---- */

cm_status cm_shape_det(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank < 2 || (x->dims[x->rank - 1] >= 0 && x->dims[x->rank - 2] >= 0 && x->dims[x->rank - 1] != x->dims[x->rank - 2]))
    return cm_call_fail(call, error, "needs square matrices");
  call->output[0].rank = x->rank - 2;
  return CM_OK;
}

/* Elimination with the largest pivot; `m` is destroyed. */
static double determinant(double *m, int64_t n)
{
  double det = 1;
  for (int64_t c = 0; c < n; c++) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; r++)
      pivot = fabs(m[r * n + c]) > fabs(m[pivot * n + c]) ? r : pivot;
    det *= m[pivot * n + c] * (pivot == c ? 1 : -1);
    if (m[pivot * n + c] == 0)
      return 0;
    for (int64_t k = c; k < n; k++) {
      double swap = m[c * n + k];
      m[c * n + k] = m[pivot * n + k];
      m[pivot * n + k] = swap;
    }
    for (int64_t r = c + 1; r < n; r++) {
      double factor = m[r * n + c] / m[c * n + c];
      for (int64_t k = c; k < n; k++)
        m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return det;
}

cm_status cm_kernel_det(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  int64_t n = x->dims[x->rank - 1];
  double *m;
  CM_TRY(CM_NEW(call->memory, m, n * n + 1, error));
  for (uint64_t k = 0; k < call->result[0]->count; k++) {
    for (int64_t i = 0; i < n * n; i++)
      m[i] = cm_tensor_number(x, k * (uint64_t)(n * n) + (uint64_t)i);
    cm_tensor_put_number(call->result[0], k, determinant(m, n), false);
  }
  cm_free(m);
  return CM_OK;
}

/* ---- Trilu ---- */

cm_status cm_shape_trilu(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return call->input[0].rank < 2 ? cm_call_fail(call, error, "needs at least 2 dimensions") : CM_OK;
}

cm_status cm_kernel_trilu(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t k = cm_has(call, 1) ? cm_tensor_integer(call->value[1], 0) : 0, rows = x->dims[x->rank - 2],
          columns = x->dims[x->rank - 1];
  bool upper = cm_node_integer(call->node, "upper", 1) != 0;
  size_t width = cm_type_bytes(x->type);
  (void)error;
  for (uint64_t i = 0; i < x->count; i++) {
    int64_t row = (int64_t)(i / (uint64_t)columns) % rows, column = (int64_t)(i % (uint64_t)columns);
    if (upper ? column - row >= k : column - row <= k)
      memcpy((uint8_t *)y->data + i * width, (const uint8_t *)x->data + i * width, width);
  }
  return CM_OK;
}

/* ---- EyeLike ---- */

cm_status cm_shape_eye_like(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  call->output[0].type = (cm_type)cm_node_integer(call->node, "dtype", call->input[0].type);
  return call->input[0].rank != CM_UNKNOWN_RANK && call->input[0].rank != 2
             ? cm_call_fail(call, error, "needs 2 dimensions, not %u", call->input[0].rank)
             : CM_OK;
}

cm_status cm_check_eye_like(const cm_call *call, cm_error *error)
{
  cm_type type = (cm_type)cm_node_integer(call->node, "dtype", call->input[0].type);
  return cm_type_bits(type) == 0 || type == CM_COMPLEX64 || type == CM_COMPLEX128 ? cm_call_bad_type(call, type, error) : CM_OK;
}

cm_status cm_kernel_eye_like(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  int64_t k = cm_node_integer(call->node, "k", 0);
  (void)error;
  for (int64_t row = 0; row < y->dims[0]; row++)
    if (row + k >= 0 && row + k < y->dims[1])
      cm_tensor_put_number(y, (uint64_t)(row * y->dims[1] + row + k), 1, false);
  return CM_OK;
}
