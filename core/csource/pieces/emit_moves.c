/* Operators that move elements: the evaluator does it with the numbers of elements in place of elements, and what it makes says where each
 * comes from. A box of the output is written where places are a sum of what each index adds. */
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/csource/text/writer.h"

static const int64_t single_most = 1 << 24; /* numbers that float32 counts */

/* Where the elements of an output come from: a number of an element of all inputs together, from 1; 0: it is filled. */
typedef struct origins {
  cm_c_piece *piece;
  const cm_shape *shape;
  int64_t *from, strides[CM_RANK_MAX];
  int64_t first[CM_C_STREAMS + 1]; /* by moved input: its first number */
  char at[CM_C_STREAMS][CM_C_AT_MAX];
  uint32_t inputs; /* that are moved */
} origins;

static bool is_moved(const cm_c_piece *piece, uint32_t input)
{
  return input == 0 || piece->call.node->known->kernel == cm_kernel_concat;
}

/* A tensor like an input that holds its elements' numbers. */
static cm_status numbered(const cm_c_piece *piece, uint32_t input, int64_t first, cm_tensor **made, cm_error *error)
{
  const cm_shape *x = &piece->call.input[input];
  const bool single = piece->call.node->known->kernel == cm_kernel_resize;
  if (single && cm_c_count(x->rank, x->dims) >= single_most)
    return cm_c_refuse(piece, error, "resizes more than %lld elements, of which C is not written", (long long)single_most);
  CM_TRY(cm_tensor_new(piece->w->memory, single ? CM_FLOAT : CM_INT64, x->rank, x->dims, made, error));
  for (uint64_t i = 0; i < (*made)->count; i++)
    cm_tensor_put_number(*made, i, (double)(first + (int64_t)i), false);
  return CM_OK;
}

/* What the evaluator makes of numbers. `results` has room for all outputs. */
static cm_status trace(origins *o, cm_tensor **results, cm_error *error)
{
  cm_c_piece *piece = o->piece;
  const cm_call *call = &piece->call;
  cm_tensor **tensors;
  int64_t first = 1;
  CM_TRY(CM_NEW(piece->w->memory, tensors, call->input_count + 1, error));
  cm_status status = CM_OK;
  for (uint32_t k = 0; status == CM_OK && k < call->input_count; k++) {
    if (!cm_has(call, k))
      continue;
    if (!is_moved(piece, k)) {
      tensors[k] = cm_tensor_share(call->value[k]);
      status = tensors[k] != NULL ? CM_OK : cm_c_refuse(piece, error, "has an input %u that is no constant, of which C is not written", k);
      continue;
    }
    if (o->inputs == CM_C_STREAMS)
      status = cm_c_refuse(piece, error, "joins more than %d inputs, of which C is not written", CM_C_STREAMS);
    CM_THEN(status, numbered(piece, k, first, &tensors[k], error));
    if (status != CM_OK)
      break;
    o->first[o->inputs] = first;
    first += (int64_t)tensors[k]->count;
    status = cm_c_input(piece, k, o->at[o->inputs++], error);
  }
  o->first[o->inputs] = first;
  CM_THEN(status, cm_evaluate_node(call->node, call->opset, tensors, piece->w->memory, results, error));
  for (uint32_t k = 0; k < call->input_count; k++)
    cm_tensor_free(tensors[k]);
  cm_free(tensors);
  return status;
}

/* ---- boxes ---- */

typedef struct box {
  int64_t from[CM_RANK_MAX], extent[CM_RANK_MAX];
} box;

static int64_t corner(const origins *o, const box *b)
{
  int64_t at = 0;
  for (uint32_t d = 0; d < o->shape->rank; d++)
    at += b->from[d] * o->strides[d];
  return at;
}

/* The moved input that a box begins in. */
static uint32_t input_at(const origins *o, const box *b)
{
  uint32_t input = 0;
  while (o->from[corner(o, b)] >= o->first[input + 1])
    input++;
  return input;
}

/* Whether the places of a box are a sum of what its indices add. */
static bool adds_up(const origins *o, const box *b)
{
  const int64_t base = corner(o, b);
  int64_t index[CM_RANK_MAX] = {0};
  do {
    int64_t at = base, sum = o->from[base];
    for (uint32_t d = 0; d < o->shape->rank; d++) {
      at += index[d] * o->strides[d];
      sum += o->from[base + index[d] * o->strides[d]] - o->from[base];
    }
    if (o->from[at] != sum)
      return false;
  } while (cm_next_index(o->shape->rank, b->extent, index));
  return true;
}

static cm_status table(const origins *o, const box *b, uint32_t d, cm_c_stream *from, cm_error *error)
{
  const int64_t base = corner(o, b);
  cm_tensor *t;
  char at[CM_C_AT_MAX];
  CM_TRY(cm_tensor_new(o->piece->w->memory, CM_INT32, 1, &b->extent[d], &t, error));
  for (int64_t i = 0; i < b->extent[d]; i++)
    ((int32_t *)t->data)[i] = (int32_t)(o->from[base + i * o->strides[d]] - o->from[base]);
  const cm_status status = cm_c_array(o->piece->w, t, at, error);
  cm_tensor_free(t);
  if (status == CM_OK && (from->table[d] = cm_arena_text(&o->piece->w->names, at, strlen(at), error)) == NULL)
    return error->status;
  return status;
}

static cm_status copy(const origins *o, const box *b, const char *to_at, cm_error *error)
{
  const int64_t base = corner(o, b);
  const uint32_t input = input_at(o, b);
  cm_c_stream to = {.type = o->shape->type}, from = {.type = o->shape->type};
  (void)snprintf(to.at, sizeof to.at, base > 0 ? "%.70s + %lld" : "%.70s", to_at, (long long)base);
  (void)snprintf(from.at, sizeof from.at, o->from[base] > o->first[input] ? "%.70s + %lld" : "%.70s", o->at[input],
                 (long long)(o->from[base] - o->first[input]));
  memcpy(to.strides, o->strides, sizeof to.strides);
  for (uint32_t d = 0; d < o->shape->rank; d++) {
    const int64_t step = b->extent[d] > 1 ? o->from[base + o->strides[d]] - o->from[base] : 0;
    bool even = true;
    for (int64_t i = 0; i < b->extent[d]; i++)
      even = even && o->from[base + i * o->strides[d]] == o->from[base] + i * step;
    from.strides[d] = even ? step : 0;
    if (!even && table(o, b, d, &from, error) != CM_OK)
      return error->status;
  }
  return cm_c_copy(o->piece, o->shape->rank, b->extent, &to, &from, error);
}

/* All of an output by a table of places. */
static cm_status copy_each(const origins *o, int64_t count, const char *to_at, cm_error *error)
{
  const box all = {.extent = {count}};
  origins flat = {.piece = o->piece, .from = o->from, .strides = {1}};
  cm_shape shape = {.rank = 1};
  cm_c_stream to = {.type = o->shape->type, .strides = {1}}, from = {.type = o->shape->type};
  flat.shape = &shape;
  CM_TRY(table(&flat, &all, 0, &from, error));
  (void)snprintf(to.at, sizeof to.at, "%s", to_at);
  (void)snprintf(from.at, sizeof from.at, "%.70s + %lld", o->at[0], (long long)(o->from[0] - o->first[0]));
  return cm_c_copy(o->piece, 1, &count, &to, &from, error);
}

/* The box of what is not filled; false where that is no box. */
static bool kept(const origins *o, box *b, int64_t count)
{
  int64_t index[CM_RANK_MAX] = {0}, end[CM_RANK_MAX] = {0}, all = 1, there = 0, at = 0;
  for (uint32_t d = 0; d < o->shape->rank; d++)
    b->from[d] = o->shape->dims[d];
  for (; at < count; there += o->from[at++] != 0, (void)cm_next_index(o->shape->rank, o->shape->dims, index))
    for (uint32_t d = 0; o->from[at] != 0 && d < o->shape->rank; d++) {
      b->from[d] = index[d] < b->from[d] ? index[d] : b->from[d];
      end[d] = index[d] + 1 > end[d] ? index[d] + 1 : end[d];
    }
  for (uint32_t d = 0; d < o->shape->rank; d++) {
    b->extent[d] = end[d] - b->from[d];
    all *= b->extent[d];
  }
  return there == 0 || all == there;
}

/* What filled elements are. */
static cm_status fill(const origins *o, const char *at, int64_t count, cm_error *error)
{
  const cm_call *call = &o->piece->call;
  const cm_type type = o->shape->type;
  char number[48], expression[80];
  double value = (double)cm_node_number(call->node, "value", 0);
  if (cm_has(call, 2) && call->node->known->kernel == cm_kernel_pad && call->value[2] != NULL && call->value[2]->count == 1)
    value = cm_tensor_number(call->value[2], 0);
  if (type == CM_FLOAT)
    cm_c_number(value, true, number);
  else
    (void)snprintf(number, sizeof number, "%lld", (long long)value);
  (void)snprintf(expression, sizeof expression, "(%s)%s", cm_c_type(type), number);
  cm_c_pointwise p = {.stem = "fill", .rank = 1, .output_count = 1, .dims = {count}, .expressions = {expression}};
  p.outputs[0] = (cm_c_stream){.type = type, .strides = {1}};
  (void)snprintf(p.outputs[0].at, sizeof p.outputs[0].at, "%s", at);
  return cm_c_pointwise_call(o->piece, &p, error);
}

/* Writes one output: boxes end where another input begins along one dimension. */
static cm_status write_output(origins *o, uint32_t output, const cm_tensor *result, cm_error *error)
{
  char at[CM_C_AT_MAX];
  box b = {{0}, {0}};
  const int64_t count = (int64_t)result->count;
  o->shape = &o->piece->call.output[output];
  cm_strides(o->shape->rank, o->shape->dims, o->strides);
  CM_TRY(CM_NEW(o->piece->w->memory, o->from, count + 1, error));
  for (int64_t i = 0; i < count; i++)
    o->from[i] = (int64_t)cm_tensor_number(result, (uint64_t)i);
  const bool box_kept = kept(o, &b, count);
  cm_status status = cm_c_output(o->piece, output, at, error);
  uint32_t axis = 0;
  if (status == CM_OK && o->piece->call.node->known->kernel == cm_kernel_concat)
    status = cm_call_axis(&o->piece->call, cm_node_integer(o->piece->call.node, "axis", 1), o->shape->rank, &axis, error);
  const int64_t end = o->shape->rank > 0 ? b.from[axis] + b.extent[axis] : 1;
  const bool filled = memcmp(b.extent, o->shape->dims, o->shape->rank * sizeof *b.extent) != 0;
  CM_THEN_IF(status, filled, fill(o, at, count, error));
  for (; status == CM_OK && b.from[axis] < end; b.from[axis] += b.extent[axis]) {
    b.extent[axis] = o->inputs > 1 ? o->piece->call.input[input_at(o, &b)].dims[axis] : end - b.from[axis];
    status = box_kept && adds_up(o, &b)  ? copy(o, &b, at, error)
             : o->inputs == 1 && !filled ? copy_each(o, count, at, error)
                                         : cm_c_refuse(o->piece, error, "moves elements in a way of which C is not written");
  }
  cm_free(o->from);
  return status;
}

cm_status cm_c_moved(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  origins o = {.piece = piece};
  cm_tensor **results;
  CM_TRY(CM_NEW(piece->w->memory, results, call->output_count + 1, error));
  cm_status status = trace(&o, results, error);
  for (uint32_t k = 0; status == CM_OK && k < call->output_count; k++)
    if (cm_c_makes(piece, k) && results[k] != NULL && results[k]->count > 0)
      status = write_output(&o, k, results[k], error);
  for (uint32_t k = 0; k < call->output_count; k++)
    cm_tensor_free(results[k]);
  cm_free(results);
  return status;
}
