/* Conv and ConvTranspose in any number of spatial dimensions, as matrix products over unfolded windows. */
#include <math.h>
#include <string.h>

#include "base/product.h"
#include "core/operators/ops/window.h"
#include "core/operators/ops/sigmoid.h"

enum { TILE = 4096 }; /* output positions unfolded at once */

/* ---- what both have ---- */

/* Type and rank of what a convolution makes, where they are known: input and weights are then known as well. */
static bool begin_shape(cm_call *call)
{
  const cm_shape *x = &call->input[0];
  call->output[0].type = x->type;
  return x->rank != CM_UNKNOWN_RANK && call->input[1].rank != CM_UNKNOWN_RANK;
}

/* The output: images of the input, channels, and an extent for each dimension of the window. */
static void end_shape(cm_call *call, int64_t channels, const int64_t *extents, uint32_t rank)
{
  cm_shape *out = &call->output[0];
  out->rank = call->input[0].rank;
  out->dims[0] = call->input[0].dims[0];
  out->dims[1] = channels;
  memcpy(out->dims + 2, extents, rank * sizeof *extents);
}

/* ---- Conv ---- */

static cm_status conv_window(cm_call *call, cm_window *w, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  if (x->rank != k->rank)
    return cm_call_fail(call, error, "an input of rank %u does not go with weights of rank %u", x->rank, k->rank);
  if (x->rank < 3)
    return cm_call_fail(call, error, "needs an input of at least 3 dimensions, not %u", x->rank);
  return cm_window_read(call, x, k->dims + 2, false, w, error);
}

cm_status cm_shape_conv(cm_call *call, cm_error *error)
{
  cm_window w;
  if (!begin_shape(call))
    return CM_OK;
  CM_TRY(conv_window(call, &w, error));
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  int64_t group = cm_node_integer(call->node, "group", 1);
  if (group < 1 || (k->dims[0] >= 0 && k->dims[0] % group != 0) ||
      (x->dims[1] >= 0 && k->dims[1] >= 0 && (x->dims[1] % group != 0 || x->dims[1] / group != k->dims[1])))
    return cm_call_fail(call, error, "%lld input channels in %lld groups do not go with weights of [%lld, %lld, ...]",
                        (long long)x->dims[1], (long long)group, (long long)k->dims[0], (long long)k->dims[1]);
  end_shape(call, k->dims[0], w.out, w.rank);
  return cm_call_need_lists(call, 2, 3, k->dims[0], error);
}

static int64_t product(const int64_t *numbers, uint32_t count)
{
  int64_t all = 1;
  for (uint32_t i = 0; i < count; i++)
    all *= numbers[i];
  return all;
}

/* Where in one channel the window position `position` and kernel cell `cell` meet, or -1 in the padding. */
static int64_t meets(const cm_window *w, const int64_t *position, const int64_t *cell)
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

static void to_index(uint32_t rank, const int64_t *dims, int64_t number, int64_t *index)
{
  for (uint32_t i = rank; i-- > 0; number /= dims[i])
    index[i] = number % dims[i];
}

/* The meeting places of `count` positions from `first` with every kernel cell: [cells][count]. */
static void find_places(const cm_window *w, int64_t first, int64_t count, int64_t cells, int32_t *places)
{
  int64_t cell[CM_RANK_MAX] = {0}, position[CM_RANK_MAX];
  for (int64_t k = 0; k < cells; k++) {
    to_index(w->rank, w->out, first, position);
    for (int64_t p = 0; p < count; p++) {
      places[k * count + p] = (int32_t)meets(w, position, cell);
      (void)cm_next_index(w->rank, w->out, position);
    }
    (void)cm_next_index(w->rank, w->kernel, cell);
  }
}

typedef struct convolution {
  const cm_window *w;
  int64_t channels, filters; /* of one group */
  int64_t in_size, out_size, cells;
  int32_t *places;
  float *columns, *tile;
} convolution;

static void unfold(const convolution *c, const float *x, int64_t count)
{
  for (int64_t channel = 0; channel < c->channels; channel++)
    for (int64_t k = 0; k < c->cells; k++) {
      const float *from = x + channel * c->in_size;
      const int32_t *place = c->places + k * count;
      float *to = c->columns + (channel * c->cells + k) * count;
      for (int64_t p = 0; p < count; p++)
        to[p] = place[p] >= 0 ? from[place[p]] : 0;
    }
}

/* One group of one image, positions [first, first + count). */
static void convolve(const convolution *c, const float *x, const float *weights, const float *bias, int64_t first,
                     int64_t count, float *y)
{
  int64_t depth = c->channels * c->cells;
  unfold(c, x, count);
  cm_ordered_product((cm_product){.m = c->filters, .n = count, .k = depth}, weights, c->columns, c->tile);
  for (int64_t f = 0; f < c->filters; f++) {
    float add = bias != NULL ? bias[f] : 0;
    for (int64_t p = 0; p < count; p++)
      y[f * c->out_size + first + p] = c->tile[f * count + p] + add;
  }
}

cm_status cm_kernel_conv(cm_call *call, cm_error *error)
{
  cm_window w;
  const cm_tensor *x = call->value[0], *k = call->value[1], *b = cm_has(call, 2) ? call->value[2] : NULL;
  int64_t group = cm_node_integer(call->node, "group", 1), images = x->dims[0];
  if (x->type != CM_FLOAT || k->type != CM_FLOAT)
    return cm_call_bad_type(call, x->type != CM_FLOAT ? x->type : k->type, error);
  CM_TRY(conv_window(call, &w, error));
  convolution c = {.w = &w,
                   .channels = k->dims[1],
                   .filters = k->dims[0] / group,
                   .in_size = product(w.in, w.rank),
                   .out_size = product(w.out, w.rank),
                   .cells = product(w.kernel, w.rank)};
  if (call->result[0]->count == 0)
    return CM_OK;
  if (c.in_size > INT32_MAX || c.cells > (1 << 20))
    return cm_call_fail(call, error, "images of %lld pixels are too large to compute", (long long)c.in_size);
  int64_t tile = c.out_size < TILE ? c.out_size : TILE;
  cm_status status = CM_NEW_ALL(call->memory, error, CM_ARRAY(c.places, c.cells * tile),
                                CM_ARRAY(c.columns, c.channels * c.cells * tile), CM_ARRAY(c.tile, c.filters * tile));
  for (int64_t first = 0; status == CM_OK && first < c.out_size; first += tile) {
    int64_t count = c.out_size - first < tile ? c.out_size - first : tile;
    find_places(&w, first, count, c.cells, c.places);
    for (int64_t n = 0; n < images; n++)
      for (int64_t g = 0; g < group; g++)
        convolve(&c, (const float *)x->data + (n * group + g) * c.channels * c.in_size,
                 (const float *)k->data + g * c.filters * c.channels * c.cells,
                 b != NULL ? (const float *)b->data + g * c.filters : NULL, first, count,
                 (float *)call->result[0]->data + (n * group + g) * c.filters * c.out_size);
  }
  CM_FREE(c.places, c.columns, c.tile);
  return status;
}

/* ---- FusedConv: ONNX Runtime's Conv with an addend and an activation ---- */

cm_status cm_shape_fused_conv(cm_call *call, cm_error *error)
{
  const cm_shape *y = &call->output[0], *z = &call->input[3];
  CM_TRY(cm_shape_conv(call, error));
  if (cm_has(call, 3) && cm_shape_known(z) && cm_shape_known(y) &&
      (z->rank != y->rank || memcmp(z->dims, y->dims, y->rank * sizeof *y->dims) != 0))
    return cm_call_fail(call, error, "its addend has another shape");
  return CM_OK;
}

/* Parameters are those of the operator that was fused: alpha, beta, or min and max. */
static float activate(const char *name, const float *p, float x)
{
  if (strcmp(name, "Relu") == 0)
    return x > 0 ? x : 0;
  if (strcmp(name, "LeakyRelu") == 0)
    return x < 0 ? p[0] * x : x;
  if (strcmp(name, "Clip") == 0)
    return fminf(fmaxf(x, p[0]), p[1]);
  if (strcmp(name, "HardSigmoid") == 0)
    return fminf(fmaxf(p[0] * x + p[1], 0), 1);
  return strcmp(name, "Tanh") == 0 ? tanhf(x) : sigmoid(x);
}

cm_status cm_check_fused_conv(const cm_call *call, cm_error *error)
{
  static const char *const known[] = {"", "Relu", "LeakyRelu", "Clip", "HardSigmoid", "Tanh", "Sigmoid"};
  static const size_t needed[] = {0, 0, 1, 2, 2, 0, 0};
  const char *name = cm_node_text(call->node, "activation", "");
  const cm_attribute *p = cm_node_attribute(call->node, "activation_params");
  size_t kind = 0;
  while (kind < sizeof known / sizeof *known && strcmp(known[kind], name) != 0)
    kind++;
  if (kind == sizeof known / sizeof *known || (needed[kind] > 0 && (p == NULL || p->count < needed[kind])))
    return cm_call_fail(call, error, "has an activation '%.40s' that is not computed", name);
  return CM_OK;
}

cm_status cm_kernel_fused_conv(cm_call *call, cm_error *error)
{
  const char *name = cm_node_text(call->node, "activation", "");
  const cm_attribute *p = cm_node_attribute(call->node, "activation_params");
  CM_TRY(cm_kernel_conv(call, error));
  cm_tensor *y = call->result[0];
  if (cm_has(call, 3)) {
    const cm_tensor *z = call->value[3];
    for (uint64_t i = 0; i < y->count; i++)
      ((float *)y->data)[i] += ((const float *)z->data)[i];
  }
  for (uint64_t i = 0; i < y->count && name[0] != '\0'; i++)
    ((float *)y->data)[i] = activate(name, p != NULL ? p->numbers : NULL, ((float *)y->data)[i]);
  return CM_OK;
}

/* ---- ConvTranspose: the same window seen from the other side; w.in is its output, w.out its input ---- */

cm_status cm_window_transposed(const cm_call *call, cm_window *w, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  const cm_attribute *shape = cm_node_attribute(call->node, "output_shape"),
                     *extra = cm_node_attribute(call->node, "output_padding");
  const char *automatic = cm_node_text(call->node, "auto_pad", "NOTSET");
  if (x->rank != k->rank || x->rank < 3)
    return cm_call_fail(call, error, "an input of rank %u does not go with weights of rank %u", x->rank, k->rank);
  uint32_t rank = x->rank - 2;
  CM_TRY(cm_window_attributes(call, rank, w, error));
  if ((extra != NULL && extra->count != rank) || (shape != NULL && shape->count != rank && shape->count != x->rank))
    return cm_call_fail(call, error, "output_shape and output_padding should hold %u numbers", rank);
  for (uint32_t i = 0; i < rank; i++) {
    w->kernel[i] = k->dims[i + 2];
    w->out[i] = x->dims[i + 2];
    if (w->kernel[i] < 0 || w->out[i] < 0) {
      w->in[i] = CM_UNKNOWN_DIM;
      continue;
    }
    int64_t add = extra != NULL ? extra->integers[i] : 0,
            full = w->stride[i] * (w->out[i] - 1) + add + (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (shape != NULL || strncmp(automatic, "SAME", 4) == 0) {
      w->in[i] = shape != NULL ? shape->integers[shape->count - rank + i] : w->out[i] * w->stride[i];
      /* An odd row goes at the start but for SAME_UPPER (opset 11); an output larger than what is reached goes on at the
       * end, as in ONNX Runtime. */
      int64_t total = full > w->in[i] ? full - w->in[i] : 0;
      w->before[i] = strcmp(automatic, "SAME_UPPER") == 0 ? total / 2 : total - total / 2;
      w->after[i] = full - w->in[i] - w->before[i];
    } else
      w->in[i] = full - w->before[i] - w->after[i];
    if (w->in[i] < 0 || w->in[i] > (1 << 24))
      return cm_call_fail(call, error, "its output would have an extent of %lld", (long long)w->in[i]);
  }
  return CM_OK;
}

cm_status cm_shape_conv_transpose(cm_call *call, cm_error *error)
{
  cm_window w;
  if (!begin_shape(call))
    return CM_OK;
  CM_TRY(cm_window_transposed(call, &w, error));
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  int64_t group = cm_node_integer(call->node, "group", 1);
  if (group < 1 || (x->dims[1] >= 0 && k->dims[0] >= 0 && (x->dims[1] != k->dims[0] || x->dims[1] % group != 0)))
    return cm_call_fail(call, error, "%lld input channels in %lld groups do not go with weights for %lld",
                        (long long)x->dims[1], (long long)group, (long long)k->dims[0]);
  end_shape(call, k->dims[1] < 0 ? CM_UNKNOWN_DIM : k->dims[1] * group, w.in, w.rank);
  return cm_call_need_lists(call, 2, 3, call->output[0].dims[1], error);
}

cm_status cm_kernel_conv_transpose(cm_call *call, cm_error *error)
{
  cm_window w;
  const cm_tensor *x = call->value[0], *k = call->value[1], *b = cm_has(call, 2) ? call->value[2] : NULL;
  cm_tensor *out = call->result[0];
  int64_t group = cm_node_integer(call->node, "group", 1);
  if (x->type != CM_FLOAT || k->type != CM_FLOAT)
    return cm_call_bad_type(call, x->type != CM_FLOAT ? x->type : k->type, error);
  CM_TRY(cm_window_transposed(call, &w, error));
  int64_t cells = product(w.kernel, w.rank), in_size = product(w.out, w.rank), out_size = product(w.in, w.rank),
          channels = x->dims[1] / group, filters = k->dims[1];
  float *y = out->data;
  for (int64_t i = 0; b != NULL && i < (int64_t)out->count; i++)
    y[i] = ((const float *)b->data)[i / out_size % out->dims[1]];
  int64_t position[CM_RANK_MAX] = {0};
  for (int64_t p = 0; p < in_size; p++) {
    int64_t cell[CM_RANK_MAX] = {0};
    for (int64_t c = 0; c < cells; c++) {
      int64_t at = meets(&w, position, cell);
      for (int64_t ng = 0; at >= 0 && ng < x->dims[0] * group; ng++)
        for (int64_t i = 0; i < channels; i++) {
          float value = ((const float *)x->data)[(ng * channels + i) * in_size + p];
          const float *from = (const float *)k->data + ((ng % group * channels + i) * filters) * cells + c;
          for (int64_t f = 0; f < filters; f++)
            y[(ng * filters + f) * out_size + at] += value * from[f * cells];
        }
      (void)cm_next_index(w.rank, w.kernel, cell);
    }
    (void)cm_next_index(w.rank, w.out, position);
  }
  return CM_OK;
}
