/* Attributes of ONNX nodes. What can fail: a part that is missing, memory. */
#include <string.h>

#include "core/operators/onnx/onnx_reader.h"

/* The kind of an attribute: as it says, or as its fields say in files that do not. */
static int kind_of(const Onnx__AttributeProto *p)
{
  if (p->has_type && p->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
    return (int)p->type;
  return p->has_f ? 1 : p->has_i ? 2 : p->has_s ? 3 : p->t != NULL ? 4 : p->n_floats > 0 ? 6 : p->n_ints > 0 ? 7 : 0;
}

/* Strings as lines of one text; false where one of them has lines itself. */
static bool are_lines(const Onnx__AttributeProto *p, size_t *bytes)
{
  *bytes = 0;
  for (size_t i = 0; i < p->n_strings; i++) {
    const ProtobufCBinaryData *s = &p->strings[i];
    if (s->len > 0 && (memchr(s->data, '\n', s->len) != NULL || memchr(s->data, '\0', s->len) != NULL))
      return false;
    *bytes += s->len + (i > 0);
  }
  return true;
}

static cm_status read_strings(cm_onnx_reader *r, const Onnx__AttributeProto *p, size_t bytes, cm_attribute *a, cm_error *error)
{
  char *text;
  CM_TRY(CM_ARENA_NEW(&r->model->arena, text, bytes + 1, error));
  a->text = text;
  a->count = bytes;
  for (size_t i = 0; i < p->n_strings; i++) {
    if (i > 0)
      *text++ = '\n';
    if (p->strings[i].len > 0)
      memcpy(text, p->strings[i].data, p->strings[i].len);
    text += p->strings[i].len;
  }
  return CM_OK;
}

cm_status cm_onnx_read_attribute(cm_onnx_reader *r, const Onnx__AttributeProto *p, cm_attribute *a, cm_error *error)
{
  cm_arena *arena = &r->model->arena;
  if (p->name == NULL || (a->name = cm_onnx_keep(r, p->name, error)) == NULL)
    return p->name == NULL ? cm_fail(error, CM_BAD_NETWORK, "an attribute has no name") : error->status;
  int64_t *integers;
  float *numbers;
  size_t bytes;
  a->kind = (cm_attribute_kind)kind_of(p);
  if (kind_of(p) == CM_ATTRIBUTE_STRINGS && are_lines(p, &bytes))
    return read_strings(r, p, bytes, a, error);
  switch (kind_of(p)) {
  case CM_ATTRIBUTE_FLOAT:
    a->number = p->f;
    return CM_OK;
  case CM_ATTRIBUTE_INT:
    a->integer = p->i;
    return CM_OK;
  case CM_ATTRIBUTE_STRING:
    a->count = p->s.len;
    a->text = cm_arena_text(arena, (const char *)p->s.data, p->s.len, error);
    return a->text != NULL ? CM_OK : error->status;
  case CM_ATTRIBUTE_TENSOR:
    if (p->t == NULL)
      return cm_fail(error, CM_BAD_NETWORK, "attribute '%.80s' should hold a tensor", a->name);
    return cm_proto_tensor(p->t, a->name, r->memory, &a->tensor, error);
  case CM_ATTRIBUTE_FLOATS:
    CM_TRY(CM_ARENA_NEW(arena, numbers, p->n_floats, error));
    if (p->n_floats > 0)
      memcpy(numbers, p->floats, p->n_floats * sizeof *numbers);
    a->numbers = numbers;
    a->count = p->n_floats;
    return CM_OK;
  case CM_ATTRIBUTE_INTS:
    CM_TRY(CM_ARENA_NEW(arena, integers, p->n_ints, error));
    if (p->n_ints > 0)
      memcpy(integers, p->ints, p->n_ints * sizeof *integers);
    a->integers = integers;
    a->count = p->n_ints;
    return CM_OK;
  default:
    a->kind = CM_ATTRIBUTE_PACKED;
    return cm_onnx_pack(r, &p->base, &a->packed, &a->count, error);
  }
}

cm_status cm_onnx_attribute(cm_model *model, const Onnx__AttributeProto *message, cm_attribute *made, cm_error *error)
{
  cm_onnx_reader r = {.model = model, .memory = model->arena.memory};
  return cm_onnx_read_attribute(&r, message, made, error);
}
