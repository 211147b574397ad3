/* Operators of others as standard ones: the texts of rewrites.def, read once for each node that they stand for. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/rewriting.h"

enum { OPERANDS_MAX = 64, OUTPUTS_MAX = 4 };

static const cm_rewrite table[] = {
#define REWRITE(domain, name, needs, text) {domain, name, needs, text},
#include "core/operators/rewrites.def"
#undef REWRITE
  {0},
};

const cm_rewrite *cm_rewrite_table(void)
{
  return table;
}

const cm_rewrite *cm_rewrite_find(const cm_node *node)
{
  for (const cm_rewrite *r = table; r->name != NULL; r++)
    if (strcmp(node->op, r->name) == 0 && strcmp(node->domain, r->domain) == 0)
      return r;
  return NULL;
}

typedef struct operands {
  uint32_t value[OPERANDS_MAX], count;
  bool missing; /* one that may be is left out: the node is its first operand */
} operands;

/* ---- expressions ---- */

static cm_status read_expression(cm_rewriting *r, uint32_t *value, bool *optional, cm_error *error);

static cm_status read_input(cm_rewriting *r, uint32_t *value)
{
  const uint32_t input = (uint32_t)cm_rewriting_number(r) + r->shift;
  *value = input < r->n->input_count ? r->n->inputs[input] : CM_NONE;
  r->named |= input < 64 ? UINT64_C(1) << input : 0;
  r->inputs_read++;
  return CM_OK;
}

static cm_status make_number(cm_rewriting *r, double x, uint32_t *value, cm_error *error)
{
  const cm_type type = r->n->input_count > 0 && r->n->inputs[0] != CM_NONE ? r->u->model->values[r->n->inputs[0]].shape.type : CM_FLOAT;
  const bool real = type == CM_FLOAT16 || type == CM_BFLOAT16 || type == CM_DOUBLE;
  return r->dry > 0 ? CM_OK : cm_unroll_number(r->u, real ? type : CM_FLOAT, x, value, error);
}

static cm_status read_operand(cm_rewriting *r, operands *o, cm_error *error)
{
  bool optional = false;
  uint32_t value = CM_NONE;
  if (o->count == OPERANDS_MAX)
    return cm_unroll_fail(r->n, CM_TOO_LARGE, "has too many inputs", error);
  r->dry += o->missing;
  cm_status status = read_expression(r, &value, &optional, error);
  r->dry -= o->missing;
  o->missing = o->missing || (optional && value == CM_NONE);
  o->value[o->count++] = value;
  return status;
}

/* What stands before "..." again, for the inputs that follow, `step` at a time. */
static cm_status repeat_operand(cm_rewriting *r, const char *from, uint32_t step, operands *o, cm_error *error)
{
  const char *end = r->at;
  const uint32_t before = r->shift;
  uint32_t next = 0;
  while (next < 64 && (r->named >> next) != 0)
    next++;
  cm_status status = CM_OK;
  for (; status == CM_OK && step > 0 && next < r->n->input_count && next < 64; next += step) {
    r->shift += step;
    r->at = from;
    status = read_operand(r, o, error);
  }
  r->shift = before;
  r->at = end;
  cm_rewriting_skip(r, "...");
  return status;
}

static cm_status read_operands(cm_rewriting *r, operands *o, cm_error *error)
{
  *o = (operands){.count = 0};
  cm_rewriting_skip(r, "(");
  while (!cm_rewriting_takes(r, ")")) {
    cm_rewriting_skip(r, ",");
    const char *from = r->at;
    const uint32_t before = r->inputs_read;
    CM_TRY(read_operand(r, o, error));
    CM_TRY_IF(strncmp(r->at, "...", 3) == 0, repeat_operand(r, from, r->inputs_read - before, o, error));
  }
  return CM_OK;
}

/* A Transpose of a matrix or several: the first dimension goes behind those of the batch (`batch`), then the last two are exchanged (`matrix`). */
static cm_status turn(cm_rewriting *r, uint32_t from, bool batch, bool matrix, uint32_t *value, cm_error *error)
{
  cm_model *m = r->u->model;
  int64_t perm[CM_RANK_MAX];
  uint32_t node;
  const uint32_t rank = m->values[from].shape.rank;
  if (rank == CM_UNKNOWN_RANK || rank < 2)
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "needs matrices whose rank is known", error);
  for (uint32_t i = 0; i < rank; i++)
    perm[i] = !batch || i + 1 == rank ? i : i + 2 < rank ? i + 1 : 0;
  if (matrix) {
    const int64_t last = perm[rank - 1];
    perm[rank - 1] = perm[rank - 2];
    perm[rank - 2] = last;
  }
  CM_TRY(cm_model_add_named(m, "turned", value, error));
  CM_TRY(cm_model_add_node(m, "Transpose", &from, 1, value, 1, &node, error));
  CM_TRY(cm_node_set_integers(m, &m->nodes[node], "perm", perm, rank, error));
  return r->u->walk(r->u, node, error);
}

/* Of a table with a row a position the first, as many as the last dimension of `like`; what is no table stays. */
static cm_status first_rows(cm_rewriting *r, const operands *o, uint32_t *value, cm_error *error)
{
  cm_model *m = r->u->model;
  const cm_shape rowed = m->values[o->value[0]].shape, like = m->values[o->value[1]].shape;
  cm_tensor *rows;
  uint32_t both[2] = {o->value[0]};
  if (rowed.rank != 2)
    return CM_OK;
  if (like.rank == CM_UNKNOWN_RANK || like.rank == 0 || like.dims[like.rank - 1] < 0)
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "needs inputs whose shapes are known", error);
  CM_TRY(cm_tensor_new(r->u->run->memory, CM_INT64, 1, &like.dims[like.rank - 1], &rows, error));
  for (uint64_t i = 0; i < rows->count; i++)
    ((int64_t *)rows->data)[i] = (int64_t)i;
  cm_status status = cm_model_add_constant(m, "rows", rows, &both[1], error);
  cm_tensor_free(rows);
  return status == CM_OK ? cm_unroll_new(r->u, "Gather", both, 2, value, error) : status;
}

/* What seqlens_k, the place of each frame's last key, says: the places of its queries [frames, rows], or which keys it has (`seen`), with the bias. A length that
 * comes when it runs picks a row of a table, so that none reads beyond what there is; one of total_sequence_length that is less stands for it. */
static cm_status lengths(cm_rewriting *r, const operands *o, bool seen, uint32_t *value, cm_error *error)
{
  cm_unrolling *u = r->u;
  cm_model *m = u->model;
  const cm_shape *x = &m->values[o->value[0]].shape, *past = o->value[1] != CM_NONE ? &m->values[o->value[1]].shape : NULL;
  uint32_t both[2] = {CM_NONE, o->value[2]}, least[2] = {o->value[2], o->value[3]}, one;
  const cm_tensor *last = NULL, *total = NULL;
  cm_tensor *made;
  if (!cm_shape_known(x) || (past != NULL && (!cm_shape_known(past) || past->rank != 4)))
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "needs inputs whose shapes are known, of its past four dimensions", error);
  const int64_t before = past != NULL ? past->dims[2] : 0, frames = x->dims[0], rows = x->dims[1], all = before + rows;
  CM_TRY_IF(least[0] != CM_NONE && m->values[least[0]].constant, cm_constant_tensor(m, least[0], u->run, &last, error));
  CM_TRY_IF(least[1] != CM_NONE && m->values[least[1]].constant, cm_constant_tensor(m, least[1], u->run, &total, error));
  if (total != NULL && (total->count != 1 || cm_tensor_integer(total, 0) != all))
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, cm_say("its total_sequence_length should be %lld, the rows of its past and its own", (long long)all).text, error);
  bool full = least[0] == CM_NONE || last != NULL;
  for (uint64_t i = 0; last != NULL && i < last->count; i++)
    full = full && cm_tensor_integer(last, i) == all - 1;
  *value = o->value[4];
  if (full && seen)
    return CM_OK;
  const cm_shape *k = full ? NULL : &m->values[least[0]].shape;
  if (k != NULL && (k->rank != 1 || k->dims[0] != frames))
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, cm_say("its seqlens_k should be a list of %lld", (long long)frames).text, error);
  const int64_t width = seen ? all : rows;
  CM_TRY(cm_tensor_new(u->run->memory, seen ? CM_BOOL : CM_INT64, seen ? 4 : 2, seen ? (int64_t[]){all, 1, 1, all} : (int64_t[]){full ? frames : all, rows}, &made, error));
  for (uint64_t i = 0; i < made->count; i++) {
    const int64_t at = (int64_t)i % width, end = full ? all : (int64_t)i / width + 1, first = end > rows ? end - rows : 0;
    cm_tensor_put_integer(made, i, !seen ? first + at : at < before ? at < first : at - before < end);
  }
  cm_status status = cm_model_add_constant(m, "lengths", made, full ? value : &both[0], error);
  cm_tensor_free(made);
  if (status != CM_OK || full)
    return status;
  if (least[1] != CM_NONE && total == NULL) {
    CM_TRY(cm_unroll_number(u, m->values[least[1]].shape.type, 1, &one, error));
    CM_TRY(cm_unroll_new(u, "Add", (uint32_t[]){least[0], one}, 2, &least[0], error)); /* the largest and the least number wrap to what is outside */
    CM_TRY(cm_unroll_new(u, "Min", least, 2, &both[1], error));
    CM_TRY(cm_unroll_new(u, "Sub", (uint32_t[]){both[1], one}, 2, &both[1], error));
  }
  CM_TRY(cm_unroll_new(u, "Gather", both, 2, &both[0], error));
  if (!seen || *value == CM_NONE)
    *value = both[0];
  else {
    CM_TRY(cm_unroll_number(u, m->values[*value].shape.type, -INFINITY, &one, error));
    CM_TRY(cm_unroll_new(u, "Where", (uint32_t[]){both[0], *value, one}, 3, value, error));
  }
  return CM_OK;
}

/* A code of so many bits, the first in the lowest ones. */
static unsigned code_at(const cm_tensor *codes, uint64_t row_bytes, uint64_t row, uint64_t index, unsigned bits)
{
  const uint8_t byte = ((const uint8_t *)codes->data)[row * row_bytes + index * bits / 8];
  return (unsigned)byte >> index * bits % 8 & ((1U << bits) - 1);
}

/* Weights [K, N] of codes [N, blocks, block_size] with a scale and a zero point for each block, which are packed too or numbers. */
static cm_status unpack(cm_rewriting *r, const operands *o, uint32_t *value, cm_error *error)
{
  cm_model *m = r->u->model;
  const int64_t k = cm_node_integer(r->n, "K", 0), n = cm_node_integer(r->n, "N", 0), size = cm_node_integer(r->n, "block_size", 0), bits = cm_node_integer(r->n, "bits", 4);
  const int64_t blocks = size > 0 ? (k - 1) / size + 1 : 0;
  const cm_tensor *given[3] = {NULL};
  cm_tensor *made;
  for (uint32_t i = 0; i < 3; i++)
    if (o->value[i] != CM_NONE) {
      if (!m->values[o->value[i]].constant)
        return cm_unroll_fail(r->n, CM_BAD_NETWORK, "has packed weights, scales or zero points that are no constants", error);
      CM_TRY(cm_constant_tensor(m, o->value[i], r->u->run, &given[i], error));
    }
  const cm_tensor *codes = given[0], *scales = given[1], *zeros = given[2];
  const bool right = k > 0 && n > 0 && size > 0 && size <= INT32_MAX && (bits == 2 || bits == 4 || bits == 8) && size * bits % 8 == 0 && codes != NULL && scales != NULL &&
                     codes->type == CM_UINT8 && (double)codes->count == (double)n * (double)blocks * (double)(size * bits / 8) &&
                     (double)scales->count == (double)n * (double)blocks;
  const int64_t zero_bytes = right ? (blocks * bits + 7) / 8 : 0;
  const bool packed = zeros != NULL && zeros->type == CM_UINT8;
  if (!right || (zeros != NULL && zeros->count != (uint64_t)(n * (packed ? zero_bytes : blocks))))
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "has packed weights, scales or zero points that do not go with K, N, bits and block_size", error);
  CM_TRY(cm_tensor_new(r->u->run->memory, scales->type, 2, (int64_t[]){k, n}, &made, error));
  for (int64_t row = 0; row < n; row++)
    for (int64_t i = 0; i < k; i++) {
      const uint64_t block = (uint64_t)(row * blocks + i / size);
      const double zero = zeros == NULL ? (double)(1 << (bits - 1))
                          : packed      ? code_at(zeros, (uint64_t)zero_bytes, (uint64_t)row, (uint64_t)(i / size), (unsigned)bits)
                                        : cm_tensor_number(zeros, block);
      const double code = code_at(codes, (uint64_t)(blocks * size * bits / 8), (uint64_t)row, (uint64_t)i, (unsigned)bits);
      cm_tensor_put_number(made, (uint64_t)(i * n + row), (code - zero) * cm_tensor_number(scales, block), false);
    }
  const cm_status status = cm_model_add_constant(m, "unpacked", made, value, error);
  cm_tensor_free(made);
  return status;
}

/* Op(...){...}: `count` outputs; outputs[0] CM_NONE: a new value. */
static cm_status make_node(cm_rewriting *r, const char *op, uint32_t *outputs, uint32_t count, cm_error *error)
{
  cm_model *m = r->u->model;
  operands o;
  cm_node like = {.name = ""};
  uint32_t node;
  const uint32_t first = outputs[0];
  cm_status status = read_operands(r, &o, error);
  CM_THEN(status, cm_rewriting_attributes(r, &like, error));
  outputs[0] = o.count > 0 ? o.value[0] : CM_NONE;
  if (status != CM_OK || r->dry > 0 || o.missing)
    ;
  else if (strcmp(op, "FirstRows") == 0)
    status = first_rows(r, &o, &outputs[0], error);
  else if (strcmp(op, "Lengths") == 0)
    status = lengths(r, &o, cm_node_integer(&like, "seen", 0) != 0, &outputs[0], error);
  else if (strcmp(op, "Unpacked") == 0)
    status = unpack(r, &o, &outputs[0], error);
  else if (strcmp(op, "Turned") == 0) {
    const bool matrix = cm_node_integer(&like, "if", 0) != 0, batch = cm_node_integer(&like, "batch", 0) != 0;
    status = matrix || batch ? turn(r, o.value[0], batch, matrix, &outputs[0], error) : CM_OK;
  }
  else {
    while (o.count > 0 && o.value[o.count - 1] == CM_NONE)
      o.count--;
    outputs[0] = first;
    for (uint32_t i = first != CM_NONE; i < count && status == CM_OK; i++)
      status = cm_model_add_named(m, op, &outputs[i], error);
    CM_THEN(status, cm_model_add_node(m, op, o.value, o.count, outputs, count, &node, error));
    if (status == CM_OK) {
      m->nodes[node].name = r->n->name;
      m->nodes[node].attributes = like.attributes;
      m->nodes[node].attribute_count = like.attribute_count;
      return r->u->walk(r->u, node, error);
    }
  }
  for (size_t i = 0; i < like.attribute_count; i++)
    cm_tensor_free(like.attributes[i].tensor);
  return status;
}

static cm_status read_term(cm_rewriting *r, uint32_t *value, cm_error *error)
{
  char name[CM_REWRITE_NAME_MAX];
  if (cm_rewriting_takes(r, "%"))
    return read_input(r, value);
  if (cm_rewriting_takes(r, "#")) {
    cm_rewriting_name(r, name);
    cm_rewriting_skip(r, ":");
    return make_number(r, cm_rewriting_attribute_number(cm_node_attribute(r->n, name), cm_rewriting_number(r)), value, error);
  }
  if (*r->at == '-' || isdigit((unsigned char)*r->at))
    return make_number(r, cm_rewriting_number(r), value, error);
  const bool told = cm_rewriting_takes(r, "@");
  cm_rewriting_name(r, name);
  const char *op = told ? cm_node_text(r->n, name, "") : name;
  if (*r->at == '(')
    return make_node(r, op, value, 1, error);
  for (size_t i = 0; i < r->bound_count; i++)
    if (strcmp(r->bound[i].name, name) == 0)
      *value = r->bound[i].value;
  return CM_OK;
}

static cm_status read_expression(cm_rewriting *r, uint32_t *value, bool *optional, cm_error *error)
{
  const cm_status status = read_term(r, value, error);
  *optional = status == CM_OK && cm_rewriting_takes(r, "?");
  return status;
}

/* ---- statements ---- */

/* NAME, ... = of a statement; their number. */
static uint32_t read_names(cm_rewriting *r)
{
  const char *end = r->at + strcspn(r->at, ";");
  const char *equals = memchr(r->at, '=', (size_t)(end - r->at)), *open = memchr(r->at, '(', (size_t)(end - r->at));
  uint32_t count = 0;
  if (equals == NULL || (open != NULL && open < equals))
    return 0;
  while (!cm_rewriting_takes(r, "=")) {
    cm_rewriting_name(r, r->bound[r->bound_count + count++].name);
    cm_rewriting_skip(r, ",");
  }
  return count;
}

static cm_status read_statement(cm_rewriting *r, uint64_t *made, cm_error *error)
{
  char op[CM_REWRITE_NAME_MAX];
  uint32_t values[OUTPUTS_MAX] = {CM_NONE, CM_NONE, CM_NONE, CM_NONE}, output = 0;
  bool ignored;
  const uint32_t names = read_names(r);
  if (names > 1) {
    cm_rewriting_name(r, op);
    CM_TRY(make_node(r, op, values, names, error));
  } else {
    cm_rewriting_skip(r, "");
    if (names == 0 && isdigit((unsigned char)*r->at) && r->at[1] == ':') {
      output = (uint32_t)cm_rewriting_number(r);
      cm_rewriting_skip(r, ":");
    }
    const bool last = names == 0 && output < r->n->output_count;
    values[0] = last ? r->n->outputs[output] : CM_NONE;
    CM_TRY(read_expression(r, &values[0], &ignored, error));
  }
  for (uint32_t i = 0; i < names; i++)
    r->bound[r->bound_count++].value = values[i];
  if (names > 0 || output >= r->n->output_count)
    return CM_OK;
  *made |= UINT64_C(1) << output;
  return values[0] == r->n->outputs[output] ? CM_OK : cm_unroll_hand_over(r->u, values[0], r->n->outputs[output], error);
}

/* Attributes are as the row needs them, and inputs of the ranks. */
static cm_status check_needs(cm_rewriting *r, const char *needs, cm_error *error)
{
  char name[CM_REWRITE_NAME_MAX];
  for (r->at = needs; *r->at != '\0'; cm_rewriting_skip(r, "")) {
    if (cm_rewriting_takes(r, "%")) {
      const uint32_t input = (uint32_t)cm_rewriting_number(r), value = input < r->n->input_count ? r->n->inputs[input] : CM_NONE;
      cm_rewriting_skip(r, ":");
      const uint32_t wanted = (uint32_t)cm_rewriting_number(r), rank = value != CM_NONE ? r->u->model->values[value].shape.rank : wanted;
      if (rank != wanted)
        return cm_unroll_fail(r->n, CM_BAD_NETWORK, cm_say("its input %u should have %u dimensions", input, wanted).text, error);
      continue;
    }
    cm_rewriting_name(r, name);
    cm_rewriting_skip(r, "=");
    const double wanted = cm_rewriting_number(r), is = cm_rewriting_attribute_number(cm_node_attribute(r->n, name), wanted);
    if (is < wanted || is > wanted)
      return cm_unroll_fail(r->n, CM_BAD_NETWORK, cm_say("its attribute %s is %g; only %g is understood", name, is, wanted).text, error);
  }
  return CM_OK;
}

cm_status cm_unroll_rewrite(cm_unrolling *u, const cm_node *n, const cm_rewrite *row, cm_error *error)
{
  cm_rewriting r = {.u = u, .n = n};
  uint64_t made = 0;
  CM_TRY(check_needs(&r, row->needs, error));
  for (r.at = row->text; *r.at != '\0'; cm_rewriting_skip(&r, ";"))
    CM_TRY(read_statement(&r, &made, error));
  for (uint32_t i = 0; i < n->input_count; i++)
    if (n->inputs[i] != CM_NONE && (i >= 64 || (r.named >> i & 1) == 0))
      return cm_unroll_fail(n, CM_BAD_NETWORK, cm_say("its input %u is not understood", i).text, error);
  for (uint32_t o = 0; o < n->output_count; o++)
    if ((made >> o & 1) == 0 && u->model->values[n->outputs[o]].use_count > 0)
      return cm_unroll_fail(n, CM_BAD_NETWORK, cm_say("its output %u is not computed", o).text, error);
  return CM_OK;
}
