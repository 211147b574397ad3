/* Rows of a graph in any order. Where the graph stands in files (a memory limit) a row is read into a buffer: a look all
 * over a mapped file would map many times what it needs. */
#pragma once

#include "core/partition/graph.h"

typedef struct cm_graph_row {
  const uint32_t *neighbour; /* [count] */
  const uint64_t *weight;    /* [count] */
  uint64_t count;
} cm_graph_row;

/* For one thread. */
typedef struct cm_graph_rows {
  const cm_graph *graph;
  uint32_t *neighbour; /* [longest row] NULL: the graph is in memory */
  uint64_t *weight;
} cm_graph_rows;

/* Over a graph that must outlive it. 12 bytes an entry of the longest row where the graph is in files. Freed by
 * cm_graph_rows_free, harmless on a zeroed one. */
cm_status cm_graph_rows_new(const cm_graph *graph, cm_run *run, cm_graph_rows *made, cm_error *error);
void cm_graph_rows_free(cm_graph_rows *rows);

cm_status cm_graph_rows_read(cm_graph_rows *rows, uint32_t v, cm_graph_row *row, cm_error *error);

/* The row of v, valid until the next is asked for. Errors: CM_IO. */
static inline cm_status cm_graph_row_of(cm_graph_rows *rows, uint32_t v, cm_graph_row *row, cm_error *error)
{
  const cm_graph *graph = rows->graph;
  if (rows->neighbour != NULL)
    return cm_graph_rows_read(rows, v, row, error);
  uint64_t begin = graph->first[v];
  *row = (cm_graph_row){graph->neighbour + begin, graph->weight + begin, graph->first[v + 1] - begin};
  return CM_OK;
}
