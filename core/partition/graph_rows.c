#include "core/partition/graph_rows.h"

cm_status cm_graph_rows_new(const cm_graph *graph, cm_run *run, cm_graph_rows *made, cm_error *error)
{
  cm_graph_rows rows = {.graph = graph};
  if (cm_in_file(graph->neighbour) || cm_in_file(graph->weight)) {
    uint64_t longest = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
      if (graph->first[v + 1] - graph->first[v] > longest)
        longest = graph->first[v + 1] - graph->first[v];
    CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(rows.neighbour, longest), CM_ARRAY(rows.weight, longest)),
              cm_graph_rows_free(&rows));
  }
  *made = rows;
  return CM_OK;
}

void cm_graph_rows_free(cm_graph_rows *rows)
{
  CM_FREE(rows->neighbour, rows->weight);
  *rows = (cm_graph_rows){0};
}

cm_status cm_graph_rows_read(cm_graph_rows *rows, uint32_t v, cm_graph_row *row, cm_error *error)
{
  const cm_graph *graph = rows->graph;
  uint64_t begin = graph->first[v], count = graph->first[v + 1] - begin;
  CM_TRY(cm_peek(graph->neighbour, begin * sizeof *graph->neighbour, count * sizeof *graph->neighbour, rows->neighbour, error));
  CM_TRY(cm_peek(graph->weight, begin * sizeof *graph->weight, count * sizeof *graph->weight, rows->weight, error));
  *row = (cm_graph_row){rows->neighbour, rows->weight, count};
  return CM_OK;
}
