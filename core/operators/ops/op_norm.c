/* Normalizations and pools by norms: LpNormalization, MeanVarianceNormalization, RMSNormalization, LpPool, GlobalLpPool. */
#include <math.h>

#include "core/operators/ops/window.h"

/* ---- LpNormalization ---- */

cm_status cm_shape_lp_norm(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return cm_call_own_axis(call, -1, error);
}

cm_status cm_kernel_lp_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  uint32_t axis;
  int64_t inner = 1, p = cm_node_integer(call->node, "p", 2);
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error));
  for (uint32_t i = axis + 1; i < x->rank; i++)
    inner *= x->dims[i];
  int64_t extent = x->dims[axis];
  for (int64_t r = 0; extent > 0 && r < (int64_t)x->count / extent; r++) {
    uint64_t from = (uint64_t)(r / inner * inner * extent + r % inner);
    double sum = 0;
    for (int64_t i = 0; i < extent; i++)
      sum += pow(fabs(cm_tensor_number(x, from + (uint64_t)(i * inner))), (double)p);
    double norm = pow(sum, 1 / (double)p);
    for (int64_t i = 0; i < extent; i++)
      cm_tensor_put_number(call->result[0], from + (uint64_t)(i * inner),
                           norm == 0 ? 0 : cm_tensor_number(x, from + (uint64_t)(i * inner)) / norm, false);
  }
  return CM_OK;
}

/* ---- MeanVarianceNormalization ---- */

/* Which axes are averaged over. */
static cm_status mean_variance_axes(const cm_call *call, bool reduced[CM_RANK_MAX], cm_error *error)
{
  static const int64_t usual[] = {0, 2, 3};
  const cm_attribute *a = cm_node_attribute(call->node, "axes");
  const int64_t *axes = a != NULL ? a->integers : usual;
  for (size_t i = 0, count = axes != usual ? a->count : 3; i < count; i++) {
    uint32_t axis;
    CM_TRY(cm_call_axis(call, axes[i], call->input[0].rank, &axis, error));
    reduced[axis] = true;
  }
  return CM_OK;
}

cm_status cm_shape_mean_variance(cm_call *call, cm_error *error)
{
  bool reduced[CM_RANK_MAX] = {false};
  call->output[0] = call->input[0];
  return call->input[0].rank == CM_UNKNOWN_RANK ? CM_OK : mean_variance_axes(call, reduced, error);
}

cm_status cm_kernel_mean_variance(cm_call *call, cm_error *error)
{
  static const double epsilon = 1e-9; /* added to the deviation, as the operator's definition has it */
  const cm_tensor *x = call->value[0];
  bool reduced[CM_RANK_MAX] = {false};
  CM_TRY(mean_variance_axes(call, reduced, error));
  int64_t strides[CM_RANK_MAX], kept[CM_RANK_MAX], gone[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  cm_strides(x->rank, x->dims, strides);
  for (uint32_t i = 0; i < x->rank; i++) {
    kept[i] = reduced[i] ? 1 : x->dims[i];
    gone[i] = reduced[i] ? x->dims[i] : 1;
  }
  if (x->count == 0)
    return CM_OK;
  do {
    uint64_t base = 0;
    double sum = 0, squares = 0, number = 0;
    for (uint32_t i = 0; i < x->rank; i++)
      base += (uint64_t)(index[i] * strides[i]);
    for (int pass = 0; pass < 3; pass++) {
      int64_t inner[CM_RANK_MAX] = {0};
      do {
        uint64_t at = base;
        for (uint32_t i = 0; i < x->rank; i++)
          at += (uint64_t)(inner[i] * strides[i]);
        double v = cm_tensor_number(x, at);
        if (pass == 0) {
          sum += v;
          number++;
        } else if (pass == 1)
          squares += (v - sum / number) * (v - sum / number);
        else
          cm_tensor_put_number(call->result[0], at, (v - sum / number) / (sqrt(squares / number) + epsilon), false);
      } while (cm_next_index(x->rank, gone, inner));
    }
  } while (cm_next_index(x->rank, kept, index));
  return CM_OK;
}

/* ---- RMSNormalization ---- */

cm_status cm_shape_rms_norm(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return cm_call_need_scale(call, 1, 2, error);
}

cm_status cm_kernel_rms_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *scale = call->value[1];
  uint32_t axis;
  uint64_t size = 1;
  double epsilon = (double)cm_node_number(call->node, "epsilon", 1e-5F);
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error));
  for (uint32_t i = axis; i < x->rank; i++)
    size *= (uint64_t)x->dims[i];
  for (uint64_t r = 0; size > 0 && r < x->count / size; r++) {
    double squares = 0;
    for (uint64_t i = 0; i < size; i++)
      squares += cm_tensor_number(x, r * size + i) * cm_tensor_number(x, r * size + i);
    double factor = 1 / sqrt(squares / (double)size + epsilon);
    for (uint64_t i = 0; i < size; i++)
      cm_tensor_put_number(call->result[0], r * size + i,
                           cm_tensor_number(x, r * size + i) * factor * cm_tensor_number(scale, i % scale->count), false);
  }
  return CM_OK;
}

/* ---- LpPool, GlobalLpPool ---- */

cm_status cm_shape_lp_pool(cm_call *call, cm_error *error)
{
  cm_window w;
  const cm_shape *x = &call->input[0];
  call->output[0].type = x->type;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_window_read(call, x, NULL, cm_node_integer(call->node, "ceil_mode", 0) != 0, &w, error));
  call->output[0] = *x;
  for (uint32_t i = 0; i < w.rank; i++)
    call->output[0].dims[2 + i] = w.out[i];
  return CM_OK;
}

/* The sum of the p-th powers of what one window covers. */
static double window_powers(const cm_window *w, const cm_tensor *x, uint64_t base, const int64_t *position, double p)
{
  int64_t cell[CM_RANK_MAX] = {0};
  double sum = 0;
  do {
    int64_t at = 0;
    bool inside = true;
    for (uint32_t i = 0; i < w->rank; i++) {
      int64_t k = position[i] * w->stride[i] - w->before[i] + cell[i] * w->dilation[i];
      inside = inside && k >= 0 && k < w->in[i];
      at = at * w->in[i] + k;
    }
    if (inside)
      sum += pow(fabs(cm_tensor_number(x, base + (uint64_t)at)), p);
  } while (cm_next_index(w->rank, w->kernel, cell));
  return sum;
}

cm_status cm_kernel_lp_pool(cm_call *call, cm_error *error)
{
  cm_window w;
  const cm_tensor *x = call->value[0];
  double p = (double)cm_node_integer(call->node, "p", 2);
  uint64_t size = 1, k = 0;
  CM_TRY(cm_window_read(call, &call->input[0], NULL, cm_node_integer(call->node, "ceil_mode", 0) != 0, &w, error));
  for (uint32_t i = 0; i < w.rank; i++)
    size *= (uint64_t)w.in[i];
  for (int64_t plane = 0; call->result[0]->count > 0 && plane < x->dims[0] * x->dims[1]; plane++) {
    int64_t position[CM_RANK_MAX] = {0};
    do
      cm_tensor_put_number(call->result[0], k++, pow(window_powers(&w, x, (uint64_t)plane * size, position, p), 1 / p), false);
    while (cm_next_index(w.rank, w.out, position));
  }
  return CM_OK;
}

cm_status cm_shape_global_lp_pool(cm_call *call, cm_error *error)
{
  return cm_shape_global_pool(call, error);
}

cm_status cm_kernel_global_lp_pool(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  double p = (double)cm_node_integer(call->node, "p", 2);
  uint64_t planes = call->result[0]->count, size = planes > 0 ? x->count / planes : 0;
  (void)error;
  for (uint64_t k = 0; k < planes; k++) {
    double sum = 0;
    for (uint64_t i = 0; i < size; i++)
      sum += pow(fabs(cm_tensor_number(x, k * size + i)), p);
    cm_tensor_put_number(call->result[0], k, pow(sum, 1 / p), false);
  }
  return CM_OK;
}
