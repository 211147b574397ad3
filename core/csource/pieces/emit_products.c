/* Conv and its quantized kin, ConvTranspose, MatMul and its, Gemm. */
#include <inttypes.h>
#include <string.h>

#include "core/csource/pieces/products.h"

enum { LINE = 16, FEW_FILTERS = 4 };

/* ---- convolutions ---- */

/* What a convolution goes over; channels and filters of a group. */
typedef struct plane {
  int64_t images, groups, channels, filters;
  cm_c_plane at;
} plane;

static cm_status read_plane(const cm_c_piece *piece, const cm_c_factors *f, plane *p, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[f->x], *k = &call->input[f->w];
  CM_TRY(cm_c_plane_read(piece, x, k->dims + 2, false, &p->at, error));
  if (p->at.rank > 2)
    return cm_c_refuse(piece, error, "has a window of %u dimensions, of at most 2 are written", p->at.rank);
  p->images = x->dims[0];
  p->groups = cm_node_integer(call->node, "group", 1);
  p->channels = k->dims[1];
  p->filters = k->dims[0] / p->groups;
  return CM_OK;
}

static const char batch_names[] = "Z0 Z1 Z2 A0 A1 A2 B0 B1 B2 Y0 Y1 Y2";

/* Whether a filter meets one element, the one at its own place. */
static bool is_point(const plane *p)
{
  bool point = true;
  for (int i = 0; i < 2; i++)
    point = point && p->at.kernel[i] == 1 && p->at.stride[i] == 1 && p->at.before[i] == 0 && p->at.after[i] == 0;
  return point;
}

/* Of a window, whose positions are done `line` at once. */
static void window_sizes(const plane *p, uint32_t line, cm_c_product *made)
{
  const int64_t wide = (line - 1) * p->at.stride[1] + (p->at.kernel[1] - 1) * p->at.dilation[1] + 1;
  uint64_t edge = 16;
  while ((int64_t)edge < wide)
    edge *= 2;
  cm_c_sizes(made->sizes, "IMAGES GROUPS CHANNELS N IH IW OH OW KH SH DH",
             (const int64_t[]){p->images, p->groups, p->channels, p->filters, p->at.in[0], p->at.in[1], p->at.out[0], p->at.out[1], p->at.kernel[0], p->at.stride[0],
                               p->at.dilation[0]});
  if (made->edges)
    cm_c_sizes(made->sizes, "PH PW WIDTH", (const int64_t[]){p->at.before[0], p->at.before[1], wide});
  if (made->rows == 0)
    cm_c_add(made->fixed, sizeof made->fixed, "KW = %" PRId64 ", DW = %" PRId64 ", LINE = %u, ", p->at.kernel[1], p->at.dilation[1], line);
  else
    cm_c_sizes(made->sizes, "KW DW", (const int64_t[]){p->at.kernel[1], p->at.dilation[1]});
  if (made->columns > 8) /* of few columns gcc makes vectors only where it knows the step */
    cm_c_sizes(made->sizes, "SW", &p->at.stride[1]);
  else
    cm_c_add(made->fixed, sizeof made->fixed, made->rows == 0 ? "SW = %" PRId64 : ", SW = %" PRId64, p->at.stride[1]);
  if (made->edges)
    cm_c_add(made->fixed, sizeof made->fixed, ", EDGE = %" PRIu64, edge);
}

/* What is read beyond an image: where memory is not scarce the image stands in a frame, which is cheaper than to look at each place. */
static cm_c_frame frame_of(const cm_c_piece *piece, const cm_c_factors *f, const plane *p)
{
  const cm_c_plane *at = &p->at;
  const bool has_zero = f->x_zero != CM_NONE && cm_has(&piece->call, f->x_zero);
  const cm_tensor *zero = has_zero ? piece->call.value[f->x_zero] : NULL;
  cm_c_frame frame = {.fill = zero != NULL ? (int)cm_tensor_integer(zero, 0) : 0};
  if (piece->w->target->ram == 0 && has_zero == (zero != NULL) && (at->before[0] != 0 || at->before[1] != 0 || at->after[0] != 0 || at->after[1] != 0))
    frame.planes = p->images * p->groups * p->channels;
  for (int i = 0; i < 2; i++) {
    frame.in[i] = at->in[i];
    frame.before[i] = at->before[i];
    frame.wide[i] = at->before[i] + at->in[i] + at->after[i];
  }
  return frame;
}

static cm_status frame_image(cm_c_piece *piece, const cm_c_frame *f, plane *p, cm_c_product *made, cm_error *error)
{
  cm_c_plane *at = &p->at;
  cm_part_shape shape = {.rank = 3, .extent = {f->planes, f->in[0], f->in[1]}};
  const int64_t dims[3] = {f->planes, f->wide[0], f->wide[1]}, width = (int64_t)cm_type_bytes(made->left_type);
  int64_t numbers[4] = {f->fill, cm_c_count(3, dims) * width, (f->before[0] * f->wide[1] + f->before[1]) * width};
  const char *table;
  char frame[CM_C_AT_MAX];
  made->edges = f->planes == 0 && (at->before[0] != 0 || at->before[1] != 0 || at->after[0] != 0 || at->after[1] != 0);
  if (f->planes == 0)
    return CM_OK;
  for (int i = 0; i < 2; i++) {
    at->in[i] = f->wide[i];
    at->before[i] = at->after[i] = 0;
  }
  if (f->made)
    return CM_OK;
  cm_strides(3, dims, shape.to_stride);
  cm_strides(3, shape.extent, shape.stride);
  CM_TRY(cm_c_box(piece->w, &(cm_program_part){.shape = &shape}, made->left_type, &numbers[3], error));
  CM_TRY(cm_c_table(piece->w, numbers, 4, &table, error));
  cm_c_scratch(piece, made->left_type, cm_c_count(3, dims), frame);
  fprintf(piece->w->body[piece->lane].stream, "  copy_framed(%s, %s, %s);\n", frame, made->left, table);
  (void)snprintf(made->left, sizeof made->left, "%s", frame);
  return CM_OK;
}

/* Positions as rows of a matrix product. */
static void point_sizes(const plane *p, cm_c_product *made)
{
  const int64_t positions = p->at.out[0] * p->at.out[1], image = p->channels * positions, made_image = p->filters * positions;
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
  CM_TRY(read_plane(piece, &f, &p, error));
  made.filters = p.groups * p.filters;
  const bool point = is_point(&p), lines = p.filters < FEW_FILTERS;
  const int64_t dims[3] = {p.groups, p.filters, p.channels * p.at.kernel[0] * p.at.kernel[1]};
  if (point && lines) { /* the image is one line */
    p.at.in[1] = p.at.out[1] = p.at.out[0] * p.at.out[1];
    p.at.in[0] = p.at.out[0] = 1;
  }
  cm_c_frame frame = frame_of(piece, &f, &p);
  if (cm_c_weights(piece, &f, dims, lines ? CM_C_FILTERS : CM_C_TRANSPOSED, &made, error) != CM_OK || cm_c_input_framed(piece, f.x, &frame, made.left, error) != CM_OK ||
      cm_c_output(piece, 0, made.out, error) != CM_OK || cm_c_sums(piece, &f, &made, error) != CM_OK || frame_image(piece, &frame, &p, &made, error) != CM_OK)
    return error->status;
  if (lines) {
    made.kernel = "conv_lines";
    window_sizes(&p, p.at.out[1] < LINE ? (uint32_t)p.at.out[1] : LINE, &made);
  } else if (point) {
    made.kernel = "product";
    point_sizes(&p, &made);
    cm_c_blocks(piece, p.at.out[0] * p.at.out[1], p.filters, &made);
  } else {
    cm_c_blocks(piece, p.at.out[1], p.filters, &made);
    window_sizes(&p, made.rows, &made);
  }
  return cm_c_product_call(piece, &made, error);
}

/* The activation of x, as ops/op_convolution.c computes it in float32. */
static const char *activation(const cm_node *node)
{
  static const struct {
    const char *name, *formula;
  } rows[] = {{"Relu", "x > 0 ? x : 0"}, {"LeakyRelu", "x < 0 ? alpha * x : x"}, {"Clip", "fminf(fmaxf(x, alpha), beta)"},
              {"HardSigmoid", "fminf(fmaxf(alpha * x + beta, 0), 1)"}, {"Tanh", "tanhf(x)"}, {"Sigmoid", "sigmoid(x)"}};
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
  CM_TRY(cm_c_conv(piece, error));
  cm_c_pointwise p = {.stem = "activate", .rank = y->rank, .input_count = 1, .output_count = 1, .expressions = {expression}};
  for (size_t k = 0; params != NULL && k < params->count && k < 2; k++)
    cm_c_number((double)params->numbers[k], true, numbers[k]);
  memcpy(p.dims, y->dims, sizeof p.dims);
  CM_TRY(cm_c_output_stream(piece, 0, &p.outputs[0], error));
  p.inputs[0] = p.outputs[0];
  if (cm_has(&piece->call, 3))
    CM_TRY(cm_c_input_stream(piece, 3, y, &p.inputs[p.input_count++], error));
  cm_c_fill(activation(piece->call.node), p.input_count > 1 ? "(a + b)" : "a", numbers[0], numbers[1], expression, sizeof expression);
  return cm_c_pointwise_call(piece, &p, error);
}

/* Seen from its output: filters are channels of x, channels those of y. */
cm_status cm_c_conv_transpose(cm_c_piece *piece, cm_error *error)
{
  const cm_c_factors f = cm_c_factors_of(piece);
  cm_c_product made = {.kernel = "conv_transpose", .filter = "", .right_type = CM_FLOAT};
  plane p;
  CM_TRY(read_plane(piece, &f, &p, error));
  CM_TRY(cm_c_input(piece, f.x, made.left, error));
  CM_TRY(cm_c_input(piece, f.w, made.right, error));
  CM_TRY(cm_c_output(piece, 0, made.out, error));
  CM_TRY(cm_c_sums(piece, &f, &made, error));
  (void)snprintf(made.store, sizeof made.store, "%s", cm_has(&piece->call, f.bias) ? "bias[z % (GROUPS * CHANNELS)]" : "0");
  cm_c_sizes(made.sizes, "IMAGES GROUPS CHANNELS N IH IW OH OW KH KW SH SW DH DW PH PW",
             (const int64_t[]){p.images, p.groups, p.channels, p.filters, p.at.in[0], p.at.in[1], p.at.out[0], p.at.out[1], p.at.kernel[0], p.at.kernel[1],
                               p.at.stride[0], p.at.stride[1], p.at.dilation[0], p.at.dilation[1], p.at.before[0], p.at.before[1]});
  return cm_c_product_call(piece, &made, error);
}

/* ---- matrix products ---- */

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

/* Batches: what a step of each dimension skips in a, in b (inputs of z) and in y. */
static void product_sizes(const sizes *s, const cm_c_pointwise *z, cm_c_product *made)
{
  int64_t steps[12] = {1, 1, 1};
  for (uint32_t i = 0; i < z->rank; i++) {
    steps[i] = z->dims[i];
    steps[3 + i] = z->inputs[0].strides[i];
    steps[6 + i] = z->inputs[1].strides[i];
    steps[9 + i] = z->outputs[0].strides[i];
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
  s.am = s.k;
  made.filters = s.n;
  cm_c_pointwise z = {.rank = y->rank - (a->rank > 1) - (b->rank > 1), .input_count = 2, .output_count = 1};
  memcpy(z.dims, y->dims, sizeof z.dims);
  cm_strides(z.rank, z.dims, z.outputs[0].strides);
  for (uint32_t d = 0; d < z.rank; d++) {
    z.inputs[0].strides[d] = batch_step(a, z.rank, d);
    z.inputs[1].strides[d] = batch_step(b, z.rank, d);
    z.outputs[0].strides[d] *= s.m * s.n;
  }
  cm_c_join_dims(&z);
  const uint32_t last = z.rank - 1;
  if (z.rank > 0 && z.inputs[1].strides[last] == 0 && z.inputs[0].strides[last] == s.m * s.k && z.outputs[0].strides[last] == s.m * s.n)
    s.m *= z.dims[--z.rank]; /* rows go on through batches that share b */
  if (z.rank > 3)
    return cm_c_refuse(piece, error, "has batches of %u dimensions, of at most 3 are written", z.rank);
  const int64_t dims[3] = {cm_c_count(b->rank, b->dims) / (s.n * s.k), s.n, s.k};
  CM_TRY(cm_c_input(piece, f.x, made.left, error));
  CM_TRY(cm_c_output(piece, 0, made.out, error));
  CM_TRY(cm_c_weights(piece, &f, dims, CM_C_COLUMNS, &made, error));
  CM_TRY(cm_c_sums(piece, &f, &made, error));
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
  const cm_c_pointwise z = {.rank = 0};
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
    CM_TRY(cm_c_input_stream(piece, 2, y, &c, error));
    (void)snprintf(made.more, sizeof made.more, "const float *restrict c, ");
    (void)snprintf(made.more_arguments, sizeof made.more_arguments, "%s, ", c.at);
    cm_c_add(made.store, sizeof made.store, " + %s * c[(m + i) * %" PRId64 " + (n + j) * %" PRId64 "]", second, c.strides[0], c.strides[1]);
  }
  product_sizes(&s, &z, &made);
  cm_c_blocks(piece, s.m, s.n, &made);
  return cm_c_product_call(piece, &made, error);
}
