#include "core/partition/flow_region.h"

#include <string.h>

cm_status cm_flow_region_new(uint32_t vertices, const uint32_t *size, cm_run *run, cm_flow_region *r, cm_error *error)
{
  *r = (cm_flow_region){.size = size, .flow = {.memory = run->memory}};
  CM_TRY(CM_NEW(run->memory, r->vertex, vertices, error));
  CM_TRY(CM_NEW(run->memory, r->node, vertices, error));
  CM_TRY(CM_NEW(run->memory, r->depth, vertices, error));
  memset(r->node, 0xff, vertices * sizeof *r->node);
  return CM_OK;
}

void cm_flow_region_free(cm_flow_region *r)
{
  CM_FREE(r->vertex, r->node, r->depth);
  cm_flow_free(&r->flow);
}

void cm_flow_region_begin(cm_flow_region *r, uint32_t a, uint32_t b)
{
  for (uint32_t i = 0; i < cm_flow_region_vertices(r); i++)
    r->node[r->vertex[i]] = UINT32_MAX;
  r->looks = 0;
  for (unsigned side = 0; side < 2; side++) {
    r->part[side] = side == 0 ? a : b;
    r->count[side] = 0;
    r->load[side] = 0;
  }
}
