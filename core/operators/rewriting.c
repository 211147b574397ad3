/* Words and attributes of rewrites' texts. */
#include "core/operators/rewriting.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool cm_rewriting_takes(cm_rewriting *r, const char *text)
{
  const size_t length = strlen(text);
  r->at += strspn(r->at, " ");
  if (strncmp(r->at, text, length) != 0)
    return false;
  r->at += length;
  return true;
}

void cm_rewriting_skip(cm_rewriting *r, const char *text)
{
  (void)cm_rewriting_takes(r, text);
  r->at += strspn(r->at, " ");
}

void cm_rewriting_name(cm_rewriting *r, char name[CM_REWRITE_NAME_MAX])
{
  size_t length = 0;
  cm_rewriting_skip(r, "");
  while ((isalnum((unsigned char)*r->at) || *r->at == '_') && length + 1 < CM_REWRITE_NAME_MAX)
    name[length++] = *r->at++;
  name[length] = '\0';
}

double cm_rewriting_number(cm_rewriting *r)
{
  char *end;
  const double x = strtod(r->at, &end);
  r->at = end;
  return x;
}

/* ---- attributes ---- */

double cm_rewriting_attribute_number(const cm_attribute *a, double otherwise)
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
static cm_attribute literal(cm_rewriting *r)
{
  const char *from = r->at;
  const double x = cm_rewriting_number(r);
  const bool real = memchr(from, '.', (size_t)(r->at - from)) != NULL || memchr(from, 'e', (size_t)(r->at - from)) != NULL;
  return real ? (cm_attribute){.kind = CM_ATTRIBUTE_FLOAT, .number = (float)x} : integer((int64_t)x);
}

/* The value of one attribute; false: the node has none. */
static bool read_attribute(cm_rewriting *r, cm_attribute *a, cm_error *error)
{
  char name[CM_REWRITE_NAME_MAX];
  const bool other = cm_rewriting_takes(r, "!");
  if (cm_rewriting_takes(r, "@")) {
    cm_rewriting_name(r, name);
    const cm_attribute *own = cm_node_attribute(r->n, name);
    bool there = own != NULL;
    if (cm_rewriting_takes(r, ":")) {
      *a = literal(r);
      there = true;
    }
    if (own != NULL)
      *a = *own;
    if (other)
      *a = integer(own == NULL || own->integer == 0);
    return there || other;
  }
  if (cm_rewriting_takes(r, "'")) {
    const size_t length = strcspn(r->at, "'");
    *a = (cm_attribute){.kind = CM_ATTRIBUTE_STRING, .count = length, .text = cm_arena_text(&r->u->model->arena, r->at, length, error)};
    r->at += length + 1;
    return a->text != NULL;
  }
  if (cm_rewriting_takes(r, "[")) { /* lists of one number */
    int64_t *one;
    const int64_t x = (int64_t)cm_rewriting_number(r);
    cm_rewriting_skip(r, "]");
    if (CM_ARENA_NEW(&r->u->model->arena, one, 1, error) != CM_OK)
      return false;
    *one = x;
    *a = (cm_attribute){.kind = CM_ATTRIBUTE_INTS, .count = 1, .integers = one};
    return true;
  }
  *a = literal(r);
  return true;
}

cm_status cm_rewriting_attributes(cm_rewriting *r, cm_node *to, cm_error *error)
{
  char name[CM_REWRITE_NAME_MAX];
  cm_attribute a;
  error->status = CM_OK;
  if (!cm_rewriting_takes(r, "{"))
    return CM_OK;
  while (!cm_rewriting_takes(r, "}")) {
    cm_rewriting_skip(r, ",");
    if (cm_rewriting_takes(r, "*")) {
      for (size_t i = 0; i < r->n->attribute_count; i++)
        CM_TRY(cm_node_put_attribute(r->u->model, to, r->n->attributes[i].name, &r->n->attributes[i], error));
      continue;
    }
    cm_rewriting_name(r, name);
    cm_rewriting_skip(r, "=");
    CM_TRY_IF(read_attribute(r, &a, error), cm_node_put_attribute(r->u->model, to, name, &a, error));
    if (error->status != CM_OK)
      return error->status;
  }
  return CM_OK;
}
