/* Reductions over axes: sums, means, extremes, norms, ArgMax and ArgMin. Floating sums are taken in double. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

/* Which axes are reduced; *known false: not known yet. */
static cm_status read_axes(const cm_call *call, uint32_t rank, bool *reduced, bool *known, cm_error *error)
{
  int64_t axes[CM_RANK_MAX];
  size_t count;
  memset(reduced, 0, CM_RANK_MAX * sizeof *reduced);
  CM_TRY(cm_call_integers(call, "axes", 1, axes, CM_RANK_MAX, &count, known, error));
  bool all = *known && count == 0 && cm_node_integer(call->node, "noop_with_empty_axes", 0) == 0;
  for (uint32_t i = 0; i < rank; i++)
    reduced[i] = all;
  for (size_t i = 0; *known && i < count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes[i], rank, &axis, error));
    reduced[axis] = true;
  }
  return CM_OK;
}

static void reduced_shape(const cm_call *call, const bool *reduced, cm_shape *out)
{
  const cm_shape *x = &call->input[0];
  bool keep = cm_node_integer(call->node, "keepdims", 1) != 0;
  out->rank = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!reduced[i])
      out->dims[out->rank++] = x->dims[i];
    else if (keep)
      out->dims[out->rank++] = 1;
}

cm_status cm_shape_reduce(cm_call *call, cm_error *error)
{
  bool reduced[CM_RANK_MAX], known;
  call->output[0].type = call->input[0].type;
  if (call->input[0].rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_axes(call, call->input[0].rank, reduced, &known, error));
  if (known)
    reduced_shape(call, reduced, &call->output[0]);
  return CM_OK;
}

cm_status cm_shape_arg_reduce(cm_call *call, cm_error *error)
{
  bool reduced[CM_RANK_MAX] = {false};
  uint32_t axis;
  call->output[0].type = CM_INT64;
  if (call->input[0].rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), call->input[0].rank, &axis, error));
  if (call->input[0].dims[axis] == 0)
    return cm_call_fail(call, error, "has nothing to choose from: axis %u has no elements", axis);
  reduced[axis] = true;
  reduced_shape(call, reduced, &call->output[0]);
  return CM_OK;
}

/* Dims and strides of the kept and of the reduced axes of a tensor. */
typedef struct parts {
  uint32_t kept, gone;
  int64_t kept_dims[CM_RANK_MAX], kept_strides[CM_RANK_MAX], gone_dims[CM_RANK_MAX], gone_strides[CM_RANK_MAX];
} parts;

static parts divide(const cm_tensor *x, const bool *reduced)
{
  parts p = {0};
  int64_t strides[CM_RANK_MAX];
  cm_strides(x->rank, x->dims, strides);
  for (uint32_t i = 0; i < x->rank; i++)
    if (reduced[i]) {
      p.gone_dims[p.gone] = x->dims[i];
      p.gone_strides[p.gone++] = strides[i];
    } else {
      p.kept_dims[p.kept] = x->dims[i];
      p.kept_strides[p.kept++] = strides[i];
    }
  return p;
}

static uint64_t offset_of(uint32_t rank, const int64_t *index, const int64_t *strides)
{
  int64_t at = 0;
  for (uint32_t i = 0; i < rank; i++)
    at += index[i] * strides[i];
  return (uint64_t)at;
}

enum {
  SUM = CM_VARIANT_SUM, MEAN = CM_VARIANT_MEAN, MAX = CM_VARIANT_MAX, MIN = CM_VARIANT_MIN, PROD = CM_VARIANT_PRODUCT,
  L1 = CM_VARIANT_L1, L2 = CM_VARIANT_L2, SQUARES = CM_VARIANT_SUM_SQUARE, LOG_SUM = CM_VARIANT_LOG_SUM,
  LOG_SUM_EXP = CM_VARIANT_LOG_SUM_EXP
};

static double reduce_float(int kind, const cm_tensor *x, const parts *p, uint64_t base)
{
  int64_t index[CM_RANK_MAX] = {0};
  double sum = kind == PROD ? 1 : kind == MAX ? -INFINITY : kind == MIN ? INFINITY : 0, largest = -INFINITY;
  uint64_t count = 0;
  for (uint32_t i = 0; i < p->gone; i++)
    if (p->gone_dims[i] == 0)
      return kind == LOG_SUM || kind == LOG_SUM_EXP ? -INFINITY : kind == MEAN ? NAN : sum;
  if (kind == LOG_SUM_EXP) {
    do
      largest = fmax(largest, cm_tensor_number(x, base + offset_of(p->gone, index, p->gone_strides)));
    while (cm_next_index(p->gone, p->gone_dims, index));
    memset(index, 0, sizeof index);
  }
  do {
    double v = cm_tensor_number(x, base + offset_of(p->gone, index, p->gone_strides));
    count++;
    switch (kind) {
    case MAX:
      sum = v > sum || isnan(v) ? v : sum;
      break;
    case MIN:
      sum = v < sum || isnan(v) ? v : sum;
      break;
    case PROD:
      sum *= v;
      break;
    case L1:
      sum += fabs(v);
      break;
    case L2:
    case SQUARES:
      sum += v * v;
      break;
    case LOG_SUM_EXP:
      sum += isinf(largest) ? 0 : exp(v - largest);
      break;
    default:
      sum += v;
    }
  } while (cm_next_index(p->gone, p->gone_dims, index));
  return kind == MEAN        ? sum / (double)count
         : kind == L2        ? sqrt(sum)
         : kind == LOG_SUM   ? log(sum)
         : kind == LOG_SUM_EXP ? largest + (isinf(largest) ? 0 : log(sum))
                             : sum;
}

static int64_t reduce_integer(int kind, const cm_tensor *x, const parts *p, uint64_t base)
{
  int64_t index[CM_RANK_MAX] = {0}, count = 0;
  uint64_t sum = kind == PROD ? 1 : kind == MAX ? (uint64_t)INT64_MIN : kind == MIN ? (uint64_t)INT64_MAX : 0;
  for (uint32_t i = 0; i < p->gone; i++)
    if (p->gone_dims[i] == 0)
      return (int64_t)sum;
  do {
    int64_t v = cm_tensor_integer(x, base + offset_of(p->gone, index, p->gone_strides));
    count++;
    if (kind == MAX)
      sum = v > (int64_t)sum ? (uint64_t)v : sum;
    else if (kind == MIN)
      sum = v < (int64_t)sum ? (uint64_t)v : sum;
    else if (kind == PROD)
      sum *= (uint64_t)v;
    else
      sum += kind == L1 && v < 0 ? 0 - (uint64_t)v : kind == SQUARES ? (uint64_t)v * (uint64_t)v : (uint64_t)v;
  } while (cm_next_index(p->gone, p->gone_dims, index));
  return kind == MEAN ? (int64_t)sum / count : (int64_t)sum;
}

cm_status cm_kernel_reduce(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  bool reduced[CM_RANK_MAX], known;
  const int kind = (int)call->node->known->variant;
  CM_TRY(read_axes(call, x->rank, reduced, &known, error));
  parts p = divide(x, reduced);
  int64_t index[CM_RANK_MAX] = {0};
  for (uint64_t k = 0; k < y->count; k++) {
    uint64_t base = offset_of(p.kept, index, p.kept_strides);
    switch ((int)x->type) {
    case CM_FLOAT:
      ((float *)y->data)[k] = (float)reduce_float(kind, x, &p, base);
      break;
    case CM_DOUBLE:
      ((double *)y->data)[k] = reduce_float(kind, x, &p, base);
      break;
    default: {
      /* Means and norms of whole numbers are taken in double and truncated, sums in 64 bits. */
      bool exact = kind == SUM || kind == MAX || kind == MIN || kind == PROD || kind == L1 || kind == SQUARES;
      if (exact && x->type != CM_UINT64)
        cm_tensor_put_integer(y, k, reduce_integer(kind, x, &p, base));
      else
        cm_tensor_put_number(y, k, reduce_float(kind, x, &p, base), false);
    }
    }
    (void)cm_next_index(p.kept, p.kept_dims, index);
  }
  return CM_OK;
}

cm_status cm_kernel_arg_reduce(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  bool reduced[CM_RANK_MAX] = {false}, smallest = call->node->known->variant == CM_VARIANT_MIN,
       last = cm_node_integer(call->node, "select_last_index", 0) != 0;
  uint32_t axis;
  if (cm_type_bits(x->type) == 0)
    return cm_call_bad_type(call, x->type, error);
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  reduced[axis] = true;
  parts p = divide(x, reduced);
  int64_t index[CM_RANK_MAX] = {0};
  for (uint64_t k = 0; k < y->count; k++) {
    uint64_t base = offset_of(p.kept, index, p.kept_strides);
    double best = cm_tensor_number(x, base);
    int64_t place = 0;
    for (int64_t i = 1; i < x->dims[axis]; i++) {
      double v = cm_tensor_number(x, base + (uint64_t)(i * p.gone_strides[0]));
      if ((smallest ? v < best : v > best) || (last && v == best)) {
        best = v;
        place = i;
      }
    }
    ((int64_t *)y->data)[k] = place;
    (void)cm_next_index(p.kept, p.kept_dims, index);
  }
  return CM_OK;
}
