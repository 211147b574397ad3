/* Coarsened levels to and from their files. */
#include <string.h>

#include "core/partition/graph.h"
#include "core/partition/graph_gather.h"

enum { CHECK_EVERY = 4096 };

cm_status cm_graph_save(const cm_graph *graph, const uint32_t *parent, uint32_t finer_count,
                        uint64_t weight_scale, bool stored, const char *path, cm_run *run, cm_error *error)
{
  cm_topology_header header = {.directed = false,
                               .vertex_count = graph->vertex_count,
                               .weight_scale = weight_scale,
                               .finer_count = finer_count};
  cm_topology_writer *writer;
  CM_TRY(cm_topology_writer_open(path, &header, graph->size, &writer, error));
  cm_topology_writer_heed(writer, run);
  if (stored)
    cm_topology_writer_stored(writer);
  cm_status status = cm_topology_writer_parents(writer, parent, error);
  for (uint32_t v = 0; v < graph->vertex_count && status == CM_OK; v++) {
    uint64_t begin = graph->first[v], count = graph->first[v + 1] - begin;
    if (count == 0)
      continue;
    cm_topology_row row = {.vertex = v,
                           .count = count,
                           .target = graph->neighbour + begin,
                           .weight = graph->weight + begin};
    status = cm_topology_writer_row(writer, &row, error);
    CM_THEN_IF(status, v % CHECK_EVERY == 0, cm_run_check(run, error));
  }
  CM_TRY_OR(status, cm_topology_writer_abort(writer));
  return cm_topology_writer_close(writer, error);
}

static cm_status load_rows(cm_topology_reader *reader, cm_graph *graph, cm_run *run, cm_error *error)
{
  uint32_t next = 0;
  uint64_t used = 0;
  for (;;) {
    cm_topology_row row;
    bool end;
    CM_TRY(cm_topology_reader_next(reader, &row, &end, error));
    if (!end && row.count > graph->entry_count - used)
      return cm_fail(error, CM_BAD_NETWORK, "a level holds more entries than the %llu it announces",
                     (unsigned long long)graph->entry_count);
    uint32_t until = end ? graph->vertex_count : row.vertex;
    while (next < until)
      graph->first[++next] = used;
    if (end)
      break;
    memcpy(graph->neighbour + used, row.target, row.count * sizeof *row.target);
    memcpy(graph->weight + used, row.weight, row.count * sizeof *row.weight);
    for (uint64_t i = 0; i < row.count; i++)
      graph->weight_total += row.weight[i];
    used += row.count;
    graph->first[++next] = used;
    if (next % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return cm_graph_finish(graph, run, error);
}

cm_status cm_graph_load(const char *path, cm_run *run, cm_graph **graph, uint32_t **parent, uint32_t *finer_count,
                        cm_error *error)
{
  cm_topology_reader *reader;
  CM_TRY(cm_topology_reader_open(path, run->memory, &reader, error));
  const cm_topology_header *header = cm_topology_reader_header(reader);
  cm_graph *made = NULL;
  uint32_t *parents = NULL;
  cm_status status = CM_OK;
  uint32_t count = header->finer_count;
  if (header->directed)
    status = cm_fail(error, CM_BAD_NETWORK, "%s is a directed network, no coarsened level", path);
  CM_THEN(status, cm_graph_new(run, header->vertex_count, header->pin_count, &made, error));
  CM_THEN(status, CM_NEW(run->memory, parents, count, error));
  CM_THEN(status, cm_topology_reader_sizes(reader, made->size, error));
  CM_THEN(status, cm_topology_reader_parents(reader, parents, error));
  CM_THEN(status, load_rows(reader, made, run, error));
  cm_topology_reader_close(reader);
  if (status != CM_OK) {
    cm_graph_free(made);
    cm_free(parents);
    return status;
  }
  *graph = made;
  *parent = parents;
  *finer_count = count;
  return CM_OK;
}
