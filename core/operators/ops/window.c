/* Window arithmetic (ONNX operator specification: Conv, MaxPool, AveragePool). */
#include "core/operators/ops/window.h"

#include <string.h>

enum { WINDOW_MAX = 1 << 24 }; /* a kernel, stride, dilation or pad beyond this makes no sense */

/* Numbers from 1 on, 1 each where there are none; of pads any, else 0. */
static cm_status read_list(const cm_call *call, const char *name, size_t count, int64_t *list, cm_error *error)
{
  const cm_attribute *a = cm_node_attribute(call->node, name);
  const bool pads = strcmp(name, "pads") == 0;
  for (size_t i = 0; i < count; i++)
    list[i] = !pads;
  if (a == NULL || a->count == 0)
    return CM_OK;
  if (a->count != count)
    return cm_call_fail(call, error, "%s should hold %zu numbers", name, count);
  for (size_t i = 0; i < count; i++) {
    if (a->integers[i] < (pads ? -WINDOW_MAX : 1) || a->integers[i] > WINDOW_MAX)
      return cm_call_fail(call, error, "%s holds %lld, which makes no sense", name, (long long)a->integers[i]);
    list[i] = a->integers[i];
  }
  return CM_OK;
}

cm_status cm_window_attributes(const cm_call *call, uint32_t rank, cm_window *w, cm_error *error)
{
  int64_t pads[2 * CM_RANK_MAX];
  w->rank = rank;
  CM_TRY(read_list(call, "strides", rank, w->stride, error));
  CM_TRY(read_list(call, "dilations", rank, w->dilation, error));
  CM_TRY(read_list(call, "pads", (size_t)2 * rank, pads, error));
  memcpy(w->before, pads, rank * sizeof *pads);
  memcpy(w->after, pads + rank, rank * sizeof *pads);
  return CM_OK;
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

cm_status cm_window_read(const cm_call *call, const cm_shape *input, const int64_t *kernel, bool ceil_mode,
                         cm_window *w, cm_error *error)
{
  if (input->rank < 3)
    return cm_call_fail(call, error, "needs an input of at least 3 dimensions, not %u", input->rank);
  uint32_t rank = input->rank - 2;
  const char *automatic = cm_node_text(call->node, "auto_pad", "NOTSET");
  CM_TRY(cm_window_attributes(call, rank, w, error));
  if (kernel != NULL)
    memcpy(w->kernel, kernel, rank * sizeof *kernel);
  else if (cm_node_attribute(call->node, "kernel_shape") == NULL)
    return cm_call_fail(call, error, "has no kernel_shape");
  else if (read_list(call, "kernel_shape", rank, w->kernel, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t in = w->in[i] = input->dims[i + 2], span = (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (strcmp(automatic, "VALID") == 0)
      w->before[i] = w->after[i] = 0;
    if (in < 0 || w->kernel[i] < 0) {
      w->out[i] = CM_UNKNOWN_DIM;
      continue;
    }
    if (strncmp(automatic, "SAME", 4) == 0) {
      w->out[i] = ceil_divide(in, w->stride[i]);
      int64_t total = (w->out[i] - 1) * w->stride[i] + span - in;
      total = total < 0 ? 0 : total;
      w->before[i] = strcmp(automatic, "SAME_LOWER") == 0 ? (total + 1) / 2 : total / 2;
      w->after[i] = total - w->before[i];
      continue;
    }
    int64_t room = in + w->before[i] + w->after[i] - span;
    if (room < 0 && (!ceil_mode || room <= -w->stride[i])) /* rounded up, a window that fits in part is one */
      return cm_call_fail(call, error, "a window of %lld does not fit into %lld with padding", (long long)span,
                          (long long)(in + w->before[i] + w->after[i]));
    w->out[i] = (ceil_mode ? ceil_divide(room, w->stride[i]) : room / w->stride[i]) + 1;
    /* A window that would begin in the padding after the end does not count. */
    if (ceil_mode && (w->out[i] - 1) * w->stride[i] >= in + w->before[i])
      w->out[i]--;
  }
  return CM_OK;
}

int64_t cm_window_meets(const cm_window *w, const int64_t *position, const int64_t *cell)
{
  int64_t at = 0;
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t x = position[i] * w->stride[i] - w->before[i] + cell[i] * w->dilation[i];
    if (x < 0 || x >= w->in[i])
      return -1;
    at = at * w->in[i] + x;
  }
  return at;
}
