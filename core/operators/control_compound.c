/* Operators that are written as others when a model is compiled for a chip, so that their products run on matrix units and
 * are cut like any: Attention, RotaryEmbedding, CenterCropPad (ONNX operator specification, their function bodies). */
#include "core/operators/unrolling.h"

#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

/* ---- nodes ---- */

static cm_status add_new(cm_unrolling *u, const cm_new_node *node, uint32_t *value, cm_error *error)
{
  uint32_t made = CM_NONE; /* what is read may be named by `value` */
  CM_TRY(cm_unroll_node(u, node, &made, error));
  *value = made;
  return CM_OK;
}

static cm_status reshape(cm_unrolling *u, uint32_t from, size_t rank, const int64_t *dims, uint32_t *value, cm_error *error)
{
  uint32_t inputs[2] = {from};
  return cm_model_add_integers(u->model, "shape", dims, rank, &inputs[1], error) == CM_OK
             ? cm_unroll_new(u, "Reshape", inputs, 2, value, error) : error->status;
}

static cm_status transpose(cm_unrolling *u, uint32_t from, const int64_t perm[4], uint32_t *value, cm_error *error)
{
  uint32_t node;
  CM_TRY(cm_model_add_named(u->model, "turned", value, error));
  CM_TRY(cm_model_add_node(u->model, "Transpose", &from, 1, value, 1, &node, error));
  CM_TRY(cm_node_set_integers(u->model, &u->model->nodes[node], "perm", perm, 4, error));
  return u->walk(u, node, error);
}

static cm_status scale(cm_unrolling *u, uint32_t *value, double factor, cm_error *error)
{
  uint32_t inputs[2] = {*value};
  return cm_unroll_number(u, u->model->values[*value].shape.type, factor, &inputs[1], error) == CM_OK
             ? cm_unroll_new(u, "Mul", inputs, 2, value, error) : error->status;
}

/* Elements [ends[0], ends[1]) of an axis. */
static cm_status slice(cm_unrolling *u, uint32_t value, int64_t axis, const int64_t ends[2], uint32_t *made, cm_error *error)
{
  uint32_t inputs[4] = {value};
  CM_TRY(cm_model_add_integers(u->model, "starts", ends, 1, &inputs[1], error));
  CM_TRY(cm_model_add_integers(u->model, "ends", ends + 1, 1, &inputs[2], error));
  CM_TRY(cm_model_add_integers(u->model, "axes", &axis, 1, &inputs[3], error));
  return cm_unroll_new(u, "Slice", inputs, 4, made, error);
}

static uint32_t input_of(const cm_node *n, uint32_t i)
{
  return i < n->input_count ? n->inputs[i] : CM_NONE;
}

static const cm_shape *shape_of(const cm_unrolling *u, uint32_t value)
{
  return &u->model->values[value].shape;
}

static cm_status need_shapes(const cm_unrolling *u, const cm_node *n, uint32_t least, cm_error *error)
{
  for (uint32_t i = 0; i < n->input_count || i < least; i++)
    if (input_of(n, i) == CM_NONE ? i < least : !cm_shape_known(shape_of(u, n->inputs[i])))
      return cm_unroll_fail(n, CM_BAD_NETWORK, "needs inputs whose shapes are known", error);
  return CM_OK;
}

/* ---- Attention ---- */

typedef struct attention {
  cm_unrolling *u;
  const cm_node *n;
  int64_t frames, heads, kv_heads, rows, all, past; /* rows: queries; all: keys with those of the past */
  uint32_t query, key, value;                       /* frames, heads, rows, numbers */
} attention;

/* Three dimensions become four, the heads their second. */
static cm_status split_heads(attention *a, uint32_t from, int64_t heads, uint32_t *made, cm_error *error)
{
  static const int64_t turned[4] = {0, 2, 1, 3};
  const cm_shape x = *shape_of(a->u, from);
  const int64_t dims[4] = {x.dims[0], x.dims[1], heads, heads > 0 ? x.dims[2] / heads : 0};
  *made = from;
  if (x.rank == 4)
    return CM_OK;
  if (x.rank != 3 || heads < 1 || x.dims[2] % heads != 0)
    return cm_unroll_fail(a->n, CM_BAD_NETWORK, "needs four dimensions, or three and a number of heads that divides the last", error);
  return reshape(a->u, from, 4, dims, made, error) == CM_OK ? transpose(a->u, *made, turned, made, error) : error->status;
}

/* Keys or values behind those of the past, which are an output too. */
static cm_status with_past(attention *a, uint32_t past, uint32_t output, uint32_t *value, cm_error *error)
{
  uint32_t both[2] = {input_of(a->n, past), *value};
  CM_TRY_IF(both[0] != CM_NONE, add_new(a->u, &(cm_new_node){"Concat", both, 2, "axis", 2}, value, error));
  return output < a->n->output_count ? cm_unroll_hand_over(a->u, *value, a->n->outputs[output], error) : CM_OK;
}

static cm_status read_attention(attention *a, cm_error *error)
{
  const cm_node *n = a->n;
  CM_TRY(need_shapes(a->u, n, 3, error));
  if (input_of(n, 6) != CM_NONE)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "its lengths without padding (nonpad_kv_seqlen) are not computed", error);
  int64_t heads = cm_node_integer(n, "q_num_heads", 0), kv = cm_node_integer(n, "kv_num_heads", heads);
  CM_TRY(split_heads(a, n->inputs[0], heads, &a->query, error));
  CM_TRY(split_heads(a, n->inputs[1], kv, &a->key, error));
  CM_TRY(split_heads(a, n->inputs[2], kv, &a->value, error));
  a->past = input_of(n, 4) != CM_NONE ? shape_of(a->u, n->inputs[4])->dims[2] : 0;
  CM_TRY(with_past(a, 4, 1, &a->key, error));
  CM_TRY(with_past(a, 5, 2, &a->value, error));
  const cm_shape *q = shape_of(a->u, a->query), *k = shape_of(a->u, a->key), *v = shape_of(a->u, a->value);
  a->frames = q->dims[0];
  a->heads = q->dims[1];
  a->kv_heads = k->dims[1];
  a->rows = q->dims[2];
  a->all = k->dims[2];
  if (a->kv_heads < 1 || a->heads % a->kv_heads != 0 || v->dims[1] != a->kv_heads || v->dims[2] != a->all ||
      k->dims[0] != a->frames || v->dims[0] != a->frames || k->dims[3] != q->dims[3] || q->dims[3] < 1)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "its queries, keys and values do not go together", error);
  return CM_OK;
}

/* A product with keys or values: the heads that share theirs are so many times the rows. */
static cm_status head_product(attention *a, const uint32_t factors[2], int64_t inner, int64_t columns, uint32_t *made, cm_error *error)
{
  const int64_t shared[4] = {a->frames, a->kv_heads, a->heads / a->kv_heads * a->rows, inner},
                apart[4] = {a->frames, a->heads, a->rows, columns};
  uint32_t both[2] = {factors[0], factors[1]};
  if (a->heads == a->kv_heads)
    return cm_unroll_new(a->u, "MatMul", both, 2, made, error);
  CM_TRY(reshape(a->u, factors[0], 4, shared, &both[0], error));
  CM_TRY(cm_unroll_new(a->u, "MatMul", both, 2, made, error));
  return reshape(a->u, *made, 4, apart, made, error);
}

/* Row i sees the keys of the past and those up to its own. */
static cm_status add_causal(attention *a, uint32_t *scores, cm_error *error)
{
  const int64_t dims[2] = {a->rows, a->all};
  uint32_t both[2] = {*scores};
  cm_tensor *mask;
  CM_TRY(cm_tensor_new(a->u->model->arena.memory, shape_of(a->u, *scores)->type, 2, dims, &mask, error));
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t k = i + a->past + 1; k < a->all; k++)
      cm_tensor_put_number(mask, (uint64_t)(i * a->all + k), -INFINITY, false);
  cm_status status = cm_model_add_constant(a->u->model, "causal", mask, &both[1], error);
  cm_tensor_free(mask);
  return status == CM_OK ? cm_unroll_new(a->u, "Add", both, 2, scores, error) : status;
}

static cm_status add_mask(attention *a, uint32_t *scores, cm_error *error)
{
  uint32_t mask = input_of(a->n, 3), all[3] = {mask, *scores};
  if (mask == CM_NONE)
    return CM_OK;
  const cm_shape *m = shape_of(a->u, mask);
  if (m->rank < 2 || m->dims[m->rank - 1] != a->all)
    return cm_unroll_fail(a->n, CM_BAD_NETWORK, "its mask should be as long as its keys", error);
  if (m->type != CM_BOOL)
    return cm_unroll_new(a->u, "Add", all, 2, scores, error);
  return cm_unroll_number(a->u, shape_of(a->u, *scores)->type, -INFINITY, &all[2], error) == CM_OK ? cm_unroll_new(a->u, "Where", all, 3, scores, error)
                                                                                          : error->status;
}

/* The fourth output is the scores at one of four places. */
static cm_status show_scores(const attention *a, uint32_t scores, int64_t mode, cm_error *error)
{
  return a->n->output_count > 3 && cm_node_integer(a->n, "qk_matmul_output_mode", 0) == mode
             ? cm_unroll_hand_over(a->u, scores, a->n->outputs[3], error) : CM_OK;
}

static cm_status cap(attention *a, uint32_t *scores, cm_error *error)
{
  double most = (double)cm_node_number(a->n, "softcap", 0);
  if (most <= 0)
    return CM_OK;
  CM_TRY(scale(a->u, scores, 1 / most, error));
  CM_TRY(cm_unroll_new(a->u, "Tanh", scores, 1, scores, error));
  return scale(a->u, scores, most, error);
}

cm_status cm_unroll_attention(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  static const int64_t keys_turned[4] = {0, 1, 3, 2}, rows_first[4] = {0, 2, 1, 3};
  attention a = {.u = u, .n = n};
  uint32_t keys, scores, made;
  CM_TRY(read_attention(&a, error));
  const int64_t numbers = shape_of(u, a.query)->dims[3], out = shape_of(u, a.value)->dims[3];
  double factor = cm_node_attribute(n, "scale") != NULL ? (double)cm_node_number(n, "scale", 1) : 1 / sqrt((double)numbers);
  if (scale(u, &a.query, factor, error) != CM_OK || transpose(u, a.key, keys_turned, &keys, error) != CM_OK ||
      head_product(&a, (uint32_t[]){a.query, keys}, numbers, a.all, &scores, error) != CM_OK || show_scores(&a, scores, 0, error) != CM_OK ||
      cap(&a, &scores, error) != CM_OK || show_scores(&a, scores, 1, error) != CM_OK || add_mask(&a, &scores, error) != CM_OK ||
      (cm_node_integer(n, "is_causal", 0) != 0 && add_causal(&a, &scores, error) != CM_OK) ||
      show_scores(&a, scores, 2, error) != CM_OK ||
      add_new(u, &(cm_new_node){"Softmax", &scores, 1, "axis", -1}, &scores, error) != CM_OK || show_scores(&a, scores, 3, error) != CM_OK ||
      head_product(&a, (uint32_t[]){scores, a.value}, a.all, out, &made, error) != CM_OK)
    return error->status;
  if (shape_of(u, n->inputs[0])->rank == 3) {
    const int64_t dims[3] = {a.frames, a.rows, a.heads * out};
    CM_TRY(transpose(u, made, rows_first, &made, error));
    CM_TRY(reshape(u, made, 3, dims, &made, error));
  }
  return cm_unroll_hand_over(u, made, n->outputs[0], error);
}

/* ---- RotaryEmbedding ---- */

typedef struct rotary {
  cm_unrolling *u;
  int64_t dims[5]; /* of half the rotated numbers, with one more dimension for pairs */
  bool pairs;      /* real and imaginary parts side by side */
} rotary;

static cm_status rotary_half(rotary *r, uint32_t x, int i, uint32_t *half, cm_error *error)
{
  const int64_t most = r->dims[3], pairs[5] = {r->dims[0], r->dims[1], r->dims[2], most, 2};
  if (!r->pairs)
    return slice(r->u, x, 3, (int64_t[]){i * most, (i + 1) * most}, half, error);
  CM_TRY(reshape(r->u, x, 5, pairs, half, error));
  CM_TRY(slice(r->u, *half, 4, (int64_t[]){i, i + 1}, half, error));
  return reshape(r->u, *half, 4, r->dims, half, error);
}

/* a * b - c * d, or the sum of both. */
static cm_status cross(rotary *r, const uint32_t first[2], const uint32_t second[2], const char *op, uint32_t *made, cm_error *error)
{
  uint32_t both[2];
  CM_TRY(cm_unroll_new(r->u, "Mul", first, 2, &both[0], error));
  CM_TRY(cm_unroll_new(r->u, "Mul", second, 2, &both[1], error));
  return cm_unroll_new(r->u, op, both, 2, made, error);
}

static cm_status rotary_join(rotary *r, uint32_t parts[2], uint32_t *made, cm_error *error)
{
  const int64_t last[5] = {r->dims[0], r->dims[1], r->dims[2], r->dims[3], 1}, all[4] = {r->dims[0], r->dims[1], r->dims[2], 2 * r->dims[3]};
  if (!r->pairs)
    return add_new(r->u, &(cm_new_node){"Concat", parts, 2, "axis", 3}, made, error);
  CM_TRY(reshape(r->u, parts[0], 5, last, &parts[0], error));
  CM_TRY(reshape(r->u, parts[1], 5, last, &parts[1], error));
  CM_TRY(add_new(r->u, &(cm_new_node){"Concat", parts, 2, "axis", 4}, made, error));
  return reshape(r->u, *made, 4, all, made, error);
}

/* The cosines or sines of every row, with a dimension for the heads. */
static cm_status rotary_table(rotary *r, const cm_node *n, uint32_t input, bool heads_first, uint32_t *table, cm_error *error)
{
  uint32_t both[2] = {n->inputs[input], input_of(n, 3)};
  const int64_t dims[4] = {r->dims[0], heads_first ? 1 : r->dims[1], heads_first ? r->dims[2] : 1, r->dims[3]};
  *table = both[0];
  CM_TRY_IF(both[1] != CM_NONE, add_new(r->u, &(cm_new_node){"Gather", both, 2, "axis", 0}, table, error));
  const cm_shape *s = shape_of(r->u, *table);
  uint64_t count, wanted;
  if (!cm_dims_count(s->rank, s->dims, &count) || !cm_dims_count(4, dims, &wanted) || count != wanted)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "its cosines, sines and places do not go with its input", error);
  return reshape(r->u, *table, 4, dims, table, error);
}

cm_status cm_unroll_rotary(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  CM_TRY(need_shapes(u, n, 3, error));
  const cm_shape x = *shape_of(u, n->inputs[0]);
  const bool heads_first = x.rank == 4;
  int64_t heads = heads_first ? x.dims[1] : cm_node_integer(n, "num_heads", 0), dims[4];
  uint32_t value = n->inputs[0], turned, half[2], cosine, sine, parts[2];
  if ((x.rank != 3 && x.rank != 4) || heads < 1 || x.dims[x.rank - 1] % (heads_first ? 1 : heads) != 0)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "needs four dimensions, or three and a number of heads that divides the last", error);
  memcpy(dims, heads_first ? x.dims : (int64_t[]){x.dims[0], x.dims[1], heads, x.dims[2] / heads}, sizeof dims);
  int64_t rotated = cm_node_integer(n, "rotary_embedding_dim", 0);
  rotated = rotated > 0 ? rotated : dims[3];
  if (rotated % 2 != 0 || rotated > dims[3])
    return cm_unroll_fail(n, CM_BAD_NETWORK, "cannot rotate that many numbers of a head", error);
  rotary r = {.u = u, .dims = {dims[0], dims[1], dims[2], rotated / 2}, .pairs = cm_node_integer(n, "interleaved", 0) != 0};
  CM_TRY_IF(!heads_first, reshape(u, value, 4, dims, &value, error));
  turned = value;
  if ((rotated < dims[3] && slice(u, value, 3, (int64_t[]){0, rotated}, &turned, error) != CM_OK) ||
      rotary_table(&r, n, 1, heads_first, &cosine, error) != CM_OK || rotary_table(&r, n, 2, heads_first, &sine, error) != CM_OK ||
      rotary_half(&r, turned, 0, &half[0], error) != CM_OK || rotary_half(&r, turned, 1, &half[1], error) != CM_OK ||
      cross(&r, (uint32_t[]){half[0], cosine}, (uint32_t[]){half[1], sine}, "Sub", &parts[0], error) != CM_OK ||
      cross(&r, (uint32_t[]){half[0], sine}, (uint32_t[]){half[1], cosine}, "Add", &parts[1], error) != CM_OK || rotary_join(&r, parts, &turned, error) != CM_OK)
    return error->status;
  if (rotated < dims[3]) {
    uint32_t both[2] = {turned};
    CM_TRY(slice(u, value, 3, (int64_t[]){rotated, dims[3]}, &both[1], error));
    CM_TRY(add_new(u, &(cm_new_node){"Concat", both, 2, "axis", 3}, &turned, error));
  }
  CM_TRY_IF(!heads_first, reshape(u, turned, 3, x.dims, &turned, error));
  return cm_unroll_hand_over(u, turned, n->outputs[0], error);
}

/* ---- CenterCropPad ---- */

cm_status cm_unroll_center(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  const cm_attribute *axes = cm_node_attribute(n, "axes");
  int64_t pads[2 * CM_RANK_MAX] = {0};
  bool padded = false;
  CM_TRY(need_shapes(u, n, 2, error));
  const cm_tensor *size = u->model->values[n->inputs[1]].tensor;
  const uint32_t rank = shape_of(u, n->inputs[0])->rank;
  uint32_t value = n->inputs[0], inputs[2];
  if (size == NULL || size->count > rank || (axes != NULL ? axes->count : rank) != size->count)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "needs a shape that is known before the model runs, a number an axis", error);
  for (uint32_t i = 0; i < size->count; i++) {
    int64_t axis = axes != NULL ? axes->integers[i] : (int64_t)i, wanted = cm_tensor_integer(size, i);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || wanted < 0)
      return cm_unroll_fail(n, CM_BAD_NETWORK, "its axes or its shape make no sense", error);
    int64_t extent = shape_of(u, value)->dims[axis], from = (extent - wanted) / 2;
    CM_TRY_IF(wanted < extent, slice(u, value, axis, (int64_t[]){from, from + wanted}, &value, error));
    if (wanted > extent) {
      padded = true;
      pads[axis] = (wanted - extent) / 2;
      pads[rank + axis] = wanted - extent - pads[axis];
    }
  }
  inputs[0] = value;
  if (padded && (cm_model_add_integers(u->model, "pads", pads, (size_t)2 * rank, &inputs[1], error) != CM_OK ||
                 cm_unroll_new(u, "Pad", inputs, 2, &value, error) != CM_OK))
    return error->status;
  return cm_unroll_hand_over(u, value, n->outputs[0], error);
}
