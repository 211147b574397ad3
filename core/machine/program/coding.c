/* Numbers, texts, shapes and arrays of program files, both ways. */
#include "core/machine/program/coding.h"

#include <math.h>
#include <string.h>

uint64_t cm_code_number(cm_coding *c, uint64_t number, uint64_t most, const char *what)
{
  if (c->w == NULL)
    return cm_get_at_most(&c->r, most, what);
  cm_put_number(c->w, number);
  return number;
}

void cm_code_signed(cm_coding *c, int64_t *number)
{
  if (c->w != NULL)
    cm_put_signed(c->w, *number);
  else
    *number = cm_get_signed(&c->r);
}

double cm_code_double(cm_coding *c, double number)
{
  if (c->w == NULL)
    return cm_get_real(&c->r);
  cm_put_real(c->w, number);
  return number;
}

void cm_code_real(cm_coding *c, double *number, double least, const char *what)
{
  *number = cm_code_double(c, *number);
  CM_REFUSE_IF(c, !isfinite(*number) || *number < least || *number > 1e15, "%s is %g", what, *number);
}

const char *cm_code_text(cm_coding *c, const char *text, size_t length)
{
  length = cm_code_count(c, length, "a text's length");
  if (c->w != NULL) {
    cm_put_bytes(c->w, text, length);
    return text;
  }
  const uint8_t *bytes = cm_get_bytes(&c->r, length);
  const char *made = cm_arena_text(&c->p->arena, bytes != NULL ? (const char *)bytes : "", bytes != NULL ? length : 0, c->r.error);
  return cm_code_room(c, made != NULL ? CM_OK : c->r.error->status) ? made : "";
}

const char *cm_code_name(cm_coding *c, const char *name)
{
  return cm_code_text(c, name, c->w != NULL ? strlen(name) : 0);
}

uint32_t cm_code_count(cm_coding *c, uint64_t count, const char *what)
{
  const size_t left = c->r.size - c->r.at;
  return (uint32_t)cm_code_number(c, count, left < UINT32_MAX ? left : UINT32_MAX, what);
}

uint32_t cm_code_array(cm_coding *c, void *pointer, uint64_t count, size_t size, const char *what)
{
  const uint32_t wanted = cm_code_count(c, count, what);
  if (!cm_reads(c))
    return c->w != NULL ? wanted : 0;
  void *made = cm_allocate(c->p->memory, (size_t)wanted + 1, size, c->r.error);
  memcpy(pointer, &made, sizeof made);
  return cm_code_room(c, made != NULL ? CM_OK : c->r.error->status) ? wanted : 0;
}

bool cm_code_room(cm_coding *c, cm_status status)
{
  if (status != CM_OK)
    c->r.status = status;
  return status == CM_OK;
}

uint32_t cm_code_dims(cm_coding *c, uint32_t rank, int64_t *dims)
{
  uint64_t count;
  CM_CODE(c, rank, CM_RANK_MAX, "a rank");
  for (uint32_t i = 0; i < rank; i++)
    cm_code_signed(c, &dims[i]);
  CM_REFUSE_IF(c, !cm_dims_count(rank, dims, &count), "a shape is impossible");
  return rank;
}

void cm_code_type(cm_coding *c, cm_type *type)
{
  CM_CODE(c, *type, CM_TYPE_COUNT - 1, "a type");
  CM_REFUSE_IF(c, *type != CM_TYPE_NONE && cm_type_bytes(*type) == 0, "type %d has no elements", (int)*type);
}
