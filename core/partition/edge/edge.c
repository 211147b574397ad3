#include "core/partition/edge/edge_search.h"

#include <string.h>

#include "core/partition/edge/rebalance.h"

static cm_status search(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *best, cm_error *error)
{
  uint32_t *part;
  if (options->below != NULL)
    return cm_edge_combine(graph, options, run, best, error);
  CM_TRY(CM_NEW(run->memory, part, graph->vertex_count, error));
  cm_status status = cm_edge_search_anew(graph, options, run, part, best, error);
  cm_free(part);
  return status;
}

cm_status cm_partition_edges(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *part,
                             uint64_t *cut, cm_error *error)
{
  uint32_t *best, n = graph->vertex_count;
  CM_TRY(CM_NEW(run->memory, best, n, error));
  cm_status status = n > 0 ? search(graph, options, run, best, error) : CM_OK;
  CM_THEN_IF(status, n > 0, cm_fill_empty(graph, run, best, options->parts, error));
  if (status == CM_OK) {
    memcpy(part, best, n * sizeof *part);
    *cut = cm_csr_graph_cut(graph, part);
  }
  cm_free(best);
  return status;
}
