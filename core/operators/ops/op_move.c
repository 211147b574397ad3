/* Operators that put the elements of a tensor in another order: Transpose, DepthToSpace, SpaceToDepth. */
#include <string.h>

#include "core/operators/operator.h"

/* ---- Transpose ---- */

static cm_status read_perm(const cm_call *call, uint32_t rank, uint32_t *perm, cm_error *error)
{
  const cm_attribute *a = cm_node_attribute(call->node, "perm");
  unsigned seen = 0;
  for (uint32_t i = 0; i < rank; i++)
    perm[i] = rank - 1 - i;
  if (a == NULL)
    return CM_OK;
  if (a->count != rank)
    return cm_call_fail(call, error, "perm should hold %u axes", rank);
  for (uint32_t i = 0; i < rank; i++) {
    CM_TRY(cm_call_axis(call, a->integers[i], rank, &perm[i], error));
    if (seen >> perm[i] & 1)
      return cm_call_fail(call, error, "perm names axis %u twice", perm[i]);
    seen |= 1U << perm[i];
  }
  return CM_OK;
}

cm_status cm_shape_transpose(cm_call *call, cm_error *error)
{
  uint32_t perm[CM_RANK_MAX];
  const cm_shape *x = &call->input[0];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_perm(call, x->rank, perm, error));
  for (uint32_t i = 0; i < x->rank; i++)
    call->output[0].dims[i] = x->dims[perm[i]];
  return CM_OK;
}

cm_status cm_kernel_transpose(cm_call *call, cm_error *error)
{
  uint32_t perm[CM_RANK_MAX];
  int64_t strides[CM_RANK_MAX], moved[CM_RANK_MAX];
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(read_perm(call, x->rank, perm, error));
  cm_strides(x->rank, x->dims, strides);
  for (uint32_t i = 0; i < x->rank; i++)
    moved[i] = strides[perm[i]];
  cm_copy_strided(y->data, x->data, cm_type_bytes(y->type), y->rank, y->dims, 0, moved);
  return CM_OK;
}

/* ---- DepthToSpace and SpaceToDepth ---- */

static cm_status block_size(const cm_call *call, int64_t *block, cm_error *error)
{
  *block = cm_node_integer(call->node, "blocksize", 0);
  if (*block < 1 || *block > (1 << 20) || (call->input[0].rank != CM_UNKNOWN_RANK && call->input[0].rank != 4))
    return cm_call_fail(call, error, "needs 4 dimensions and a block size, not %u and %lld", call->input[0].rank,
                        (long long)*block);
  return CM_OK;
}

/* Begins the shape of either: that of the input, whose dimensions are *dims; NULL where they are not known. */
static cm_status begin_blocks(cm_call *call, int64_t *block, int64_t **dims, cm_error *error)
{
  call->output[0] = call->input[0];
  *dims = call->input[0].rank != CM_UNKNOWN_RANK ? call->output[0].dims : NULL;
  return block_size(call, block, error);
}

cm_status cm_shape_depth_to_space(cm_call *call, cm_error *error)
{
  int64_t b, *d;
  CM_TRY(begin_blocks(call, &b, &d, error));
  if (d == NULL)
    return CM_OK;
  if (d[1] >= 0 && d[1] % (b * b) != 0)
    return cm_call_fail(call, error, "%lld channels do not divide by %lld", (long long)d[1], (long long)(b * b));
  d[1] = d[1] < 0 ? d[1] : d[1] / (b * b);
  d[2] = d[2] < 0 ? d[2] : d[2] * b;
  d[3] = d[3] < 0 ? d[3] : d[3] * b;
  return CM_OK;
}

cm_status cm_shape_space_to_depth(cm_call *call, cm_error *error)
{
  int64_t b, *d;
  CM_TRY(begin_blocks(call, &b, &d, error));
  if (d == NULL)
    return CM_OK;
  if ((d[2] >= 0 && d[2] % b != 0) || (d[3] >= 0 && d[3] % b != 0))
    return cm_call_fail(call, error, "%lld x %lld pixels do not divide by %lld", (long long)d[2], (long long)d[3], (long long)b);
  d[1] = d[1] < 0 ? d[1] : d[1] * b * b;
  d[2] = d[2] < 0 ? d[2] : d[2] / b;
  d[3] = d[3] < 0 ? d[3] : d[3] / b;
  return CM_OK;
}

cm_status cm_kernel_depth_to_space(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t b, n = x->dims[0], c = y->dims[1], h = x->dims[2], w = x->dims[3];
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(block_size(call, &b, error));
  bool crd = strcmp(cm_node_text(call->node, "mode", "DCR"), "CRD") == 0;
  int64_t image = h * w, s_c = crd ? b * b * image : image, s_1 = crd ? b * image : b * c * image, s_2 = crd ? image : c * image;
  int64_t dims[6] = {n, c, h, b, w, b}, strides[6] = {x->dims[1] * image, s_c, w, s_1, 1, s_2};
  cm_copy_strided(y->data, x->data, cm_type_bytes(y->type), 6, dims, 0, strides);
  return CM_OK;
}

cm_status cm_kernel_space_to_depth(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t b;
  CM_TRY(cm_call_need_elements(call, error));
  CM_TRY(block_size(call, &b, error));
  int64_t n = x->dims[0], c = x->dims[1], h = y->dims[2], w = y->dims[3], row = x->dims[3], image = x->dims[2] * row;
  int64_t dims[6] = {n, b, b, c, h, w}, strides[6] = {c * image, row, 1, image, b * row, b};
  cm_copy_strided(y->data, x->data, cm_type_bytes(y->type), 6, dims, 0, strides);
  return CM_OK;
}
