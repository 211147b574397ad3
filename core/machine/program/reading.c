/* What the readers of a program's sections share: shapes, types, arrays. */
#include "core/machine/program/reading.h"

uint32_t cm_reading_dims(cm_reading *g, int64_t *dims)
{
  uint32_t rank = (uint32_t)cm_get_at_most(&g->r, CM_RANK_MAX, "a rank");
  uint64_t count;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = cm_get_signed(&g->r);
  CM_REFUSE_IF(g, !cm_dims_count(rank, dims, &count), "a shape is impossible");
  return rank;
}

cm_type cm_reading_type(cm_reading *g)
{
  cm_type type = (cm_type)cm_get_at_most(&g->r, CM_TYPE_COUNT - 1, "a type");
  CM_REFUSE_IF(g, type != CM_TYPE_NONE && cm_type_bytes(type) == 0, "type %d has no elements", (int)type);
  return type;
}

bool cm_reading_array(cm_reading *g, void *pointer, uint64_t count, size_t size)
{
  void **array = pointer;
  if (g->r.status != CM_OK)
    return false;
  *array = cm_allocate(g->p->memory, (size_t)count + 1, size, g->r.error);
  if (*array == NULL)
    g->r.status = g->r.error->status;
  return *array != NULL;
}
