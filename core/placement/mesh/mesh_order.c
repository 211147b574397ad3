/* Renumbering: neighbours get near numbers, so that what annealing touches together lies together in memory. */
#include <string.h>

#include "base/members.h"
#include "core/placement/mesh/mesh_coarsen.h"

/* A graph whose vertex v is the old one's order[v]; number[order[v]] == v. */
static cm_status renumber(const cm_csr_graph *old, const uint32_t *order, const uint32_t *number, cm_run *run,
                          cm_csr_graph **graph, cm_error *error)
{
  cm_csr_graph *g;
  cm_memory *memory = run->memory;
  CM_TRY(CM_NEW(memory, g, 1, error));
  *g = *old;
  g->first = NULL;
  g->neighbour = g->weight = g->size = NULL;
  g->wide = NULL;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(g->first, (size_t)old->vertex_count + 1), CM_ARRAY(g->neighbour, old->entry_count),
                 CM_ARRAY(g->size, old->vertex_count)) != CM_OK ||
      (old->weight != NULL && CM_NEW(memory, g->weight, old->entry_count, error) != CM_OK) ||
      (old->wide != NULL && CM_NEW(memory, g->wide, old->entry_count, error) != CM_OK)) {
    cm_csr_graph_free(g);
    return error->status;
  }
  for (uint32_t v = 0; v < old->vertex_count; v++) {
    uint64_t from = old->first[order[v]], to = g->first[v], degree = cm_csr_graph_degree(old, order[v]);
    for (uint64_t i = 0; i < degree; i++)
      g->neighbour[to + i] = number[old->neighbour[from + i]];
    if (old->weight != NULL)
      memcpy(g->weight + to, old->weight + from, degree * sizeof *g->weight);
    if (old->wide != NULL)
      memcpy(g->wide + to, old->wide + from, degree * sizeof *g->wide);
    g->size[v] = old->size[order[v]];
    g->first[v + 1] = to + degree;
  }
  *graph = g;
  return CM_OK;
}

/* Sorts the vertices of a level by the clusters that they are in; parent [vertices of the next level] tells the new
 * numbers of these, and is replaced by those of this level. *order gets the old number of each. */
static cm_status sort_level(cm_hierarchy *h, uint32_t level, cm_run *run, uint32_t **parent, uint32_t **order,
                            cm_error *error)
{
  const cm_csr_graph *g = h->level[level];
  uint32_t n = g->vertex_count, coarse = h->vertices[level + 1];
  uint32_t *map, *first = NULL, *number = NULL, *made = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(map, n), CM_ARRAY(number, n), CM_ARRAY(made, n),
                                CM_ARRAY(first, (size_t)coarse + 2));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      map[v] = (*parent)[h->map[level][v]];
    cm_sort_members(map, n, coarse, first, made);
    for (uint32_t v = 0; v < n; v++) {
      number[made[v]] = v;
      h->map[level][v] = map[made[v]];
    }
    CM_FREE(*parent, *order);
    *parent = number;
    *order = made;
    number = made = NULL;
  }
  CM_FREE(map, first, number, made);
  return status;
}

cm_status cm_mesh_sort(cm_hierarchy *h, cm_run *run, uint32_t **order, cm_error *error)
{
  uint32_t last = h->levels - 1, n = h->vertices[last], *number, *old = NULL;
  cm_csr_graph *sorted = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(number, n), CM_ARRAY(old, n));
  for (uint32_t v = 0; status == CM_OK && v < n; v++)
    number[v] = old[v] = v;
  for (uint32_t l = h->levels; status == CM_OK && l-- > 0;) {
    if (l < last)
      status = sort_level(h, l, run, &number, &old, error);
    CM_THEN(status, renumber(h->level[l], old, number, run, &sorted, error));
    if (status != CM_OK)
      break;
    if (l > 0)
      cm_csr_graph_free(h->level[l]);
    h->level[l] = sorted;
  }
  cm_free(number);
  CM_END(status, *order = old, cm_free(old));
}
