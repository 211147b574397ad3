#include "core/partition/edge/initial.h"

cm_status cm_initial_partition(cm_csr_graph *graph, const cm_initial_options *options, cm_run *run, uint32_t *part, cm_error *error)
{
  uint32_t *vertex;
  if (graph->vertex_count >= CM_DEEP_VERTICES)
    return cm_initial_deep(graph, options, run, part, error);
  CM_TRY(CM_NEW(run->memory, vertex, graph->vertex_count, error));
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    vertex[v] = v;
  cm_status status = cm_initial_split(&(cm_initial_block){.graph = graph, .vertex = vertex, .parts = options->parts, .node = 1}, options, run, part,
                                      error);
  cm_free(vertex);
  return status;
}
