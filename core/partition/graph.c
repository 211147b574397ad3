#include "core/partition/graph.h"

#include "core/partition/graph_gather.h"
#include "core/partition/graph_rows.h"
#include "base/members.h"

enum { CHECK_EVERY = 4096 };

void cm_graph_free(cm_graph *graph)
{
  if (graph == NULL)
    return;
  CM_FREE(graph->first, graph->neighbour, graph->weight, graph->size, graph);
}

cm_status cm_graph_new(cm_run *run, uint32_t vertices, uint64_t entries, cm_graph **graph, cm_error *error)
{
  cm_graph *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->vertex_count = vertices;
  made->entry_count = entries;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made->first, (size_t)vertices + 1), CM_ARRAY(made->size, vertices),
                       CM_ARRAY(made->neighbour, entries), CM_ARRAY(made->weight, entries)), cm_graph_free(made));
  *graph = made;
  return CM_OK;
}

cm_status cm_graph_finish(cm_graph *graph, cm_run *run, cm_error *error)
{
  uint32_t *neighbour = cm_reallocate(run->memory, graph->neighbour, graph->entry_count, sizeof *neighbour, error);
  if (neighbour == NULL)
    return error->status;
  graph->neighbour = neighbour;
  uint64_t *weight = cm_reallocate(run->memory, graph->weight, graph->entry_count, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  graph->weight = weight;
  graph->weight_total /= 2;
  graph->size_total = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    graph->size_total += graph->size[v];
  return CM_OK;
}

/* Vertices by cluster: member[first[c]] to member[first[c + 1] - 1]. */
typedef struct clusters {
  const uint32_t *map;
  uint32_t *first, *member;
} clusters;

static cm_status contract_rows(cm_graph_rows *rows, const clusters *of, cm_gatherer *gathered, cm_graph *coarse, cm_run *run,
                               cm_error *error)
{
  uint64_t room = coarse->entry_count;
  coarse->entry_count = 0;
  for (uint32_t c = 0; c < coarse->vertex_count; c++) {
    for (uint32_t j = of->first[c]; j < of->first[c + 1]; j++) {
      cm_graph_row row;
      CM_TRY(cm_graph_row_of(rows, of->member[j], &row, error));
      coarse->size[c] += rows->graph->size[of->member[j]];
      for (uint64_t i = 0; i < row.count; i++) {
        uint32_t other = of->map[row.neighbour[i]];
        if (other != c)
          cm_gather(gathered, other, row.weight[i]);
      }
    }
    if (cm_gatherer_append(gathered, coarse, c, &room, run, error) != CM_OK ||
        (c % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK))
      return error->status;
  }
  return cm_graph_finish(coarse, run, error);
}

cm_status cm_graph_contract(const cm_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_graph **coarse, cm_error *error)
{
  clusters of = {.map = map};
  cm_gatherer gathered = {0};
  cm_graph_rows rows = {0};
  cm_graph *made = NULL;
  cm_status status = CM_NEW(run->memory, of.first, (size_t)coarse_count + 2, error);
  CM_THEN(status, CM_NEW(run->memory, of.member, graph->vertex_count, error));
  CM_THEN(status, cm_gatherer_new(run, coarse_count, &gathered, error));
  CM_THEN(status, cm_graph_rows_new(graph, run, &rows, error));
  CM_THEN(status, cm_graph_new(run, coarse_count, graph->entry_count / 4, &made, error));
  if (status == CM_OK) {
    cm_sort_members(map, graph->vertex_count, coarse_count, of.first, of.member);
    status = contract_rows(&rows, &of, &gathered, made, run, error);
  }
  cm_gatherer_free(&gathered);
  cm_graph_rows_free(&rows);
  CM_FREE(of.first, of.member);
  CM_END(status, *coarse = made, cm_graph_free(made));
}

static cm_status fill_from_rows(const uint64_t *first, const uint32_t *neighbour, const uint64_t *weight, cm_graph *graph,
                                cm_run *run, cm_error *error)
{
  uint64_t room = graph->entry_count;
  cm_gatherer gathered = {0};
  cm_status status = cm_gatherer_new(run, graph->vertex_count, &gathered, error);
  graph->entry_count = 0;
  for (uint32_t v = 0; v < graph->vertex_count && status == CM_OK; v++) {
    graph->size[v] = 1;
    for (uint64_t i = first[v]; i < first[v + 1]; i++)
      cm_gather(&gathered, neighbour[i], weight[i]);
    status = cm_gatherer_append(&gathered, graph, v, &room, run, error);
  }
  cm_gatherer_free(&gathered);
  return status == CM_OK ? cm_graph_finish(graph, run, error) : status;
}

cm_status cm_graph_from_rows(uint32_t vertices, const uint64_t *first, const uint32_t *neighbour,
                             const uint64_t *weight, cm_run *run, cm_graph **graph, cm_error *error)
{
  cm_graph *made = NULL;
  cm_status status = cm_graph_new(run, vertices, first[vertices], &made, error);
  CM_THEN(status, fill_from_rows(first, neighbour, weight, made, run, error));
  CM_END(status, *graph = made, cm_graph_free(made));
}

static cm_status induce_rows(cm_graph_rows *rows, const uint32_t *vertex, uint32_t count, const uint32_t *scratch, cm_run *run,
                             cm_graph *induced, cm_error *error)
{
  uint64_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    cm_graph_row row;
    if (cm_graph_row_of(rows, vertex[i], &row, error) != CM_OK ||
        (i % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK))
      return error->status;
    induced->size[i] = rows->graph->size[vertex[i]];
    for (uint64_t j = 0; j < row.count; j++) {
      /* A stale scratch value is told apart by looking whom it names. */
      uint32_t other = row.neighbour[j], local = scratch[other];
      if (local >= count || vertex[local] != other)
        continue;
      induced->neighbour[used] = local;
      induced->weight[used] = row.weight[j];
      induced->weight_total += row.weight[j];
      used++;
    }
    induced->first[i + 1] = used;
  }
  induced->entry_count = used;
  return cm_graph_finish(induced, run, error);
}

cm_status cm_graph_induce(const cm_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *scratch,
                          cm_run *run, cm_graph **induced, cm_error *error)
{
  uint64_t entries = 0;
  for (uint32_t i = 0; i < count; i++) {
    scratch[vertex[i]] = i;
    entries += graph->first[vertex[i] + 1] - graph->first[vertex[i]];
  }
  cm_graph *made = NULL;
  cm_graph_rows rows = {0};
  cm_status status = cm_graph_rows_new(graph, run, &rows, error);
  CM_THEN(status, cm_graph_new(run, count, entries, &made, error));
  CM_THEN(status, induce_rows(&rows, vertex, count, scratch, run, made, error));
  cm_graph_rows_free(&rows);
  CM_END(status, *induced = made, cm_graph_free(made));
}
