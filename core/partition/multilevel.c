#include "core/partition/multilevel.h"

void cm_hierarchy_free(cm_hierarchy *hierarchy)
{
  for (uint32_t l = 1; l < hierarchy->levels; l++) {
    hierarchy->release(hierarchy->level[l]);
    cm_free(hierarchy->map[l - 1]);
  }
  *hierarchy = (cm_hierarchy){0};
}

/* What the fine vertices have, for the coarse ones. Both may be one array: what is written has been read, as map[v] <= v. */
static void lift(const uint32_t *map, uint32_t vertices, const uint32_t *fine, uint32_t *coarse)
{
  for (uint32_t v = 0; v < vertices; v++)
    coarse[map[v]] = fine[v];
}

/* One level more; *added: it was worth it. */
static cm_status add_level(cm_hierarchy *h, const cm_coarsener *c, const uint32_t *label, cm_run *run, bool *added,
                           cm_error *error)
{
  uint32_t l = h->levels - 1, clusters = 0, *map;
  cm_status status = CM_NEW(run->memory, map, h->vertices[l], error);
  CM_THEN(status, c->cluster(c->context, &(cm_level){h->level[l], l, label}, map, &clusters, error));
  bool fewer = status == CM_OK && clusters < h->vertices[l];
  if (fewer)
    status = c->contract(h->level[l], map, clusters, run, &h->level[l + 1], error);
  *added = fewer && status == CM_OK;
  if (!*added) {
    cm_free(map);
    return status;
  }
  h->map[l] = map;
  h->vertices[l + 1] = clusters;
  h->levels++;
  return cm_run_check(run, error);
}

cm_status cm_hierarchy_build(void *finest, uint32_t vertices, const cm_coarsener *coarsener, cm_run *run, cm_hierarchy *hierarchy,
                             cm_error *error)
{
  const uint32_t *label = coarsener->label;
  cm_hierarchy h = {.levels = 1, .level = {finest}, .vertices = {vertices}, .release = coarsener->release};
  uint32_t *coarse = NULL; /* labels of the coarsest level */
  cm_status status = CM_OK;
  bool added = true;
  while (status == CM_OK && added && h.levels < CM_HIERARCHY_MAX && h.vertices[h.levels - 1] > coarsener->vertices_min) {
    uint32_t l = h.levels - 1;
    status = add_level(&h, coarsener, label, run, &added, error);
    if (status != CM_OK || !added || label == NULL)
      continue;
    if (coarse == NULL)
      status = CM_NEW(run->memory, coarse, h.vertices[l + 1], error);
    if (status == CM_OK)
      lift(h.map[l], h.vertices[l], label, coarse);
    label = coarse;
  }
  cm_free(coarse);
  CM_END(status, *hierarchy = h, cm_hierarchy_free(&h));
}

void cm_hierarchy_lift(const cm_hierarchy *hierarchy, uint32_t *part)
{
  for (uint32_t l = 0; l + 1 < hierarchy->levels; l++)
    lift(hierarchy->map[l], hierarchy->vertices[l], part, part);
}

void cm_hierarchy_project(const cm_hierarchy *hierarchy, uint32_t level, uint32_t *part)
{
  const uint32_t *map = hierarchy->map[level];
  for (uint32_t v = hierarchy->vertices[level]; v-- > 0;) /* from the last on: what is read is not yet written over */
    part[v] = part[map[v]];
}

cm_status cm_hierarchy_descend(const cm_hierarchy *hierarchy, cm_refine_level *refine, void *context, uint32_t *part,
                               cm_error *error)
{
  for (uint32_t l = hierarchy->levels - 1; l-- > 0;) {
    cm_hierarchy_project(hierarchy, l, part);
    CM_TRY(refine(context, hierarchy, l, part, error));
  }
  return CM_OK;
}
