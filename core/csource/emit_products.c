/* Conv and its quantized kin, MatMul and its, Gemm. */
#include <inttypes.h>
#include <string.h>

#include "core/operators/ops/window.h"
#include "core/csource/products.h"

enum { LINE = 16, FEW_FILTERS = 4 };

/* ---- convolutions ---- */

/* A window of two dimensions: one dimension is one line. */
typedef struct plane {
  int64_t images, groups, channels, filters; /* of a group */
  int64_t in[2], out[2], kernel[2], stride[2], before[2], after[2], dilation[2];
} plane;

static cm_status read_plane(const cm_c_piece *piece, const cm_c_factors *f, plane *p, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[f->x], *k = &call->input[f->w];
  cm_window w;
  if (cm_window_read(call, x, k->dims + 2, false, &w, error) != CM_OK)
    return error->status;
  if (w.rank > 2)
    return cm_c_refuse(piece, error, "has a window of %u dimensions, of at most 2 are written", w.rank);
  *p = (plane){.images = x->dims[0], .groups = cm_node_integer(call->node, "group", 1), .channels = k->dims[1]};
  p->filters = k->dims[0] / p->groups;
  for (uint32_t i = 0; i < 2; i++) {
    const bool there = i + w.rank >= 2;
    const uint32_t d = i + w.rank - 2;
    p->in[i] = there ? w.in[d] : 1;
    p->out[i] = there ? w.out[d] : 1;
    p->kernel[i] = there ? w.kernel[d] : 1;
    p->stride[i] = there ? w.stride[d] : 1;
    p->before[i] = there ? w.before[d] : 0;
    p->after[i] = there ? w.after[d] : 0;
    p->dilation[i] = there ? w.dilation[d] : 1;
  }
  return CM_OK;
}

static const char batch_names[] = "Z0 Z1 Z2 A0 A1 A2 B0 B1 B2 Y0 Y1 Y2";

/* Whether a filter meets one element, the one at its own place. */
static bool is_point(const plane *p)
{
  bool point = true;
  for (int i = 0; i < 2; i++)
    point = point && p->kernel[i] == 1 && p->stride[i] == 1 && p->before[i] == 0 && p->after[i] == 0;
  return point;
}

/* Of a window, whose positions are done `line` at once. */
static void window_sizes(const plane *p, uint32_t line, cm_c_product *made)
{
  const int64_t wide = (line - 1) * p->stride[1] + (p->kernel[1] - 1) * p->dilation[1] + 1;
  uint64_t edge = 16;
  while ((int64_t)edge < wide)
    edge *= 2;
  cm_c_sizes(made->sizes, "IMAGES GROUPS CHANNELS N IH IW OH OW KH SH PH PW DH",
             (const int64_t[]){p->images, p->groups, p->channels, p->filters, p->in[0], p->in[1], p->out[0], p->out[1], p->kernel[0], p->stride[0],
                               p->before[0], p->before[1], p->dilation[0]});
  if (made->rows == 0)
    cm_c_add(made->fixed, sizeof made->fixed, "SW = %" PRId64 ", KW = %" PRId64 ", DW = %" PRId64 ", LINE = %u, WIDTH = %" PRId64, p->stride[1], p->kernel[1],
             p->dilation[1], line, wide);
  else {
    cm_c_sizes(made->sizes, "KW DW WIDTH", (const int64_t[]){p->kernel[1], p->dilation[1], wide});
    cm_c_add(made->fixed, sizeof made->fixed, ", SW = %" PRId64 ", EDGE = %" PRIu64, p->stride[1], edge);
  }
}

/* Positions as rows of a matrix product. */
static void point_sizes(const plane *p, cm_c_product *made)
{
  const int64_t positions = p->out[0] * p->out[1], image = p->channels * positions, made_image = p->filters * positions;
  cm_c_sizes(made->sizes, batch_names,
             (const int64_t[]){p->images, p->groups, 1, p->groups * image, image, 0, 0, p->channels * p->filters, 0, p->groups * made_image, made_image, 0});
  cm_c_sizes(made->sizes, "M N K AK YN", (const int64_t[]){positions, p->filters, p->channels, positions, positions});
  cm_c_add(made->fixed, sizeof made->fixed, "AM = 1");
  made->by_column = true;
}

cm_status cm_c_conv(cm_c_piece *piece, cm_error *error)
{
  const cm_c_factors f = cm_c_factors_of(piece);
  cm_c_product made = {.kernel = "conv", .filter = "z1 * N + n + j"};
  plane p;
  if (read_plane(piece, &f, &p, error) != CM_OK)
    return error->status;
  made.filters = p.groups * p.filters;
  const bool point = is_point(&p), lines = p.filters < FEW_FILTERS;
  const int64_t dims[3] = {p.groups, p.filters, p.channels * p.kernel[0] * p.kernel[1]};
  if (point && lines) { /* the image is one line */
    p.in[1] = p.out[1] = p.out[0] * p.out[1];
    p.in[0] = p.out[0] = 1;
  }
  if (cm_c_weights(piece, &f, dims, lines ? CM_C_FILTERS : CM_C_TRANSPOSED, &made, error) != CM_OK || cm_c_input(piece, f.x, made.left, error) != CM_OK ||
      cm_c_output(piece, 0, made.out, error) != CM_OK ||
      cm_c_sums(piece, &f, &made, error) != CM_OK)
    return error->status;
  if (lines) {
    made.kernel = "conv_lines";
    window_sizes(&p, p.out[1] < LINE ? (uint32_t)p.out[1] : LINE, &made);
  } else if (point) {
    made.kernel = "product";
    point_sizes(&p, &made);
    cm_c_blocks(piece, p.out[0] * p.out[1], p.filters, &made);
  } else {
    cm_c_blocks(piece, p.out[1], p.filters, &made);
    window_sizes(&p, made.rows, &made);
  }
  return cm_c_product_call(piece, &made, error);
}

/* The activation of x, as ops/op_convolution.c computes it in float32. */
static const char *activation(const cm_node *node)
{
  static const struct {
    const char *name, *formula;
  } rows[] = {{"Relu", "x > 0 ? x : 0"}, {"LeakyRelu", "x < 0 ? $a * x : x"}, {"Clip", "fminf(fmaxf(x, $a), $b)"},
              {"HardSigmoid", "fminf(fmaxf($a * x + $b, 0), 1)"}, {"Tanh", "tanhf(x)"}, {"Sigmoid", "1 / (1 + expf(-x))"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strcmp(rows[k].name, cm_node_text(node, "activation", "")) == 0)
      return rows[k].formula;
  return "x";
}

cm_status cm_c_fused_conv(cm_c_piece *piece, cm_error *error)
{
  const cm_attribute *params = cm_node_attribute(piece->call.node, "activation_params");
  const cm_shape *y = &piece->call.output[0];
  char expression[260], numbers[2][48] = {"", ""};
  if (cm_c_conv(piece, error) != CM_OK)
    return error->status;
  cm_c_pointwise p = {.stem = "activate", .rank = y->rank, .input_count = 1, .output_count = 1, .expressions = {expression}};
  for (size_t k = 0; params != NULL && k < params->count && k < 2; k++)
    cm_c_number((double)params->numbers[k], true, numbers[k]);
  memcpy(p.dims, y->dims, sizeof p.dims);
  if (cm_c_output_stream(piece, 0, &p.outputs[0], error) != CM_OK)
    return error->status;
  p.inputs[0] = p.outputs[0];
  if (cm_has(&piece->call, 3) && cm_c_input_stream(piece, 3, y, &p.inputs[p.input_count++], error) != CM_OK)
    return error->status;
  cm_c_fill(activation(piece->call.node), p.input_count > 1 ? "(a + b)" : "a", numbers[0], numbers[1], expression, sizeof expression);
  return cm_c_pointwise_call(piece, &p, error);
}

/* ---- matrix products ---- */

/* Batches of two operands as at most three dimensions, with what a step of each skips in a, in b and in y. */
typedef struct batches {
  int64_t extent[CM_RANK_MAX], a[CM_RANK_MAX], b[CM_RANK_MAX], y[CM_RANK_MAX];
  uint32_t count;
} batches;

static void add_batch(batches *made, int64_t extent, int64_t a, int64_t b, int64_t y)
{
  if (extent == 1)
    return;
  const uint32_t last = made->count - 1;
  if (made->count > 0 && made->a[last] == a * extent && made->b[last] == b * extent && made->y[last] == y * extent) {
    made->extent[last] *= extent;
    made->a[last] = a;
    made->b[last] = b;
    made->y[last] = y;
    return;
  }
  made->extent[made->count] = extent;
  made->a[made->count] = a;
  made->b[made->count] = b;
  made->y[made->count++] = y;
}

static int64_t batch_step(const cm_shape *s, uint32_t rank, uint32_t d)
{
  const uint32_t own = s->rank > 2 ? s->rank - 2 : 0;
  int64_t step = s->rank > 1 ? s->dims[s->rank - 1] * s->dims[s->rank - 2] : s->dims[0];
  if (d < rank - own || s->dims[d - (rank - own)] == 1)
    return 0;
  for (uint32_t i = d - (rank - own) + 1; i < own; i++)
    step *= s->dims[i];
  return step;
}

typedef struct sizes {
  int64_t m, n, k, am, ak;
} sizes;

static void product_sizes(const sizes *s, const batches *z, cm_c_product *made)
{
  int64_t steps[12] = {1, 1, 1};
  for (uint32_t i = 0; i < z->count; i++) {
    steps[i] = z->extent[i];
    steps[3 + i] = z->a[i];
    steps[6 + i] = z->b[i];
    steps[9 + i] = z->y[i];
  }
  cm_c_sizes(made->sizes, batch_names, steps);
  cm_c_sizes(made->sizes, "M N K AM AK YM", (const int64_t[]){s->m, s->n, s->k, s->am, s->ak, s->n});
}

cm_status cm_c_matmul(cm_c_piece *piece, cm_error *error)
{
  const cm_c_factors f = cm_c_factors_of(piece);
  const cm_shape *a = &piece->call.input[f.x], *b = &piece->call.input[f.w], *y = &piece->call.output[0];
  cm_c_product made = {.kernel = "product", .filter = "n + j"};
  sizes s = {.m = a->rank > 1 ? a->dims[a->rank - 2] : 1, .k = a->dims[a->rank - 1], .n = b->rank > 1 ? b->dims[b->rank - 1] : 1, .ak = 1};
  batches z = {0};
  s.am = s.k;
  made.filters = s.n;
  const uint32_t rank = y->rank - (a->rank > 1) - (b->rank > 1);
  int64_t to = s.m * s.n;
  for (uint32_t d = 0; d < rank; d++)
    to *= y->dims[d];
  for (uint32_t d = 0; d < rank; d++) {
    to /= y->dims[d];
    add_batch(&z, y->dims[d], batch_step(a, rank, d), batch_step(b, rank, d), to);
  }
  if (z.count > 0 && z.b[z.count - 1] == 0 && z.a[z.count - 1] == s.m * s.k && z.y[z.count - 1] == s.m * s.n)
    s.m *= z.extent[--z.count]; /* rows go on through batches that share b */
  if (z.count > 3)
    return cm_c_refuse(piece, error, "has batches of %u dimensions, of at most 3 are written", z.count);
  uint64_t elements;
  (void)cm_dims_count(b->rank, b->dims, &elements);
  const int64_t dims[3] = {(int64_t)elements / (s.n * s.k), s.n, s.k};
  if (cm_c_input(piece, f.x, made.left, error) != CM_OK || cm_c_output(piece, 0, made.out, error) != CM_OK ||
      cm_c_weights(piece, &f, dims, CM_C_COLUMNS, &made, error) != CM_OK ||
      cm_c_sums(piece, &f, &made, error) != CM_OK)
    return error->status;
  product_sizes(&s, &z, &made);
  cm_c_blocks(piece, s.m, s.n, &made);
  return cm_c_product_call(piece, &made, error);
}

cm_status cm_c_gemm(cm_c_piece *piece, cm_error *error)
{
  cm_c_factors f = cm_c_factors_of(piece);
  const cm_call *call = &piece->call;
  const cm_shape *y = &call->output[0];
  const bool ta = cm_node_integer(call->node, "transA", 0) != 0, tb = cm_node_integer(call->node, "transB", 0) != 0;
  const float alpha = cm_node_number(call->node, "alpha", 1), beta = cm_node_number(call->node, "beta", 1);
  cm_c_product made = {.kernel = "product", .filter = "n + j"};
  sizes s = {.m = y->dims[0], .n = y->dims[1], .k = call->input[0].dims[!ta]};
  s.am = ta ? 1 : s.k;
  s.ak = ta ? s.m : 1;
  const int64_t dims[3] = {1, s.n, s.k};
  const batches z = {0};
  f.bias = CM_NONE;
  if (cm_c_input(piece, 0, made.left, error) != CM_OK || cm_c_output(piece, 0, made.out, error) != CM_OK ||
      cm_c_weights(piece, &f, dims, tb ? CM_C_TRANSPOSED : CM_C_COLUMNS, &made, error) != CM_OK || cm_c_sums(piece, &f, &made, error) != CM_OK)
    return error->status;
  char first[48], second[48];
  cm_c_number((double)alpha, true, first);
  cm_c_number((double)beta, true, second);
  (void)snprintf(made.store, sizeof made.store, "%s * s", first);
  if (cm_has(call, 2)) {
    cm_c_stream c;
    if (cm_c_input_stream(piece, 2, y, &c, error) != CM_OK)
      return error->status;
    (void)snprintf(made.more, sizeof made.more, "const float *restrict c, ");
    (void)snprintf(made.more_arguments, sizeof made.more_arguments, "%s, ", c.at);
    cm_c_add(made.store, sizeof made.store, " + %s * c[(m + i) * %" PRId64 " + (n + j) * %" PRId64 "]", second, c.strides[0], c.strides[1]);
  }
  product_sizes(&s, &z, &made);
  cm_c_blocks(piece, s.m, s.n, &made);
  return cm_c_product_call(piece, &made, error);
}
