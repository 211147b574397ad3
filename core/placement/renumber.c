/* The graph of parts along an order of them. */
#include "core/placement/blocks.h"

cm_status cm_graph_renumbered(const cm_graph *parts, const uint32_t *order, cm_run *run, cm_csr_graph **graph,
                              cm_error *error)
{
  cm_csr_graph *g;
  uint32_t *number = NULL, n = parts->vertex_count;
  uint64_t heaviest = 0;
  unsigned shift = 0;
  CM_TRY(CM_NEW(run->memory, g, 1, error));
  *g = (cm_csr_graph){.vertex_count = n, .entry_count = parts->entry_count, .size_total = n, .size_max = 1,
                    .weight_unit = 1};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(g->first, (size_t)n + 1), CM_ARRAY(g->neighbour, parts->entry_count),
                                CM_ARRAY(g->weight, parts->entry_count), CM_ARRAY(g->size, n), CM_ARRAY(number, n));
  CM_TRY_OR(status, cm_csr_graph_free(g));
  for (uint64_t i = 0; i < parts->entry_count; i++)
    heaviest = parts->weight[i] > heaviest ? parts->weight[i] : heaviest;
  while (heaviest >> shift > UINT32_MAX)
    shift++;
  for (uint32_t k = 0; k < n; k++)
    number[order != NULL ? order[k] : k] = k;
  uint64_t end = 0, total = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t u = order != NULL ? order[k] : k;
    for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++, end++) {
      g->neighbour[end] = number[parts->neighbour[i]];
      g->weight[end] = (uint32_t)(parts->weight[i] >> shift);
      total += g->weight[end];
    }
    g->first[(size_t)k + 1] = end;
    g->size[k] = 1;
  }
  g->weight_total = total / 2;
  cm_free(number);
  *graph = g;
  return CM_OK;
}
