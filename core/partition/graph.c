#include "core/partition/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/partition/members.h"

enum { CHECK_EVERY = 4096 };

void cm_graph_free(cm_graph *graph)
{
  if (graph == NULL)
    return;
  cm_free(graph->first);
  cm_free(graph->neighbour);
  cm_free(graph->weight);
  cm_free(graph->size);
  cm_free(graph);
}

static cm_status new_graph(cm_run *run, uint32_t vertices, uint64_t entries, cm_graph **graph, cm_error *error)
{
  cm_graph *made;
  if (CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->vertex_count = vertices;
  made->entry_count = entries;
  if (CM_NEW(run->memory, made->first, (size_t)vertices + 1, error) != CM_OK ||
      CM_NEW(run->memory, made->size, vertices, error) != CM_OK ||
      CM_NEW(run->memory, made->neighbour, entries, error) != CM_OK ||
      CM_NEW(run->memory, made->weight, entries, error) != CM_OK) {
    cm_graph_free(made);
    return error->status;
  }
  *graph = made;
  return CM_OK;
}

/* Gathers one row: weights add up per neighbour in a dense table, of which only the touched places are
 * visited and cleared. */
typedef struct gatherer {
  uint64_t *weight;  /* [vertices] all zero between rows */
  uint32_t *touched; /* [vertices] */
  uint32_t count;
} gatherer;

static void gatherer_free(gatherer *gathered)
{
  cm_free(gathered->weight);
  cm_free(gathered->touched);
}

static cm_status gatherer_new(cm_run *run, uint32_t vertices, gatherer *made, cm_error *error)
{
  gatherer gathered = {0};
  if (CM_NEW(run->memory, gathered.weight, vertices, error) != CM_OK ||
      CM_NEW(run->memory, gathered.touched, vertices, error) != CM_OK) {
    gatherer_free(&gathered);
    return error->status;
  }
  *made = gathered;
  return CM_OK;
}

/* Weightless edges still connect, so that a zero weight must not look untouched: all weights are kept
 * plus one bit. */
static void gather(gatherer *gathered, uint32_t neighbour, uint64_t weight)
{
  if (gathered->weight[neighbour] == 0)
    gathered->touched[gathered->count++] = neighbour;
  gathered->weight[neighbour] = (gathered->weight[neighbour] | 1) + (weight << 1);
}

static int ascending(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Appends the gathered row to the graph, growing it as needed, and clears the table. */
static cm_status append_row(gatherer *gathered, cm_graph *graph, uint32_t row, uint64_t *room, cm_run *run,
                            cm_error *error)
{
  uint64_t used = graph->entry_count;
  if (used + gathered->count > *room) {
    uint64_t wanted = used + gathered->count + used / 2 + 1024;
    uint32_t *neighbour = cm_reallocate(run->memory, graph->neighbour, wanted, sizeof *neighbour, error);
    if (neighbour == NULL)
      return error->status;
    graph->neighbour = neighbour;
    uint64_t *weight = cm_reallocate(run->memory, graph->weight, wanted, sizeof *weight, error);
    if (weight == NULL)
      return error->status;
    graph->weight = weight;
    *room = wanted;
  }
  qsort(gathered->touched, gathered->count, sizeof *gathered->touched, ascending);
  for (uint32_t i = 0; i < gathered->count; i++) {
    uint32_t neighbour = gathered->touched[i];
    uint64_t weight = gathered->weight[neighbour] >> 1;
    gathered->weight[neighbour] = 0;
    graph->neighbour[used + i] = neighbour;
    graph->weight[used + i] = weight;
    graph->weight_total += weight; /* twice the truth until finish_graph */
  }
  graph->entry_count = used + gathered->count;
  graph->first[row + 1] = graph->entry_count;
  gathered->count = 0;
  return CM_OK;
}

/* Gives back what was allocated too much and settles the totals. */
static cm_status finish_graph(cm_graph *graph, cm_run *run, cm_error *error)
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

/* The pins of a directed topology by target: for each vertex the positions of the pins that point to it. */
typedef struct transpose {
  uint64_t *first; /* [vertices + 1] */
  uint32_t *net;   /* [pins] */
  uint64_t *place; /* [pins] position of the pin, only when pins have weights of their own */
} transpose;

static void transpose_free(transpose *in)
{
  cm_free(in->first);
  cm_free(in->net);
  cm_free(in->place);
}

static cm_status transpose_new(const cm_topology *topology, cm_run *run, transpose *made, cm_error *error)
{
  transpose in = {0};
  uint32_t n = topology->vertex_count;
  if (CM_NEW(run->memory, in.first, (size_t)n + 2, error) != CM_OK ||
      CM_NEW(run->memory, in.net, topology->pin_count, error) != CM_OK ||
      (topology->pin_weight != NULL && CM_NEW(run->memory, in.place, topology->pin_count, error) != CM_OK)) {
    transpose_free(&in);
    return error->status;
  }
  /* Two places ahead, so that filling moves each start to where it belongs. */
  for (uint64_t i = 0; i < topology->pin_count; i++)
    in.first[(size_t)topology->pin[i] + 2]++;
  for (size_t v = 2; v <= (size_t)n + 1; v++)
    in.first[v] += in.first[v - 1];
  for (uint32_t e = 0; e < topology->net_count; e++) {
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint64_t at = in.first[topology->pin[i] + 1]++;
      in.net[at] = e;
      if (in.place != NULL)
        in.place[at] = i;
    }
  }
  *made = in;
  return CM_OK;
}

static cm_status fill_from_directed(const cm_topology *topology, cm_graph *graph, gatherer *gathered,
                                    cm_run *run, cm_error *error)
{
  transpose in = {0};
  if (transpose_new(topology, run, &in, error) != CM_OK)
    return error->status;
  uint64_t room = graph->entry_count;
  graph->entry_count = 0;
  cm_status status = CM_OK;
  uint32_t net = 0;
  for (uint32_t v = 0; v < topology->vertex_count && status == CM_OK; v++) {
    for (; net < topology->net_count && cm_topology_source(topology, net) == v; net++)
      for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++)
        if (topology->pin[i] != v)
          gather(gathered, topology->pin[i], cm_topology_pin_weight(topology, net, i));
    for (uint64_t j = in.first[v]; j < in.first[v + 1]; j++) {
      uint32_t source = cm_topology_source(topology, in.net[j]);
      if (source != v)
        gather(gathered, source, cm_topology_pin_weight(topology, in.net[j], in.place != NULL ? in.place[j] : 0));
    }
    status = append_row(gathered, graph, v, &room, run, error);
    if (status == CM_OK && v % CHECK_EVERY == 0)
      status = cm_run_check(run, error);
  }
  transpose_free(&in);
  return status;
}

static cm_status fill_from_undirected(const cm_topology *topology, cm_graph *graph, cm_run *run, cm_error *error)
{
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    for (uint64_t i = topology->net_first[v]; i < topology->net_first[v + 1]; i++) {
      graph->neighbour[i] = topology->pin[i];
      graph->weight[i] = cm_topology_pin_weight(topology, v, i);
      graph->weight_total += graph->weight[i];
    }
    graph->first[v + 1] = topology->net_first[v + 1];
    if (v % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_graph_from_topology(const cm_topology *topology, cm_run *run, cm_graph **graph, cm_error *error)
{
  cm_graph *made;
  uint64_t entries = topology->directed ? 2 * topology->pin_count : topology->pin_count;
  if (new_graph(run, topology->vertex_count, entries, &made, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < made->vertex_count; v++)
    made->size[v] = cm_topology_size(topology, v);
  cm_status status;
  if (topology->directed) {
    gatherer gathered = {0};
    status = gatherer_new(run, made->vertex_count, &gathered, error);
    if (status == CM_OK) {
      status = fill_from_directed(topology, made, &gathered, run, error);
      gatherer_free(&gathered);
    }
  } else
    status = fill_from_undirected(topology, made, run, error);
  if (status == CM_OK)
    status = finish_graph(made, run, error);
  if (status != CM_OK) {
    cm_graph_free(made);
    return status;
  }
  *graph = made;
  return CM_OK;
}

static cm_status contract_rows(const cm_graph *graph, const uint32_t *map, const uint32_t *first,
                               const uint32_t *member, gatherer *gathered, cm_graph *coarse, cm_run *run,
                               cm_error *error)
{
  uint64_t room = coarse->entry_count;
  coarse->entry_count = 0;
  for (uint32_t c = 0; c < coarse->vertex_count; c++) {
    for (uint32_t j = first[c]; j < first[c + 1]; j++) {
      uint32_t v = member[j];
      coarse->size[c] += graph->size[v];
      for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
        uint32_t other = map[graph->neighbour[i]];
        if (other != c)
          gather(gathered, other, graph->weight[i]);
      }
    }
    if (append_row(gathered, coarse, c, &room, run, error) != CM_OK ||
        (c % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK))
      return error->status;
  }
  return finish_graph(coarse, run, error);
}

cm_status cm_graph_contract(const cm_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_graph **coarse, cm_error *error)
{
  uint32_t *first = NULL, *member = NULL;
  gatherer gathered = {0};
  cm_graph *made = NULL;
  cm_status status = CM_NEW(run->memory, first, (size_t)coarse_count + 2, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, member, graph->vertex_count, error);
  if (status == CM_OK)
    status = gatherer_new(run, coarse_count, &gathered, error);
  if (status == CM_OK)
    status = new_graph(run, coarse_count, graph->entry_count / 4, &made, error);
  if (status == CM_OK) {
    cm_sort_members(map, graph->vertex_count, coarse_count, first, member);
    status = contract_rows(graph, map, first, member, &gathered, made, run, error);
  }
  gatherer_free(&gathered);
  cm_free(first);
  cm_free(member);
  if (status != CM_OK) {
    cm_graph_free(made);
    return status;
  }
  *coarse = made;
  return CM_OK;
}

static cm_status fill_from_rows(const uint64_t *first, const uint32_t *neighbour, const uint64_t *weight,
                                cm_graph *graph, gatherer *gathered, cm_run *run, cm_error *error)
{
  uint64_t room = graph->entry_count;
  graph->entry_count = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    graph->size[v] = 1;
    for (uint64_t i = first[v]; i < first[v + 1]; i++)
      gather(gathered, neighbour[i], weight[i]);
    if (append_row(gathered, graph, v, &room, run, error) != CM_OK)
      return error->status;
  }
  return finish_graph(graph, run, error);
}

cm_status cm_graph_from_rows(uint32_t vertices, const uint64_t *first, const uint32_t *neighbour,
                             const uint64_t *weight, cm_run *run, cm_graph **graph, cm_error *error)
{
  cm_graph *made = NULL;
  gatherer gathered = {0};
  cm_status status = gatherer_new(run, vertices, &gathered, error);
  if (status == CM_OK)
    status = new_graph(run, vertices, first[vertices], &made, error);
  if (status == CM_OK)
    status = fill_from_rows(first, neighbour, weight, made, &gathered, run, error);
  gatherer_free(&gathered);
  if (status != CM_OK) {
    cm_graph_free(made);
    return status;
  }
  *graph = made;
  return CM_OK;
}

cm_status cm_graph_induce(const cm_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *scratch,
                          cm_run *run, cm_graph **induced, cm_error *error)
{
  uint64_t entries = 0;
  for (uint32_t i = 0; i < count; i++) {
    scratch[vertex[i]] = i;
    entries += graph->first[vertex[i] + 1] - graph->first[vertex[i]];
  }
  cm_graph *made;
  if (new_graph(run, count, entries, &made, error) != CM_OK)
    return error->status;
  uint64_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = vertex[i];
    made->size[i] = graph->size[v];
    for (uint64_t j = graph->first[v]; j < graph->first[v + 1]; j++) {
      /* A stale scratch value is told apart by looking whom it names. */
      uint32_t other = graph->neighbour[j], local = scratch[other];
      if (local >= count || vertex[local] != other)
        continue;
      made->neighbour[used] = local;
      made->weight[used] = graph->weight[j];
      made->weight_total += graph->weight[j];
      used++;
    }
    made->first[i + 1] = used;
  }
  made->entry_count = used;
  cm_status status = finish_graph(made, run, error);
  if (status != CM_OK) {
    cm_graph_free(made);
    return status;
  }
  *induced = made;
  return CM_OK;
}

cm_status cm_graph_save(const cm_graph *graph, const uint32_t *parent, uint32_t finer_count,
                        uint64_t weight_scale, const char *path, cm_run *run, cm_error *error)
{
  cm_topology_header header = {.directed = false,
                               .vertex_count = graph->vertex_count,
                               .weight_scale = weight_scale,
                               .finer_count = finer_count};
  cm_topology_writer *writer;
  if (cm_topology_writer_open(path, &header, graph->size, &writer, error) != CM_OK)
    return error->status;
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
    if (status == CM_OK && v % CHECK_EVERY == 0)
      status = cm_run_check(run, error);
  }
  if (status != CM_OK) {
    cm_topology_writer_abort(writer);
    return status;
  }
  return cm_topology_writer_close(writer, error);
}

static cm_status load_rows(cm_topology_reader *reader, cm_graph *graph, cm_run *run, cm_error *error)
{
  uint32_t next = 0;
  uint64_t used = 0;
  for (;;) {
    cm_topology_row row;
    bool end;
    if (cm_topology_reader_next(reader, &row, &end, error) != CM_OK)
      return error->status;
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
  return finish_graph(graph, run, error);
}

cm_status cm_graph_load(const char *path, cm_run *run, cm_graph **graph, uint32_t **parent, uint32_t *finer_count,
                        cm_error *error)
{
  cm_topology_reader *reader;
  if (cm_topology_reader_open(path, run->memory, &reader, error) != CM_OK)
    return error->status;
  const cm_topology_header *header = cm_topology_reader_header(reader);
  cm_graph *made = NULL;
  uint32_t *parents = NULL;
  cm_status status = CM_OK;
  uint32_t count = header->finer_count;
  if (header->directed)
    status = cm_fail(error, CM_BAD_NETWORK, "%s is a directed network, no coarsened level", path);
  if (status == CM_OK)
    status = new_graph(run, header->vertex_count, header->pin_count, &made, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, parents, count, error);
  if (status == CM_OK)
    status = cm_topology_reader_sizes(reader, made->size, error);
  if (status == CM_OK)
    status = cm_topology_reader_parents(reader, parents, error);
  if (status == CM_OK)
    status = load_rows(reader, made, run, error);
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
