/* The table of operators as people read it. */
#include "core/operators/tiling/split.h"
#include "core/operators/unrolling.h"
#include "library/internal.h"

enum { LAST_OPSET = 99 }; /* of rows that still hold */

/* One group of types, when all of it is in the set; it is taken out then. */
static void add_group(uint32_t *types, uint32_t group, const char *name, FILE *text)
{
  if ((*types & group) != group)
    return;
  fprintf(text, "%s%s", ftell(text) > 0 ? ", " : "", name);
  *types &= ~group;
}

static void write_types(uint32_t types, unsigned flags, FILE *text)
{
#define BIT(type) (UINT32_C(1) << (type))
  uint32_t signed_ones = BIT(CM_INT8) | BIT(CM_INT16) | BIT(CM_INT32) | BIT(CM_INT64),
           unsigned_ones = BIT(CM_UINT8) | BIT(CM_UINT16) | BIT(CM_UINT32) | BIT(CM_UINT64),
           complex = BIT(CM_COMPLEX64) | BIT(CM_COMPLEX128), all = ~(BIT(CM_TYPE_NONE) | BIT(CM_STRING));
  add_group(&types, all, "any", text);
  add_group(&types, all & ~complex, "any but complex", text);
  if (ftell(text) > 0)
    return;
  if ((flags & CM_OPERATOR_PROMOTES) != 0 && (types & BIT(CM_FLOAT)) != 0)
    types |= BIT(CM_FLOAT16) | BIT(CM_BFLOAT16);
  add_group(&types, BIT(CM_FLOAT16) | BIT(CM_BFLOAT16) | BIT(CM_FLOAT) | BIT(CM_DOUBLE), "floats", text);
  add_group(&types, signed_ones | unsigned_ones, "integers", text);
  add_group(&types, signed_ones, "signed integers", text);
  add_group(&types, unsigned_ones, "unsigned integers", text);
  for (int t = 1; t < CM_TYPE_COUNT; t++)
    add_group(&types, BIT(t), cm_type_name((cm_type)t), text);
#undef BIT
}

/* NULL: no memory. */
static json_t *types_json(uint32_t types, unsigned flags)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (stream == NULL)
    return NULL;
  write_types(types, flags, stream);
  json_t *made = fclose(stream) == 0 ? json_string(text) : NULL;
  free(text);
  return made;
}

static json_t *row(const cm_operator *o)
{
  json_t *made = json_pack("{s:s, s:i, s:o, s:s, s:b}", "name", o->name, "since", o->since, "types", types_json(o->types[0], o->flags),
                           "cut", o->runs == CM_RUNS_HOST ? "whole, on a host" : cm_split_axes_text(o->split), "permutations", o->cross != NULL);
  if (o->until < LAST_OPSET)
    (void)json_object_set_new(made, "until", json_integer(o->until));
  if (o->types[0] != o->types[1])
    (void)json_object_set_new(made, "second", types_json(o->types[1], o->flags));
  return made;
}

json_t *library_operators(void)
{
  json_t *rows = json_array();
  for (const cm_operator *o = cm_operator_table(); o->name != NULL; o++)
    if ((o->flags & CM_OPERATOR_OWN) == 0)
      (void)json_array_append_new(rows, row(o));
  return rows;
}

json_t *library_rewrites(void)
{
  json_t *rows = json_array();
  for (const cm_rewrite *r = cm_rewrite_table(); r->name != NULL; r++)
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "domain", r->domain, "name", r->name, "as", r->text));
  return rows;
}
