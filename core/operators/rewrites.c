/* Operators of others as standard ones: the texts of rewrites.def, read once for each node that they stand for. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
    if (read_operand(r, o, error) != CM_OK ||
        (strncmp(r->at, "...", 3) == 0 && repeat_operand(r, from, r->inputs_read - before, o, error) != CM_OK))
      return error->status;
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
  if (cm_model_add_named(m, "turned", value, error) != CM_OK || cm_model_add_node(m, "Transpose", &from, 1, value, 1, &node, error) != CM_OK ||
      cm_node_set_integers(m, &m->nodes[node], "perm", perm, rank, error) != CM_OK)
    return error->status;
  return r->u->walk(r->u, node, error);
}

/* Of a table with a row a position the first, as many as the last dimension of `like`; what is no table stays. */
static cm_status first_rows(cm_rewriting *r, const operands *o, uint32_t *value, cm_error *error)
{
  cm_model *m = r->u->model;
  const cm_shape rowed = m->values[o->value[0]].shape, like = m->values[o->value[1]].shape;
  cm_tensor *rows;
  uint32_t both[2] = {o->value[0]}, node;
  if (rowed.rank != 2)
    return CM_OK;
  if (like.rank == CM_UNKNOWN_RANK || like.rank == 0 || like.dims[like.rank - 1] < 0)
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "needs inputs whose shapes are known", error);
  if (cm_tensor_new(r->u->run->memory, CM_INT64, 1, &like.dims[like.rank - 1], &rows, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < rows->count; i++)
    ((int64_t *)rows->data)[i] = (int64_t)i;
  cm_status status = cm_model_add_constant(m, "rows", rows, &both[1], error);
  cm_tensor_free(rows);
  if (status != CM_OK || cm_model_add_named(m, "first", value, error) != CM_OK || cm_model_add_node(m, "Gather", both, 2, value, 1, &node, error) != CM_OK)
    return error->status;
  return r->u->walk(r->u, node, error);
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
  if (status == CM_OK)
    status = cm_rewriting_attributes(r, &like, error);
  outputs[0] = o.count > 0 ? o.value[0] : CM_NONE;
  if (status != CM_OK || r->dry > 0 || o.missing)
    ;
  else if (strcmp(op, "FirstRows") == 0)
    status = first_rows(r, &o, &outputs[0], error);
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
    if (status == CM_OK)
      status = cm_model_add_node(m, op, o.value, o.count, outputs, count, &node, error);
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
    if (make_node(r, op, values, names, error) != CM_OK)
      return error->status;
  } else {
    cm_rewriting_skip(r, "");
    if (names == 0 && isdigit((unsigned char)*r->at) && r->at[1] == ':') {
      output = (uint32_t)cm_rewriting_number(r);
      cm_rewriting_skip(r, ":");
    }
    const bool last = names == 0 && output < r->n->output_count;
    values[0] = last ? r->n->outputs[output] : CM_NONE;
    if (read_expression(r, &values[0], &ignored, error) != CM_OK)
      return error->status;
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
  char name[CM_REWRITE_NAME_MAX], text[160];
  for (r->at = needs; *r->at != '\0'; cm_rewriting_skip(r, "")) {
    if (cm_rewriting_takes(r, "%")) {
      const uint32_t input = (uint32_t)cm_rewriting_number(r), value = input < r->n->input_count ? r->n->inputs[input] : CM_NONE;
      cm_rewriting_skip(r, ":");
      const uint32_t wanted = (uint32_t)cm_rewriting_number(r), rank = value != CM_NONE ? r->u->model->values[value].shape.rank : wanted;
      if (rank != wanted) {
        (void)snprintf(text, sizeof text, "its input %u should have %u dimensions", input, wanted);
        return cm_unroll_fail(r->n, CM_BAD_NETWORK, text, error);
      }
      continue;
    }
    cm_rewriting_name(r, name);
    cm_rewriting_skip(r, "=");
    const double wanted = cm_rewriting_number(r), is = cm_rewriting_attribute_number(cm_node_attribute(r->n, name), wanted);
    if (is < wanted || is > wanted) {
      (void)snprintf(text, sizeof text, "its attribute %s is %g; only %g is understood", name, is, wanted);
      return cm_unroll_fail(r->n, CM_BAD_NETWORK, text, error);
    }
  }
  return CM_OK;
}

cm_status cm_unroll_rewrite(cm_unrolling *u, const cm_node *n, const cm_rewrite *row, cm_error *error)
{
  cm_rewriting r = {.u = u, .n = n};
  uint64_t made = 0;
  char text[80];
  if (check_needs(&r, row->needs, error) != CM_OK)
    return error->status;
  for (r.at = row->text; *r.at != '\0'; cm_rewriting_skip(&r, ";"))
    if (read_statement(&r, &made, error) != CM_OK)
      return error->status;
  for (uint32_t i = 0; i < n->input_count; i++)
    if (n->inputs[i] != CM_NONE && (i >= 64 || (r.named >> i & 1) == 0)) {
      (void)snprintf(text, sizeof text, "its input %u is not understood", i);
      return cm_unroll_fail(n, CM_BAD_NETWORK, text, error);
    }
  for (uint32_t o = 0; o < n->output_count; o++)
    if ((made >> o & 1) == 0 && u->model->values[n->outputs[o]].use_count > 0) {
      (void)snprintf(text, sizeof text, "its output %u is not computed", o);
      return cm_unroll_fail(n, CM_BAD_NETWORK, text, error);
    }
  return CM_OK;
}
