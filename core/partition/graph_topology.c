/* The graph of a topology's synapses. A directed one is turned round slice by slice: for a range of vertices, the pins
 * that point to them, taken from all nets in order. What a slice needs at once is bounded, and nothing is written all
 * over memory or a file. What can fail: memory, time, cancel. */
#include "core/partition/graph.h"

#include "core/partition/graph_gather.h"

enum { CHECK_EVERY = 4096 };

/* Pins of a slice at most, where the memory has no limit; with one, so many of its bytes. */
enum { SLICE_PINS = 1 << 25, SLICE_SHARE = 8 };

/* The pins that point to the vertices begin .. end - 1, by target. */
typedef struct slice {
  const cm_demand *demand;
  cm_run *run;
  uint64_t *first;  /* [vertices + 2] where a vertex's pins start among all; one place ahead from `end` on */
  uint32_t begin, end;
  uint64_t base;    /* pins before the slice */
  uint64_t room;    /* pins in a slice at most */
  uint32_t *net;    /* [room] */
  uint32_t *weight; /* [room] only when pins have weights of their own */
} slice;

static void slice_free(slice *in)
{
  CM_FREE(in->first, in->net, in->weight);
}

/* Two places ahead, so that filling moves each start to where it belongs. */
static cm_status count_pins(slice *in, cm_error *error)
{
  const cm_topology *t = in->demand->network;
  uint64_t most = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t count = ++in->first[(size_t)t->pin[i] + 2];
      most = count > most ? count : most;
    }
    if (e % CHECK_EVERY == 0 && cm_run_check(in->run, error) != CM_OK)
      return error->status;
  }
  for (size_t v = 2; v <= (size_t)t->vertex_count + 1; v++)
    in->first[v] += in->first[v - 1];
  in->room = in->room > most ? in->room : most;
  in->room = in->room < t->pin_count ? in->room : t->pin_count;
  return CM_OK;
}

static cm_status slice_new(const cm_demand *demand, cm_run *run, slice *made, cm_error *error)
{
  const cm_topology *topology = demand->network;
  slice in = {.demand = demand, .run = run, .room = SLICE_PINS};
  uint64_t bytes = topology->pin_weight != NULL ? 8 : 4;
  if (run->memory != NULL && run->memory->limit_bytes != 0 && run->memory->limit_bytes / SLICE_SHARE / bytes < in.room)
    in.room = run->memory->limit_bytes / SLICE_SHARE / bytes;
  cm_status status = CM_NEW(run->memory, in.first, (size_t)topology->vertex_count + 2, error);
  CM_THEN(status, count_pins(&in, error));
  CM_THEN(status, CM_NEW(run->memory, in.net, in.room, error));
  CM_THEN_IF(status, topology->pin_weight != NULL, CM_NEW(run->memory, in.weight, in.room, error));
  CM_END(status, *made = in, slice_free(&in));
}

/* Goes on to the slice that begins where the last one ended: as many vertices as there is room for. */
static cm_status slice_next(slice *in, cm_error *error)
{
  const cm_topology *t = in->demand->network;
  in->begin = in->end;
  in->base = in->first[(size_t)in->begin + 1];
  while (in->end < t->vertex_count && in->first[(size_t)in->end + 2] - in->base <= in->room)
    in->end++;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t end = t->net_first[e + 1];
    for (uint64_t i = cm_topology_first_pin(t, e, in->begin); i < end && t->pin[i] < in->end; i++) {
      uint64_t at = in->first[(size_t)t->pin[i] + 1]++ - in->base;
      in->net[at] = e;
      if (in->weight != NULL)
        in->weight[at] = t->pin_weight[i];
    }
    if (e % CHECK_EVERY == 0 && cm_run_check(in->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* The rows of the slice's vertices: what they send, from net *net on, and what is sent to them. */
static cm_status fill_slice(const slice *in, uint32_t *net, cm_graph *graph, uint64_t *room, cm_gatherer *gathered,
                            cm_error *error)
{
  const cm_topology *t = in->demand->network;
  for (uint32_t v = in->begin; v < in->end; v++) {
    for (; *net < t->net_count && cm_topology_source(t, *net) == v; ++*net)
      for (uint64_t i = t->net_first[*net]; i < t->net_first[*net + 1]; i++)
        if (t->pin[i] != v)
          cm_gather(gathered, t->pin[i], cm_demand_pin_weight(in->demand, *net, i));
    for (uint64_t j = in->first[v] - in->base; j < in->first[v + 1] - in->base; j++) {
      uint32_t source = cm_topology_source(t, in->net[j]);
      if (source != v)
        cm_gather(gathered, source, in->weight != NULL ? in->weight[j] : cm_demand_net_weight(in->demand, in->net[j]));
    }
    if (cm_gatherer_append(gathered, graph, v, room, in->run, error) != CM_OK ||
        (v % CHECK_EVERY == 0 && cm_run_check(in->run, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

static cm_status fill_from_directed(const cm_demand *demand, cm_graph *graph, cm_gatherer *gathered, cm_run *run,
                                    cm_error *error)
{
  slice in;
  uint64_t room = graph->entry_count;
  uint32_t net = 0;
  CM_TRY(slice_new(demand, run, &in, error));
  graph->entry_count = 0;
  cm_status status = CM_OK;
  while (status == CM_OK && in.end < demand->network->vertex_count) {
    status = slice_next(&in, error);
    CM_THEN(status, fill_slice(&in, &net, graph, &room, gathered, error));
  }
  slice_free(&in);
  return status;
}

static cm_status fill_from_undirected(const cm_demand *demand, cm_graph *graph, cm_run *run, cm_error *error)
{
  const cm_topology *topology = demand->network;
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    for (uint64_t i = topology->net_first[v]; i < topology->net_first[v + 1]; i++) {
      graph->neighbour[i] = topology->pin[i];
      graph->weight[i] = cm_demand_pin_weight(demand, v, i);
      graph->weight_total += graph->weight[i];
    }
    graph->first[v + 1] = topology->net_first[v + 1];
    if (v % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_graph_from_topology(const cm_demand *demand, cm_run *run, cm_graph **graph, cm_error *error)
{
  const cm_topology *topology = demand->network;
  cm_graph *made;
  uint64_t entries = topology->directed ? 2 * topology->pin_count : topology->pin_count;
  CM_TRY(cm_graph_new(run, topology->vertex_count, entries, &made, error));
  for (uint32_t v = 0; v < made->vertex_count; v++)
    made->size[v] = cm_demand_size(demand, v);
  cm_status status;
  if (topology->directed) {
    cm_gatherer gathered = {0};
    status = cm_gatherer_new(run, made->vertex_count, &gathered, error);
    if (status == CM_OK) {
      status = fill_from_directed(demand, made, &gathered, run, error);
      cm_gatherer_free(&gathered);
    }
  } else
    status = fill_from_undirected(demand, made, run, error);
  CM_THEN(status, cm_graph_finish(made, run, error));
  CM_END(status, *graph = made, cm_graph_free(made));
}

/* ---- of parts ---- */

/* Weights of all pairs of parts, doubled, and odd where there is an edge, whatever it weighs. */
static cm_status fill_table(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint64_t *table, cm_error *error)
{
  const cm_topology *t = demand->network;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t *row = table + (size_t)part[cm_topology_source(t, e)] * parts;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t *cell = row + part[t->pin[i]];
      *cell = (*cell + 2 * cm_demand_pin_weight(demand, e, i)) | 1;
    }
    if (e % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  for (uint32_t p = 0; t->directed && p < parts; p++)
    for (uint32_t q = 0; q < p; q++) {
      uint64_t *there = table + (size_t)p * parts + q, *back = table + (size_t)q * parts + p;
      *there = *back = (*there / 2 + *back / 2) * 2 + (*there % 2 | *back % 2);
    }
  return CM_OK;
}

/* Sizes stay 0. */
static cm_status graph_of_table(const uint64_t *table, uint32_t parts, cm_run *run, cm_graph **graph, cm_error *error)
{
  uint64_t entries = 0, used = 0;
  cm_graph *made;
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t q = 0; q < parts; q++)
      entries += q != p && table[(size_t)p * parts + q] % 2;
  CM_TRY(cm_graph_new(run, parts, entries, &made, error));
  for (uint32_t p = 0; p < parts; p++) {
    for (uint32_t q = 0; q < parts; q++) {
      const uint64_t cell = table[(size_t)p * parts + q];
      if (q == p || cell % 2 == 0)
        continue;
      made->neighbour[used] = q;
      made->weight[used++] = cell / 2;
      made->weight_total += cell / 2;
    }
    made->first[p + 1] = used;
  }
  *graph = made;
  return CM_OK;
}

static cm_status graph_by_table(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, cm_graph **graph, cm_error *error)
{
  uint64_t *table;
  cm_graph *made = NULL;
  CM_TRY(CM_NEW(run->memory, table, (size_t)parts * parts, error));
  cm_status status = fill_table(demand, part, parts, run, table, error);
  CM_THEN(status, graph_of_table(table, parts, run, &made, error));
  cm_free(table);
  for (uint32_t v = 0; status == CM_OK && v < demand->network->vertex_count; v++)
    made->size[part[v]] += cm_demand_size(demand, v);
  CM_THEN(status, cm_graph_finish(made, run, error));
  if (status == CM_OK)
    *graph = made;
  else
    cm_graph_free(made);
  return status;
}

cm_status cm_graph_of_parts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, cm_graph **graph, cm_error *error)
{
  cm_graph *whole;
  if ((uint64_t)parts * parts <= demand->network->pin_count)
    return graph_by_table(demand, part, parts, run, graph, error);
  CM_TRY(cm_graph_from_topology(demand, run, &whole, error));
  const cm_status status = cm_graph_contract(whole, part, parts, run, graph, error);
  cm_graph_free(whole);
  return status;
}
