/* QDQ patterns to integers. Scales and zero points have to be constants. */
#include "core/operators/quantized.h"

#include <math.h>
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

typedef struct quantizing {
  cm_model *model;
  cm_run *run;
} quantizing;

/* Scale and zero point of a QuantizeLinear or DequantizeLinear; values of the model. */
typedef struct steps {
  uint32_t input; /* of the node */
  uint32_t scale, zero; /* zero: CM_NONE when left out */
  cm_type type;   /* of the 8-bit side */
  int64_t axis;
  uint64_t count;
} steps;

static const cm_node *producer(const cm_model *m, uint32_t value)
{
  return value != CM_NONE && m->values[value].producer != CM_NONE ? &m->nodes[m->values[value].producer] : NULL;
}

static bool is_byte(cm_type type)
{
  return type == CM_INT8 || type == CM_UINT8;
}

/* Whether a node quantizes (or the reverse) between float32 and 8 bits by constants. */
static bool read_steps(quantizing *q, const cm_node *n, bool quantizes, steps *s)
{
  const cm_model *m = q->model;
  if (n == NULL || !cm_node_is(n, quantizes ? cm_kernel_quantize : cm_kernel_dequantize) || n->input_count < 2 || n->inputs[0] == CM_NONE ||
      n->inputs[1] == CM_NONE || cm_node_integer(n, "block_size", 0) != 0)
    return false;
  *s = (steps){.input = n->inputs[0], .scale = n->inputs[1], .zero = n->input_count > 2 ? n->inputs[2] : CM_NONE,
               .axis = cm_node_integer(n, "axis", 1)};
  const cm_value *scale = &m->values[s->scale];
  s->type = m->values[quantizes ? n->outputs[0] : n->inputs[0]].shape.type;
  if (!scale->constant || scale->shape.type != CM_FLOAT || !cm_shape_known(&scale->shape) ||
      !cm_dims_count(scale->shape.rank, scale->shape.dims, &s->count) || (s->zero != CM_NONE && !m->values[s->zero].constant))
    return false;
  return is_byte(s->type) && m->values[quantizes ? n->inputs[0] : n->outputs[0]].shape.type == CM_FLOAT;
}

static cm_status add_constant(quantizing *q, const char *stem, cm_tensor *tensor, uint32_t *value, cm_error *error)
{
  cm_status status = cm_model_add_constant(q->model, stem, tensor, value, error);
  cm_tensor_free(tensor);
  return status;
}

/* A zero point that is there: zeros like the scale where it was left out. */
static cm_status zero_of(quantizing *q, const steps *s, uint32_t *zero, cm_error *error)
{
  const cm_shape *scale = &q->model->values[s->scale].shape;
  cm_tensor *t;
  *zero = s->zero;
  if (s->zero != CM_NONE)
    return CM_OK;
  CM_TRY(cm_tensor_new(q->model->arena.memory, s->type, scale->rank, scale->dims, &t, error));
  return add_constant(q, "zero_point", t, zero, error);
}

/* The bias in units of the product's sums: rounded to 32 bits. */
static cm_status whole_bias(quantizing *q, uint32_t bias, const steps *x, const steps *w, uint32_t *value, cm_error *error)
{
  const cm_tensor *b, *xs, *ws;
  cm_tensor *t;
  CM_TRY(cm_constant_tensor(q->model, bias, q->run, &b, error));
  CM_TRY(cm_constant_tensor(q->model, x->scale, q->run, &xs, error));
  CM_TRY(cm_constant_tensor(q->model, w->scale, q->run, &ws, error));
  CM_TRY(cm_tensor_new(q->model->arena.memory, CM_INT32, 1, &b->dims[0], &t, error));
  for (uint64_t i = 0; i < t->count; i++) {
    double step = cm_tensor_number(xs, 0) * cm_tensor_number(ws, ws->count > 1 ? i : 0),
           number = nearbyint(cm_tensor_number(b, i) / step);
    cm_tensor_put_integer(t, i, (int64_t)fmin(fmax(number, INT32_MIN), INT32_MAX));
  }
  return add_constant(q, "bias", t, value, error);
}

/* ---- products ---- */

/* A product between dequantized operands and a quantizer, the only one that reads it. */
typedef struct product {
  cm_node made; /* copy of the float one */
  steps x, w, y;
} product;

/* Whether the scales of the weights are those of the product's channels: filters, or columns. */
static bool weights_fit(const cm_model *m, const cm_node *n, const product *p)
{
  const cm_shape *w = &m->values[p->w.input].shape;
  if (p->x.count != 1 || p->y.count != 1 || w->rank == CM_UNKNOWN_RANK)
    return false;
  if (p->w.count == 1)
    return true;
  const bool first = cm_node_is(n, cm_kernel_conv) || cm_node_integer(n, "transB", 0) != 0;
  const int64_t axis = p->w.axis + (p->w.axis < 0 ? w->rank : 0);
  return first ? axis == 0 : w->rank == 2 && axis == 1;
}

/* A Gemm of what it is given and constant weights, with a bias a column, if any. */
static bool is_plain_gemm(const cm_model *m, const cm_node *n)
{
  const cm_shape *x = &m->values[n->inputs[0]].shape, *w = &m->values[n->inputs[1]].shape;
  if (!cm_node_is(n, cm_kernel_gemm) || cm_node_integer(n, "transA", 0) != 0 || cm_node_number(n, "alpha", 1) != 1.0F ||
      cm_node_number(n, "beta", 1) != 1.0F || !cm_shape_known(x) || !cm_shape_known(w) || !m->values[n->inputs[1]].constant)
    return false;
  return n->input_count < 3 || n->inputs[2] == CM_NONE ||
         m->values[n->inputs[2]].shape.dims[0] == w->dims[cm_node_integer(n, "transB", 0) != 0 ? 0 : 1];
}

static bool is_product(const cm_model *m, const cm_node *n)
{
  return n != NULL && n->input_count >= 2 && n->inputs[0] != CM_NONE && n->inputs[1] != CM_NONE &&
         (cm_node_is(n, cm_kernel_conv) || cm_node_is(n, cm_kernel_matmul) || is_plain_gemm(m, n));
}

static bool find_product(quantizing *q, const cm_node *n, product *p)
{
  const cm_model *m = q->model;
  if (!read_steps(q, n, true, &p->y))
    return false;
  const cm_node *inner = producer(m, p->y.input);
  if (!is_product(m, inner) || m->values[p->y.input].use_count != 1 || !read_steps(q, producer(m, inner->inputs[0]), false, &p->x) ||
      !read_steps(q, producer(m, inner->inputs[1]), false, &p->w) || !weights_fit(m, inner, p))
    return false;
  p->made = *inner;
  uint32_t bias = inner->input_count > 2 ? inner->inputs[2] : CM_NONE;
  return bias == CM_NONE || (m->values[bias].constant && m->values[bias].shape.rank == 1 &&
                             m->values[bias].shape.type == CM_FLOAT);
}

/* A node of one output, inferred; *value: what it makes. */
static cm_status add_node(quantizing *q, const char *op, const uint32_t *inputs, uint32_t count, uint32_t *value, cm_error *error)
{
  uint32_t node, made; /* what is read may be named by `value` */
  CM_TRY(cm_model_add_named(q->model, "matrix", &made, error));
  CM_TRY(cm_model_add_node(q->model, op, inputs, count, &made, 1, &node, error));
  *value = made;
  return cm_infer_node(q->model, node, q->run, error);
}

static cm_status add_reshape(quantizing *q, uint32_t matrix, const int64_t *dims, size_t rank, uint32_t *value, cm_error *error)
{
  uint32_t inputs[2] = {matrix};
  return cm_model_add_integers(q->model, "shape", dims, rank, &inputs[1], error) == CM_OK ? add_node(q, "Reshape", inputs, 2, value, error)
                                                                                          : error->status;
}

/* A Gemm is a convolution of images of one element, which alone has a bias in integers: what it reads becomes such, and what `node`
 * makes a matrix again. */
static cm_status make_pixels(quantizing *q, uint32_t node, product *p, cm_error *error)
{
  cm_model *m = q->model;
  const int64_t *x = m->values[p->x.input].shape.dims, *w = m->values[p->w.input].shape.dims;
  const bool turned = cm_node_integer(&p->made, "transB", 0) != 0;
  const int64_t rows = x[0], inner = x[1], columns = w[turned ? 0 : 1], images[4] = {rows, inner, 1, 1}, filters[4] = {columns, inner, 1, 1},
                matrix[2] = {rows, columns};
  uint32_t made, shape, last;
  if ((!turned && add_node(q, "Transpose", &p->w.input, 1, &p->w.input, error) != CM_OK) ||
      add_reshape(q, p->w.input, filters, 4, &p->w.input, error) != CM_OK || add_reshape(q, p->x.input, images, 4, &p->x.input, error) != CM_OK ||
      cm_model_add_named(m, "pixels", &made, error) != CM_OK || cm_model_add_integers(m, "shape", matrix, 2, &shape, error) != CM_OK ||
      cm_model_add_node(m, "Reshape", (uint32_t[]){made, shape}, 2, m->nodes[node].outputs, 1, &last, error) != CM_OK)
    return error->status;
  m->nodes[node].outputs[0] = made;
  m->values[made].producer = node;
  p->made.attribute_count = 0;
  return CM_OK;
}

static cm_status make_product(quantizing *q, uint32_t node, product *p, cm_error *error)
{
  cm_model *m = q->model;
  const bool gemm = cm_node_is(&p->made, cm_kernel_gemm), convolution = gemm || cm_node_is(&p->made, cm_kernel_conv);
  uint32_t *in, bias = p->made.input_count > 2 ? p->made.inputs[2] : CM_NONE, count = bias != CM_NONE ? 9 : 8;
  if ((gemm && make_pixels(q, node, p, error) != CM_OK) || CM_ARENA_NEW(&m->arena, in, 9, error) != CM_OK || zero_of(q, &p->x, &in[2], error) != CM_OK ||
      zero_of(q, &p->w, &in[5], error) != CM_OK || zero_of(q, &p->y, &in[7], error) != CM_OK ||
      (bias != CM_NONE && whole_bias(q, bias, &p->x, &p->w, &in[8], error) != CM_OK))
    return error->status;
  in[0] = p->x.input;
  in[1] = p->x.scale;
  in[3] = p->w.input;
  in[4] = p->w.scale;
  in[6] = p->y.scale;
  cm_node *n = &m->nodes[node];
  n->name = p->made.name;
  n->op = convolution ? "QLinearConv" : "QLinearMatMul";
  n->inputs = in;
  n->input_count = count;
  n->attributes = p->made.attributes;
  n->attribute_count = p->made.attribute_count;
  n->known = cm_operator_find("", n->op, m->opset);
  return gemm ? cm_infer_node(m, node, q->run, error) : CM_OK;
}

/* ---- operators for which scale and zero point do not matter ---- */

static bool same_number(quantizing *q, uint32_t a, uint32_t b, bool *same, cm_error *error)
{
  const cm_tensor *x = NULL, *y = NULL;
  *same = a == b;
  if (*same)
    return true;
  if ((a != CM_NONE && cm_constant_tensor(q->model, a, q->run, &x, error) != CM_OK) ||
      (b != CM_NONE && cm_constant_tensor(q->model, b, q->run, &y, error) != CM_OK))
    return false;
  *same = (x == NULL || x->count == 1) && (y == NULL || y->count == 1) &&
          (x != NULL ? cm_tensor_number(x, 0) : 0) == (y != NULL ? cm_tensor_number(y, 0) : 0);
  return true;
}

static bool takes_any_scale(const cm_node *n)
{
  return n != NULL && n->known != NULL && (n->known->flags & CM_OPERATOR_ANY_SCALE) != 0 && n->output_count == 1;
}

/* Takes both away around such an operator; *done tells. */
static cm_status make_move(quantizing *q, uint32_t node, bool *done, cm_error *error)
{
  cm_model *m = q->model;
  steps x, y;
  bool same_scale, same_zero;
  *done = false;
  if (!read_steps(q, &m->nodes[node], true, &y) || !takes_any_scale(producer(m, y.input)) || m->values[y.input].use_count != 1 ||
      !read_steps(q, producer(m, producer(m, y.input)->inputs[0]), false, &x) || x.type != y.type || x.count != 1 || y.count != 1)
    return CM_OK;
  if (!same_number(q, x.scale, y.scale, &same_scale, error) || !same_number(q, x.zero, y.zero, &same_zero, error))
    return error->status;
  if (!same_scale || !same_zero)
    return CM_OK;
  uint32_t inner = m->values[y.input].producer, output = m->nodes[node].outputs[0];
  uint32_t *inputs;
  cm_node *n = &m->nodes[inner];
  CM_TRY(CM_ARENA_NEW(&m->arena, inputs, n->input_count, error));
  memcpy(inputs, n->inputs, n->input_count * sizeof *inputs);
  inputs[0] = x.input;
  n->inputs = inputs;
  n->outputs[0] = output;
  m->values[output].producer = inner;
  m->nodes[node].removed = true;
  *done = true;
  return cm_infer_node(m, inner, q->run, error);
}

cm_status cm_model_quantize(cm_model *model, cm_run *run, cm_quantized *done, cm_error *error)
{
  quantizing q = {model, run};
  cm_quantized made = {0};
  for (size_t i = 0; i < model->order_count; i++) {
    product p;
    bool moved = false;
    uint32_t node = model->order[i];
    if (model->nodes[node].removed || !cm_node_is(&model->nodes[node], cm_kernel_quantize))
      continue;
    bool found = find_product(&q, &model->nodes[node], &p);
    cm_status status = found ? make_product(&q, node, &p, error) : make_move(&q, node, &moved, error);
    if (status != CM_OK)
      return status;
    made.products += found;
    made.moves += moved;
  }
  *done = made;
  return made.products + made.moves > 0 ? cm_model_sweep(model, error) : CM_OK;
}
