/* Products of 8-bit integers with 32-bit sums: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv; and
 * DynamicQuantizeLinear. Sums wrap as 32-bit adders do; what is quantized again is rounded half to even. */
#include <math.h>
#include <string.h>

#include "core/operators/ops/window.h"

/* Zero points or scales of an operand: one, or one for each row, column or channel. Left-out zero points are 0. */
static int32_t zero_at(const cm_call *call, uint32_t input, int64_t k)
{
  if (!cm_has(call, input))
    return 0;
  const cm_tensor *z = call->value[input];
  return (int32_t)cm_tensor_integer(z, z->count > 1 ? (uint64_t)k : 0);
}

static float scale_at(const cm_call *call, uint32_t input, int64_t k)
{
  const cm_tensor *s = call->value[input];
  return ((const float *)s->data)[s->count > 1 ? k : 0];
}

static int32_t element(const cm_tensor *t, int64_t k)
{
  return t->type == CM_INT8 ? ((const int8_t *)t->data)[k] : ((const uint8_t *)t->data)[k];
}

static uint8_t requantize(const cm_tensor *y, int32_t sum, float factor, int32_t zero)
{
  double low = y->type == CM_INT8 ? -128 : 0, high = low + 255;
  double q = nearbyint((double)((float)sum * factor)) + zero;
  return (uint8_t)(int)(isnan(q) ? 0 : q < low ? low : q > high ? high : q);
}

/* Fails unless an input holds one number or `count` (negative: not known). */
static cm_status need_counts(const cm_call *call, uint32_t input, int64_t count, cm_error *error)
{
  uint64_t there;
  if (!cm_has(call, input) || count < 0 || !cm_shape_known(&call->input[input]) ||
      !cm_dims_count(call->input[input].rank, call->input[input].dims, &there))
    return CM_OK;
  return there == 1 || there == (uint64_t)count
           ? CM_OK
           : cm_call_fail(call, error, "input %u should hold one number or %lld", input, (long long)count);
}

/* ---- matrix products ---- */

/* Where a product's operands stand among its inputs. */
typedef struct product_inputs {
  uint32_t a, a_zero, b, b_zero, a_scale, b_scale, y_scale, y_zero; /* scales: CM_NONE where there are none */
} product_inputs;

static const product_inputs plain_inputs = {0, 2, 1, 3, CM_NONE, CM_NONE, CM_NONE, CM_NONE},
                            quantized_inputs = {0, 2, 3, 5, 1, 4, 6, 7};

/* Zero points and scales: one, or one a row of the first operand, one a column of the second. */
static cm_status product_counts(const cm_call *call, const product_inputs *in, cm_error *error)
{
  const cm_shape *a = &call->input[in->a], *b = &call->input[in->b];
  if (a->rank == CM_UNKNOWN_RANK || b->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  int64_t rows = a->rank > 1 ? a->dims[a->rank - 2] : 1, columns = b->rank > 1 ? b->dims[b->rank - 1] : 1;
  const uint32_t inputs[] = {in->a_zero, in->b_zero, in->a_scale, in->b_scale, in->y_scale, in->y_zero};
  const int64_t counts[] = {rows, columns, rows, columns, 1, 1};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    CM_TRY(need_counts(call, inputs[i], counts[i], error));
  return CM_OK;
}

static cm_status product_shape(cm_call *call, const product_inputs *in, cm_type type, cm_error *error)
{
  cm_shape pair[2];
  if (call->input_count <= (in->y_zero == CM_NONE ? in->b : in->y_zero))
    return cm_call_fail(call, error, "needs more inputs");
  pair[0] = call->input[in->a];
  pair[1] = call->input[in->b];
  cm_call two = *call;
  two.input = pair;
  two.input_count = 2;
  CM_TRY(cm_shape_matmul(&two, error));
  call->output[0].type = type;
  return product_counts(call, in, error);
}

cm_status cm_shape_matmul_integer(cm_call *call, cm_error *error)
{
  return product_shape(call, &plain_inputs, CM_INT32, error);
}

cm_status cm_shape_qlinear_matmul(cm_call *call, cm_error *error)
{
  return product_shape(call, &quantized_inputs, call->input_count > 7 ? call->input[7].type : CM_TYPE_NONE, error);
}

/* Elements to skip per batch of an operand; 0 where it is broadcast. */
static void batch_steps(const cm_tensor *t, uint32_t rank, int64_t *steps)
{
  uint32_t own = t->rank > 2 ? t->rank - 2 : 0;
  int64_t step = t->rank > 1 ? t->dims[t->rank - 1] * t->dims[t->rank - 2] : t->dims[0];
  memset(steps, 0, CM_RANK_MAX * sizeof *steps);
  for (uint32_t i = own; i-- > 0; step *= t->dims[i])
    steps[rank - own + i] = t->dims[i] == 1 ? 0 : step;
}

typedef struct product {
  const cm_call *call;
  const product_inputs *in;
  int64_t m, n, k;
  int32_t *row; /* sums of one row */
} product;

static void product_rows(const product *p, int64_t a_from, int64_t b_from, int64_t to)
{
  const cm_call *call = p->call;
  const cm_tensor *a = call->value[p->in->a], *b = call->value[p->in->b];
  cm_tensor *y = call->result[0];
  for (int64_t i = 0; i < p->m; i++) {
    memset(p->row, 0, (size_t)p->n * sizeof *p->row);
    int32_t a_zero = zero_at(call, p->in->a_zero, i);
    for (int64_t k = 0; k < p->k; k++) {
      int32_t x = element(a, a_from + i * p->k + k) - a_zero;
      for (int64_t j = 0; j < p->n; j++) {
        int32_t w = element(b, b_from + k * p->n + j) - zero_at(call, p->in->b_zero, j);
        p->row[j] = (int32_t)((uint32_t)p->row[j] + (uint32_t)(x * w));
      }
    }
    for (int64_t j = 0; j < p->n; j++)
      if (p->in->y_scale == CM_NONE)
        ((int32_t *)y->data)[to + i * p->n + j] = p->row[j];
      else
        ((uint8_t *)y->data)[to + i * p->n + j] = requantize(
          y, p->row[j], scale_at(call, p->in->a_scale, i) * scale_at(call, p->in->b_scale, j) / scale_at(call, p->in->y_scale, 0),
          zero_at(call, p->in->y_zero, 0));
  }
}

static cm_status product_kernel(cm_call *call, const product_inputs *in, cm_error *error)
{
  const cm_tensor *a = call->value[in->a], *b = call->value[in->b];
  cm_tensor *y = call->result[0];
  product p = {.call = call, .in = in, .m = a->rank > 1 ? a->dims[a->rank - 2] : 1, .k = a->dims[a->rank - 1],
               .n = b->rank > 1 ? b->dims[b->rank - 1] : 1};
  uint32_t rank = y->rank - (a->rank > 1) - (b->rank > 1);
  int64_t sa[CM_RANK_MAX], sb[CM_RANK_MAX], index[CM_RANK_MAX] = {0}, to = 0;
  if (y->count == 0)
    return CM_OK;
  CM_TRY(CM_NEW(call->memory, p.row, p.n, error));
  batch_steps(a, rank, sa);
  batch_steps(b, rank, sb);
  do {
    int64_t at = 0, bt = 0;
    for (uint32_t i = 0; i < rank; i++) {
      at += index[i] * sa[i];
      bt += index[i] * sb[i];
    }
    product_rows(&p, at, bt, to);
    to += p.m * p.n;
  } while (cm_next_index(rank, y->dims, index));
  cm_free(p.row);
  return CM_OK;
}

cm_status cm_kernel_matmul_integer(cm_call *call, cm_error *error)
{
  return product_kernel(call, &plain_inputs, error);
}

cm_status cm_kernel_qlinear_matmul(cm_call *call, cm_error *error)
{
  return product_kernel(call, &quantized_inputs, error);
}

/* ---- convolutions ---- */

/* Zero points and scales: one, those of the weights one a filter; the bias of a quantized one likewise. */
static cm_status convolution_counts(const cm_call *call, uint32_t weights, cm_error *error)
{
  const cm_shape *k = &call->input[weights];
  const bool quantized = weights == 3;
  int64_t filters = k->rank != CM_UNKNOWN_RANK ? k->dims[0] : CM_UNKNOWN_DIM;
  CM_TRY(need_counts(call, 2, 1, error));
  CM_TRY(need_counts(call, quantized ? 5 : 3, filters, error));
  if (quantized && (need_counts(call, 1, 1, error) != CM_OK || need_counts(call, 4, filters, error) != CM_OK ||
                    need_counts(call, 6, 1, error) != CM_OK || need_counts(call, 7, 1, error) != CM_OK))
    return error->status;
  return quantized ? cm_call_need_lists(call, 8, 9, filters, error) : CM_OK;
}

/* The call with input and weights in the places that Conv has them in. */
static cm_status convolution_shape(cm_call *call, uint32_t weights, cm_type type, cm_error *error)
{
  cm_shape pair[2] = {call->input[0]};
  if (call->input_count <= weights)
    return cm_call_fail(call, error, "needs weights");
  pair[1] = call->input[weights];
  cm_call two = *call;
  two.input = pair;
  two.input_count = 2;
  CM_TRY(cm_shape_conv(&two, error));
  call->output[0].type = type;
  return convolution_counts(call, weights, error);
}

cm_status cm_shape_conv_integer(cm_call *call, cm_error *error)
{
  return convolution_shape(call, 1, CM_INT32, error);
}

cm_status cm_shape_qlinear_conv(cm_call *call, cm_error *error)
{
  return convolution_shape(call, 3, call->input[7].type, error);
}

typedef struct convolution {
  cm_window w;
  const cm_call *call;
  const cm_tensor *x, *k;
  uint32_t x_zero, k_zero;       /* inputs */
  int64_t channels, filters;     /* of a group */
  int64_t in_size, out_size, cells;
  int32_t *column, *sums;        /* one cell of one channel at all positions; one filter at all positions */
} convolution;

static void read_column(const convolution *c, int64_t plane, const int64_t *cell)
{
  int64_t position[CM_RANK_MAX] = {0};
  int32_t zero = zero_at(c->call, c->x_zero, 0);
  for (int64_t p = 0; p < c->out_size; p++) {
    int64_t at = 0;
    bool inside = true;
    for (uint32_t i = 0; i < c->w.rank; i++) {
      int64_t k = position[i] * c->w.stride[i] - c->w.before[i] + cell[i] * c->w.dilation[i];
      inside = inside && k >= 0 && k < c->w.in[i];
      at = at * c->w.in[i] + k;
    }
    c->column[p] = inside ? element(c->x, plane * c->in_size + at) - zero : 0;
    (void)cm_next_index(c->w.rank, c->w.out, position);
  }
}

/* All filters of one group on one image, into c->sums [filters][positions]. */
static void convolve(const convolution *c, int64_t image, int64_t group)
{
  int64_t groups = c->x->dims[1] / c->channels, first = group * c->filters, cell[CM_RANK_MAX] = {0};
  memset(c->sums, 0, (size_t)(c->filters * c->out_size) * sizeof *c->sums);
  for (int64_t channel = 0; channel < c->channels; channel++)
    for (int64_t k = 0; k < c->cells; k++) {
      read_column(c, (image * groups + group) * c->channels + channel, cell);
      (void)cm_next_index(c->w.rank, c->w.kernel, cell);
      for (int64_t f = 0; f < c->filters; f++) {
        int32_t weight = element(c->k, ((first + f) * c->channels + channel) * c->cells + k) -
                         zero_at(c->call, c->k_zero, first + f);
        int32_t *sum = c->sums + f * c->out_size;
        for (int64_t p = 0; p < c->out_size && weight != 0; p++)
          sum[p] = (int32_t)((uint32_t)sum[p] + (uint32_t)(weight * c->column[p]));
      }
    }
}

static void store_sums(const convolution *c, int64_t image, int64_t group, bool quantized)
{
  const cm_call *call = c->call;
  cm_tensor *y = call->result[0];
  for (int64_t f = 0; f < c->filters; f++) {
    int64_t filter = group * c->filters + f, to = (image * c->k->dims[0] + filter) * c->out_size;
    float factor = quantized ? scale_at(call, 1, 0) * scale_at(call, 4, filter) / scale_at(call, 6, 0) : 0;
    uint32_t bias = quantized && cm_has(call, 8) ? (uint32_t)cm_tensor_integer(call->value[8], (uint64_t)filter) : 0;
    for (int64_t p = 0; p < c->out_size; p++) {
      int32_t sum = (int32_t)((uint32_t)c->sums[f * c->out_size + p] + bias);
      if (quantized)
        ((uint8_t *)y->data)[to + p] = requantize(y, sum, factor, zero_at(call, 7, 0));
      else
        ((int32_t *)y->data)[to + p] = sum;
    }
  }
}

static cm_status convolution_kernel(cm_call *call, uint32_t weights, bool quantized, cm_error *error)
{
  convolution c = {.call = call, .x = call->value[0], .k = call->value[weights],
                   .x_zero = 2, .k_zero = quantized ? 5 : 3};
  int64_t groups = cm_node_integer(call->node, "group", 1), filters = c.k->dims[0];
  CM_TRY(cm_window_read(call, &call->input[0], c.k->dims + 2, false, &c.w, error));
  c.channels = c.k->dims[1];
  c.filters = filters / groups;
  c.in_size = c.out_size = c.cells = 1;
  for (uint32_t i = 0; i < c.w.rank; i++) {
    c.in_size *= c.w.in[i];
    c.out_size *= c.w.out[i];
    c.cells *= c.w.kernel[i];
  }
  if (call->result[0]->count == 0)
    return CM_OK;
  cm_status status = CM_NEW_ALL(call->memory, error, CM_ARRAY(c.column, c.out_size), CM_ARRAY(c.sums, c.filters * c.out_size));
  for (int64_t n = 0; status == CM_OK && n < c.x->dims[0]; n++)
    for (int64_t g = 0; g < groups; g++) {
      convolve(&c, n, g);
      store_sums(&c, n, g, quantized);
    }
  CM_FREE(c.column, c.sums);
  return status;
}

cm_status cm_kernel_conv_integer(cm_call *call, cm_error *error)
{
  return convolution_kernel(call, 1, false, error);
}

cm_status cm_kernel_qlinear_conv(cm_call *call, cm_error *error)
{
  return convolution_kernel(call, 3, true, error);
}

static bool is_eight_bits(cm_type type)
{
  return type == CM_INT8 || type == CM_UINT8 || type == CM_TYPE_NONE;
}

/* Scales are float32, all others have 8 bits but the bias, which has 32. */
cm_status cm_check_qlinear(const cm_call *call, cm_error *error)
{
  for (uint32_t i = 0; i < call->input_count; i++) {
    bool scale = i == 1 || i == 4 || i == 6;
    cm_type type = call->input[i].type;
    if (!cm_has(call, i))
      continue;
    if (scale ? type != CM_FLOAT : i == 8 ? type != CM_INT32 : !is_eight_bits(type))
      return cm_call_bad_type(call, type, error);
  }
  return CM_OK;
}

/* ---- DynamicQuantizeLinear ---- */

cm_status cm_shape_dynamic_quantize(cm_call *call, cm_error *error)
{
  (void)error;
  call->output[0] = call->input[0];
  call->output[0].type = CM_UINT8;
  for (uint32_t o = 1; o < call->output_count; o++)
    call->output[o] = (cm_shape){.type = o == 1 ? CM_FLOAT : CM_UINT8, .rank = 0};
  return CM_OK;
}

cm_status cm_kernel_dynamic_quantize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  float low = 0, high = 0;
  (void)error;
  for (uint64_t i = 0; i < x->count; i++) {
    low = fminf(low, ((const float *)x->data)[i]);
    high = fmaxf(high, ((const float *)x->data)[i]);
  }
  float scale = (high - low) / 255;
  float zero = scale > 0 ? nearbyintf(fminf(fmaxf(-low / scale, 0), 255)) : 0;
  for (uint64_t i = 0; call->result[0] != NULL && i < x->count; i++) {
    float q = scale > 0 ? nearbyintf(((const float *)x->data)[i] / scale) + zero : 0;
    ((uint8_t *)call->result[0]->data)[i] = (uint8_t)fminf(fmaxf(q, 0), 255);
  }
  if (call->output_count > 1 && call->result[1] != NULL)
    *(float *)call->result[1]->data = scale;
  if (call->output_count > 2 && call->result[2] != NULL)
    *(uint8_t *)call->result[2]->data = (uint8_t)zero;
  return CM_OK;
}
