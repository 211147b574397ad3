/* Normalizations: BatchNormalization, InstanceNormalization, LayerNormalization, GroupNormalization, LRN, Softmax. Sums
 * are taken in double. */
#include <math.h>

#include "core/operators/operator.h"

static cm_status need_float(const cm_call *call, uint32_t inputs, cm_error *error)
{
  for (uint32_t i = 0; i < inputs; i++) {
    if (!cm_has(call, i))
      return cm_call_fail(call, error, "input %u is missing", i);
    if (call->value[i]->type != CM_FLOAT)
      return cm_call_bad_type(call, call->value[i]->type, error);
  }
  return CM_OK;
}

/* ---- BatchNormalization ---- */

cm_status cm_shape_batch_norm(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  call->output[0] = call->input[0];
  for (uint32_t o = 1; o < call->output_count && o < call->input_count; o++)
    call->output[o] = call->input[o < 3 ? 2 + o : o];
  return cm_call_need_lists(call, 1, 5, x->rank == CM_UNKNOWN_RANK ? CM_UNKNOWN_DIM : x->rank > 1 ? x->dims[1] : 1, error);
}

cm_status cm_check_batch_norm(const cm_call *call, cm_error *error)
{
  return cm_node_integer(call->node, "training_mode", 0) != 0
             ? cm_call_fail(call, error, "is in training mode: export the model for inference")
             : CM_OK;
}

cm_status cm_kernel_batch_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  int64_t channels = x->rank > 1 ? x->dims[1] : 1;
  CM_TRY(need_float(call, 5, error));
  const float *scale = call->value[1]->data, *bias = call->value[2]->data, *mean = call->value[3]->data,
              *variance = call->value[4]->data;
  double epsilon = (double)cm_node_number(call->node, "epsilon", 1e-5F);
  const uint64_t size = (uint64_t)cm_dims_product(x->dims, 2, x->rank);
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t c = i / size % (uint64_t)channels;
    double factor = (double)scale[c] / sqrt((double)variance[c] + epsilon);
    ((float *)call->result[0]->data)[i] =
        (float)(((double)((const float *)x->data)[i] - (double)mean[c]) * factor + (double)bias[c]);
  }
  return CM_OK;
}

/* ---- one mean and variance for each row of a matrix ---- */

typedef struct row_norm {
  double mean, deviation; /* 1 / sqrt(variance + epsilon) */
} row_norm;

static row_norm measure(const float *x, uint64_t size, double epsilon)
{
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < size; i++)
    sum += (double)x[i];
  double mean = sum / (double)size;
  for (uint64_t i = 0; i < size; i++)
    squares += ((double)x[i] - mean) * ((double)x[i] - mean);
  return (row_norm){.mean = mean, .deviation = 1 / sqrt(squares / (double)size + epsilon)};
}

cm_status cm_shape_instance_norm(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  call->output[0] = call->input[0];
  if (x->rank < 3)
    return cm_call_fail(call, error, "needs at least 3 dimensions");
  return cm_call_need_lists(call, 1, 3, x->rank == CM_UNKNOWN_RANK ? CM_UNKNOWN_DIM : x->dims[1], error);
}

cm_status cm_kernel_instance_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  CM_TRY(need_float(call, 3, error));
  uint64_t planes = (uint64_t)(x->dims[0] * x->dims[1]), size = planes > 0 ? x->count / planes : 0;
  const float *scale = call->value[1]->data, *bias = call->value[2]->data;
  for (uint64_t p = 0; p < planes; p++) {
    const float *from = (const float *)x->data + p * size;
    float *to = (float *)call->result[0]->data + p * size;
    uint64_t c = p % (uint64_t)x->dims[1];
    row_norm n = measure(from, size, (double)cm_node_number(call->node, "epsilon", 1e-5F));
    for (uint64_t i = 0; i < size; i++)
      to[i] = (float)(((double)from[i] - n.mean) * n.deviation * (double)scale[c] + (double)bias[c]);
  }
  return CM_OK;
}

cm_status cm_shape_group_norm(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  int64_t groups = cm_node_integer(call->node, "num_groups", 1);
  call->output[0] = call->input[0];
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank < 3 || groups < 1 || (x->dims[1] >= 0 && x->dims[1] % groups != 0))
    return cm_call_fail(call, error, "cannot make %lld groups of its channels", (long long)groups);
  return cm_call_need_lists(call, 1, 3, call->opset < 21 ? groups : x->dims[1], error);
}

/* Scale and bias are one number a group in opset 18, one a channel since 21. */
cm_status cm_kernel_group_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  int64_t groups = cm_node_integer(call->node, "num_groups", 1);
  CM_TRY(need_float(call, 3, error));
  uint64_t rows = (uint64_t)(x->dims[0] * groups), size = rows > 0 ? x->count / rows : 0,
           plane = size / (uint64_t)(x->dims[1] / groups);
  for (uint64_t r = 0; r < rows; r++) {
    const float *from = (const float *)x->data + r * size;
    row_norm n = measure(from, size, (double)cm_node_number(call->node, "epsilon", 1e-5F));
    for (uint64_t i = 0; i < size; i++) {
      uint64_t group = r % (uint64_t)groups, c = group * (uint64_t)(x->dims[1] / groups) + i / plane,
               entry = call->opset < 21 ? group : c;
      ((float *)call->result[0]->data)[r * size + i] =
          (float)(((double)from[i] - n.mean) * n.deviation * (double)((const float *)call->value[1]->data)[entry] +
                  (double)((const float *)call->value[2]->data)[entry]);
    }
  }
  return CM_OK;
}

/* ---- LayerNormalization ---- */

cm_status cm_shape_layer_norm(cm_call *call, cm_error *error)
{
  uint32_t axis;
  call->output[0] = call->input[0];
  if (call->input[0].rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), call->input[0].rank, &axis, error));
  for (uint32_t o = 1; o < call->output_count; o++) {
    call->output[o] = call->input[0];
    call->output[o].type = CM_FLOAT;
    for (uint32_t i = axis; i < call->input[0].rank; i++)
      call->output[o].dims[i] = 1;
  }
  return cm_call_need_scale(call, 1, 3, error);
}

cm_status cm_kernel_layer_norm(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_lines l;
  CM_TRY(need_float(call, 2, error));
  CM_TRY(cm_call_lines(call, x, cm_node_integer(call->node, "axis", -1), &l, error));
  const uint64_t size = (uint64_t)(l.extent * l.inner);
  const cm_tensor *scale = call->value[1], *bias = cm_has(call, 2) ? call->value[2] : NULL;
  for (uint64_t r = 0; size > 0 && r < x->count / size; r++) {
    const float *from = (const float *)x->data + r * size;
    row_norm n = measure(from, size, (double)cm_node_number(call->node, "epsilon", 1e-5F));
    for (uint64_t i = 0; i < size; i++) {
      double value = ((double)from[i] - n.mean) * n.deviation * (double)((const float *)scale->data)[i % scale->count];
      if (bias != NULL)
        value += (double)((const float *)bias->data)[i % bias->count];
      ((float *)call->result[0]->data)[r * size + i] = (float)value;
    }
    if (call->output_count > 1 && call->result[1] != NULL)
      ((float *)call->result[1]->data)[r] = (float)n.mean;
    if (call->output_count > 2 && call->result[2] != NULL)
      ((float *)call->result[2]->data)[r] = (float)n.deviation;
  }
  return CM_OK;
}

/* ---- LRN ---- */

cm_status cm_shape_lrn(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return call->input[0].rank < 2 || cm_node_integer(call->node, "size", 1) < 1
           ? cm_call_fail(call, error, "needs at least 2 dimensions and a size")
           : CM_OK;
}

cm_status cm_kernel_lrn(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  int64_t size = cm_node_integer(call->node, "size", 1);
  CM_TRY(need_float(call, 1, error));
  double alpha = (double)cm_node_number(call->node, "alpha", 1e-4F),
         beta = (double)cm_node_number(call->node, "beta", 0.75F), bias = (double)cm_node_number(call->node, "bias", 1);
  int64_t channels = x->dims[1], plane = cm_dims_product(x->dims, 2, x->rank), before = (size - 1) / 2, after = size - 1 - before;
  const float *in = x->data;
  for (int64_t k = 0; k < (int64_t)x->count; k++) {
    int64_t c = k / plane % channels;
    double squares = 0;
    for (int64_t d = c - before < 0 ? -c : -before; d <= after && c + d < channels; d++)
      squares += (double)in[k + d * plane] * (double)in[k + d * plane];
    ((float *)call->result[0]->data)[k] = (float)((double)in[k] / pow(bias + alpha / (double)size * squares, beta));
  }
  return CM_OK;
}

/* ---- Softmax and LogSoftmax ---- */

cm_status cm_shape_softmax(cm_call *call, cm_error *error)
{
  call->output[0] = call->input[0];
  return cm_call_own_axis(call, call->opset < 13 ? 1 : -1, error);
}

cm_status cm_kernel_softmax(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_lines l;
  CM_TRY(need_float(call, 1, error));
  CM_TRY(cm_call_soft_lines(call, x, &l, error));
  const int64_t inner = l.inner, size = l.extent;
  bool logarithm = call->node->known->variant == CM_VARIANT_LOG;
  const float *in = x->data;
  float *out = call->result[0]->data;
  for (int64_t r = 0; x->count > 0 && r < l.outer * inner; r++) {
    int64_t at = cm_line_start(&l, r);
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < size; i++)
      largest = fmax(largest, (double)in[at + i * inner]);
    for (int64_t i = 0; i < size; i++)
      sum += exp((double)in[at + i * inner] - largest);
    for (int64_t i = 0; i < size; i++) {
      double d = (double)in[at + i * inner] - largest;
      out[at + i * inner] = (float)(logarithm ? d - log(sum) : exp(d) / sum);
    }
  }
  return CM_OK;
}
