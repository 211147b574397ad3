/* Parts without vertices get one each. */
#include "core/partition/edge/rebalance.h"
#include "core/partition/indexed_heap.h"

static int64_t tie_to_own(const cm_csr_graph *g, const uint32_t *part, uint32_t v)
{
  int64_t tie = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
    if (part[g->neighbour[i]] == part[v])
      tie += (int64_t)cm_csr_graph_weight(g, i);
  return tie;
}

static cm_status give_vertices(const cm_csr_graph *g, uint32_t *part, uint32_t parts, uint32_t *members, cm_memory *memory,
                               cm_error *error)
{
  cm_indexed_heap loose = {0};
  cm_status status = CM_NEW(memory, loose.place, g->vertex_count, error);
  for (uint32_t v = 0; v < g->vertex_count && status == CM_OK; v++)
    if (members[part[v]] > 1)
      status = cm_indexed_heap_push(&loose, v, -tie_to_own(g, part, v), memory, error);
  for (uint32_t p = 0; p < parts && status == CM_OK; p++)
    while (members[p] == 0 && loose.count > 0) {
      uint32_t v = loose.item[0].vertex;
      cm_indexed_heap_remove(&loose, v);
      if (members[part[v]] < 2)
        continue;
      members[part[v]]--;
      members[p]++;
      part[v] = p;
    }
  cm_free(loose.place);
  cm_indexed_heap_free(&loose);
  return status;
}

cm_status cm_fill_empty(const cm_csr_graph *graph, cm_run *run, uint32_t *part, uint32_t parts, cm_error *error)
{
  uint32_t *members, empty = 0;
  CM_TRY(CM_NEW(run->memory, members, parts, error));
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    members[part[v]]++;
  for (uint32_t p = 0; p < parts; p++)
    empty += members[p] == 0;
  cm_status status = empty > 0 ? give_vertices(graph, part, parts, members, run->memory, error) : CM_OK;
  cm_free(members);
  return status;
}
