/* Operators of others as standard ones: the texts of rewrites.def, read once for each node that they stand for. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/operators/operator.h"
#include "core/operators/unrolling.h"

enum { NAME_MAX_BYTES = 48, OPERANDS_MAX = 64, BOUND_MAX = 8, OUTPUTS_MAX = 4 };

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

/* One reading of a text. */
typedef struct rewriting {
  cm_unrolling *u;
  const cm_node *n;
  const char *at;
  struct {
    char name[NAME_MAX_BYTES];
    uint32_t value;
  } bound[BOUND_MAX];
  size_t bound_count;
  unsigned dry;      /* what is read is left out */
  uint32_t shift;    /* of the numbers of inputs, in what is repeated */
  uint64_t named;    /* inputs that the text names */
  uint32_t inputs_read; /* so many times one was named */
} rewriting;

typedef struct operands {
  uint32_t value[OPERANDS_MAX], count;
  bool missing; /* one that may be is left out: the node is its first operand */
} operands;

/* Whether this comes next, behind spaces; it is passed then. */
static bool takes(rewriting *r, const char *text)
{
  const size_t length = strlen(text);
  r->at += strspn(r->at, " ");
  if (strncmp(r->at, text, length) != 0)
    return false;
  r->at += length;
  return true;
}

static void skip(rewriting *r, const char *text)
{
  (void)takes(r, text);
  r->at += strspn(r->at, " ");
}

static void read_name(rewriting *r, char name[NAME_MAX_BYTES])
{
  size_t length = 0;
  skip(r, "");
  while ((isalnum((unsigned char)*r->at) || *r->at == '_') && length + 1 < NAME_MAX_BYTES)
    name[length++] = *r->at++;
  name[length] = '\0';
}

static double read_number(rewriting *r)
{
  char *end;
  const double x = strtod(r->at, &end);
  r->at = end;
  return x;
}

/* ---- attributes ---- */

static double number_of(const cm_attribute *a, double otherwise)
{
  if (a == NULL)
    return otherwise;
  return a->kind == CM_ATTRIBUTE_INT ? (double)a->integer : a->kind == CM_ATTRIBUTE_FLOAT ? (double)a->number
         : a->kind == CM_ATTRIBUTE_TENSOR && a->tensor->count == 1 && cm_type_bytes(a->tensor->type) > 0 ? cm_tensor_number(a->tensor, 0) : otherwise;
}

static cm_attribute integer(int64_t number)
{
  return (cm_attribute){.kind = CM_ATTRIBUTE_INT, .integer = number};
}

/* A number as it is written: with a point or an exponent it is real. */
static cm_attribute literal(rewriting *r)
{
  const char *from = r->at;
  const double x = read_number(r);
  const bool real = memchr(from, '.', (size_t)(r->at - from)) != NULL || memchr(from, 'e', (size_t)(r->at - from)) != NULL;
  return real ? (cm_attribute){.kind = CM_ATTRIBUTE_FLOAT, .number = (float)x} : integer((int64_t)x);
}

/* The value of one attribute; false: the node has none. */
static bool read_attribute(rewriting *r, cm_attribute *a, cm_error *error)
{
  char name[NAME_MAX_BYTES];
  const bool other = takes(r, "!");
  if (takes(r, "@")) {
    read_name(r, name);
    const cm_attribute *own = cm_node_attribute(r->n, name);
    bool there = own != NULL;
    if (takes(r, ":")) {
      *a = literal(r);
      there = true;
    }
    if (own != NULL)
      *a = *own;
    if (other)
      *a = integer(own == NULL || own->integer == 0);
    return there || other;
  }
  if (takes(r, "'")) {
    const size_t length = strcspn(r->at, "'");
    *a = (cm_attribute){.kind = CM_ATTRIBUTE_STRING, .count = length, .text = cm_arena_text(&r->u->model->arena, r->at, length, error)};
    r->at += length + 1;
    return a->text != NULL;
  }
  if (takes(r, "[")) { /* lists of one number */
    int64_t *one;
    const int64_t x = (int64_t)read_number(r);
    skip(r, "]");
    if (CM_ARENA_NEW(&r->u->model->arena, one, 1, error) != CM_OK)
      return false;
    *one = x;
    *a = (cm_attribute){.kind = CM_ATTRIBUTE_INTS, .count = 1, .integers = one};
    return true;
  }
  *a = literal(r);
  return true;
}

/* {...} into the attributes of a node without inputs or outputs. */
static cm_status read_attributes(rewriting *r, cm_node *to, cm_error *error)
{
  char name[NAME_MAX_BYTES];
  cm_attribute a;
  error->status = CM_OK;
  if (!takes(r, "{"))
    return CM_OK;
  while (!takes(r, "}")) {
    skip(r, ",");
    if (takes(r, "*")) {
      for (size_t i = 0; i < r->n->attribute_count; i++)
        if (cm_node_put_attribute(r->u->model, to, r->n->attributes[i].name, &r->n->attributes[i], error) != CM_OK)
          return error->status;
      continue;
    }
    read_name(r, name);
    skip(r, "=");
    if (read_attribute(r, &a, error) && cm_node_put_attribute(r->u->model, to, name, &a, error) != CM_OK)
      return error->status;
    if (error->status != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- expressions ---- */

static cm_status read_expression(rewriting *r, uint32_t *value, bool *optional, cm_error *error);

static cm_status read_input(rewriting *r, uint32_t *value, bool *optional)
{
  const uint32_t input = (uint32_t)read_number(r) + r->shift;
  *optional = takes(r, "?");
  *value = input < r->n->input_count ? r->n->inputs[input] : CM_NONE;
  r->named |= input < 64 ? UINT64_C(1) << input : 0;
  r->inputs_read++;
  return CM_OK;
}

static cm_status make_number(rewriting *r, double x, uint32_t *value, cm_error *error)
{
  const cm_type type = r->n->input_count > 0 && r->n->inputs[0] != CM_NONE ? r->u->model->values[r->n->inputs[0]].shape.type : CM_FLOAT;
  const bool real = type == CM_FLOAT16 || type == CM_BFLOAT16 || type == CM_DOUBLE;
  return r->dry > 0 ? CM_OK : cm_unroll_number(r->u, real ? type : CM_FLOAT, x, value, error);
}

static cm_status read_operand(rewriting *r, operands *o, cm_error *error)
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
static cm_status repeat_operand(rewriting *r, const char *from, uint32_t step, operands *o, cm_error *error)
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
  skip(r, "...");
  return status;
}

static cm_status read_operands(rewriting *r, operands *o, cm_error *error)
{
  *o = (operands){.count = 0};
  skip(r, "(");
  while (!takes(r, ")")) {
    skip(r, ",");
    const char *from = r->at;
    const uint32_t before = r->inputs_read;
    if (read_operand(r, o, error) != CM_OK ||
        (strncmp(r->at, "...", 3) == 0 && repeat_operand(r, from, r->inputs_read - before, o, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

/* The last two dimensions exchanged. */
static cm_status turn(rewriting *r, uint32_t from, uint32_t *value, cm_error *error)
{
  cm_model *m = r->u->model;
  int64_t perm[CM_RANK_MAX];
  uint32_t node;
  const uint32_t rank = m->values[from].shape.rank;
  if (rank == CM_UNKNOWN_RANK || rank < 2)
    return cm_unroll_fail(r->n, CM_BAD_NETWORK, "needs matrices whose rank is known", error);
  for (uint32_t i = 0; i < rank; i++)
    perm[i] = i + 2 < rank ? i : 2 * (int64_t)rank - 3 - i;
  if (cm_model_add_named(m, "turned", value, error) != CM_OK || cm_model_add_node(m, "Transpose", &from, 1, value, 1, &node, error) != CM_OK ||
      cm_node_set_integers(m, &m->nodes[node], "perm", perm, rank, error) != CM_OK)
    return error->status;
  return r->u->walk(r->u, node, error);
}

/* Op(...){...}: `count` outputs; outputs[0] CM_NONE: a new value. */
static cm_status make_node(rewriting *r, const char *op, uint32_t *outputs, uint32_t count, cm_error *error)
{
  cm_model *m = r->u->model;
  operands o;
  cm_node like = {.name = ""};
  uint32_t node;
  const uint32_t first = outputs[0];
  cm_status status = read_operands(r, &o, error);
  if (status == CM_OK)
    status = read_attributes(r, &like, error);
  outputs[0] = o.count > 0 ? o.value[0] : CM_NONE;
  if (status != CM_OK || r->dry > 0 || o.missing)
    ;
  else if (strcmp(op, "Turned") == 0)
    status = cm_node_integer(&like, "if", 0) != 0 ? turn(r, o.value[0], &outputs[0], error) : CM_OK;
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

static cm_status read_expression(rewriting *r, uint32_t *value, bool *optional, cm_error *error)
{
  char name[NAME_MAX_BYTES];
  *optional = false;
  if (takes(r, "%"))
    return read_input(r, value, optional);
  if (takes(r, "#")) {
    read_name(r, name);
    skip(r, ":");
    return make_number(r, number_of(cm_node_attribute(r->n, name), read_number(r)), value, error);
  }
  if (*r->at == '-' || isdigit((unsigned char)*r->at))
    return make_number(r, read_number(r), value, error);
  const bool told = takes(r, "@");
  read_name(r, name);
  const char *op = told ? cm_node_text(r->n, name, "") : name;
  if (*r->at == '(')
    return make_node(r, op, value, 1, error);
  for (size_t i = 0; i < r->bound_count; i++)
    if (strcmp(r->bound[i].name, name) == 0)
      *value = r->bound[i].value;
  return CM_OK;
}

/* ---- statements ---- */

/* NAME, ... = of a statement; their number. */
static uint32_t read_names(rewriting *r)
{
  const char *end = r->at + strcspn(r->at, ";");
  const char *equals = memchr(r->at, '=', (size_t)(end - r->at)), *open = memchr(r->at, '(', (size_t)(end - r->at));
  uint32_t count = 0;
  if (equals == NULL || (open != NULL && open < equals))
    return 0;
  while (!takes(r, "=")) {
    read_name(r, r->bound[r->bound_count + count++].name);
    skip(r, ",");
  }
  return count;
}

static cm_status read_statement(rewriting *r, uint64_t *made, cm_error *error)
{
  char op[NAME_MAX_BYTES];
  uint32_t values[OUTPUTS_MAX] = {CM_NONE, CM_NONE, CM_NONE, CM_NONE}, output = 0;
  bool ignored;
  const uint32_t names = read_names(r);
  if (names > 1) {
    read_name(r, op);
    if (make_node(r, op, values, names, error) != CM_OK)
      return error->status;
  } else {
    skip(r, "");
    if (names == 0 && isdigit((unsigned char)*r->at) && r->at[1] == ':') {
      output = (uint32_t)read_number(r);
      skip(r, ":");
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

/* Attributes are as the row needs them. */
static cm_status check_needs(rewriting *r, const char *needs, cm_error *error)
{
  char name[NAME_MAX_BYTES], text[160];
  for (r->at = needs; *r->at != '\0'; skip(r, "")) {
    read_name(r, name);
    skip(r, "=");
    const double wanted = read_number(r), is = number_of(cm_node_attribute(r->n, name), wanted);
    if (is < wanted || is > wanted) {
      (void)snprintf(text, sizeof text, "its attribute %s is %g; only %g is understood", name, is, wanted);
      return cm_unroll_fail(r->n, CM_BAD_NETWORK, text, error);
    }
  }
  return CM_OK;
}

cm_status cm_unroll_rewrite(cm_unrolling *u, const cm_node *n, const cm_rewrite *row, cm_error *error)
{
  rewriting r = {.u = u, .n = n};
  uint64_t made = 0;
  char text[80];
  if (check_needs(&r, row->needs, error) != CM_OK)
    return error->status;
  for (r.at = row->text; *r.at != '\0'; skip(&r, ";"))
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
