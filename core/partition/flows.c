#include "core/partition/flows.h"

#include "core/partition/partition.h"

typedef struct tables {
  uint32_t *first, *net; /* nets by the part of their source */
  uint32_t *seen;        /* [parts] last net + 1 that was seen there */
  uint64_t *weight;      /* [parts] zero between source parts */
  uint32_t *touched;     /* [parts] */
} tables;

static void tables_free(tables *t)
{
  cm_free(t->first);
  cm_free(t->net);
  cm_free(t->seen);
  cm_free(t->weight);
  cm_free(t->touched);
}

static cm_status tables_new(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run, tables *t,
                            cm_error *error)
{
  if (cm_nets_by_part(topology, part, parts, run, &t->first, &t->net, error) != CM_OK ||
      CM_NEW(run->memory, t->seen, parts, error) != CM_OK || CM_NEW(run->memory, t->weight, parts, error) != CM_OK ||
      CM_NEW(run->memory, t->touched, parts, error) != CM_OK)
    return error->status;
  return CM_OK;
}

cm_status cm_flows_new(uint32_t parts, uint64_t count, cm_run *run, cm_flows **flows, cm_error *error)
{
  cm_flows *made;
  if (CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->parts = parts;
  if (CM_NEW(run->memory, made->first, (size_t)parts + 1, error) != CM_OK ||
      CM_NEW(run->memory, made->target, count, error) != CM_OK ||
      CM_NEW(run->memory, made->weight, count, error) != CM_OK) {
    cm_flows_free(made);
    return error->status;
  }
  *flows = made;
  return CM_OK;
}

void cm_flows_free(cm_flows *flows)
{
  if (flows == NULL)
    return;
  cm_free(flows->first);
  cm_free(flows->target);
  cm_free(flows->weight);
  cm_free(flows);
}

/* Makes room for `more` flows after the first `count`. */
static cm_status grow(cm_flows *f, uint64_t count, uint64_t more, uint64_t *room, cm_run *run, cm_error *error)
{
  if (count + more <= *room)
    return CM_OK;
  uint64_t larger = 2 * (count + more) + 1024;
  uint32_t *target = cm_reallocate(run->memory, f->target, larger, sizeof *target, error);
  if (target == NULL)
    return error->status;
  f->target = target;
  uint64_t *weight = cm_reallocate(run->memory, f->weight, larger, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  f->weight = weight;
  *room = larger;
  return CM_OK;
}

/* Adds up in the tables what one part sends; returns how many parts it reaches. */
static uint32_t send(const cm_topology *topology, const uint32_t *part, uint32_t p, tables *t)
{
  uint32_t count = 0;
  for (uint32_t j = t->first[p]; j < t->first[p + 1]; j++) {
    uint32_t e = t->net[j];
    if (cm_topology_net_weight(topology, e) == 0)
      continue; /* carries nothing */
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t q = part[topology->pin[i]];
      if (q == p || t->seen[q] == e + 1)
        continue;
      t->seen[q] = e + 1;
      if (t->weight[q] == 0)
        t->touched[count++] = q;
      t->weight[q] += cm_topology_net_weight(topology, e);
    }
  }
  return count;
}

/* The flows out of every part, one part after another. */
static cm_status collect(const cm_topology *topology, const uint32_t *part, tables *t, cm_run *run, cm_flows *found,
                         cm_error *error)
{
  uint64_t room = 0, all = 0;
  for (uint32_t p = 0; p < found->parts; p++) {
    uint32_t count = send(topology, part, p, t);
    if (grow(found, all, count, &room, run, error) != CM_OK)
      return error->status;
    for (uint32_t i = 0; i < count; i++) {
      found->target[all] = t->touched[i];
      found->weight[all++] = t->weight[t->touched[i]];
      t->weight[t->touched[i]] = 0;
    }
    found->first[p + 1] = all;
    if (cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_flows_of_axons(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_flows **flows, cm_error *error)
{
  tables t = {0};
  cm_flows *found = NULL;
  cm_status status = tables_new(topology, part, parts, run, &t, error);
  if (status == CM_OK)
    status = cm_flows_new(parts, 0, run, &found, error);
  if (status == CM_OK)
    status = collect(topology, part, &t, run, found, error);
  tables_free(&t);
  if (status != CM_OK) {
    cm_flows_free(found);
    return status;
  }
  *flows = found;
  return CM_OK;
}

cm_status cm_flows_of_graph(const cm_graph *graph, cm_run *run, cm_flows **flows, cm_error *error)
{
  cm_flows *made;
  if (cm_flows_new(graph->vertex_count, graph->entry_count, run, &made, error) != CM_OK)
    return error->status;
  uint64_t count = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
      if (graph->weight[i] == 0)
        continue;
      made->target[count] = graph->neighbour[i];
      made->weight[count++] = graph->weight[i];
    }
    made->first[v + 1] = count;
  }
  *flows = made;
  return CM_OK;
}

/* Both directions of every pair of parts, added up. */
cm_status cm_graph_of_flows(const cm_flows *flows, cm_run *run, cm_graph **graph, cm_error *error)
{
  uint64_t *first, *weight, count = flows->first[flows->parts];
  uint32_t *neighbour;
  cm_status status = CM_NEW(run->memory, first, (size_t)flows->parts + 2, error);
  if (status != CM_OK)
    return status;
  if (CM_NEW(run->memory, neighbour, 2 * count, error) != CM_OK) {
    cm_free(first);
    return error->status;
  }
  if (CM_NEW(run->memory, weight, 2 * count, error) != CM_OK) {
    cm_free(first);
    cm_free(neighbour);
    return error->status;
  }
  for (uint32_t p = 0; p < flows->parts; p++)
    for (uint64_t i = flows->first[p]; i < flows->first[p + 1]; i++) {
      first[(size_t)p + 2]++;
      first[(size_t)flows->target[i] + 2]++;
    }
  for (size_t p = 2; p <= (size_t)flows->parts + 1; p++)
    first[p] += first[p - 1];
  for (uint32_t p = 0; p < flows->parts; p++)
    for (uint64_t i = flows->first[p]; i < flows->first[p + 1]; i++) {
      uint32_t q = flows->target[i];
      uint64_t there = first[(size_t)p + 1]++, back = first[(size_t)q + 1]++;
      neighbour[there] = q;
      neighbour[back] = p;
      weight[there] = weight[back] = flows->weight[i];
    }
  status = cm_graph_from_rows(flows->parts, first, neighbour, weight, run, graph, error);
  cm_free(first);
  cm_free(neighbour);
  cm_free(weight);
  return status;
}

cm_status cm_graph_of_axons(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_graph **graph, cm_error *error)
{
  cm_flows *flows;
  if (cm_flows_of_axons(topology, part, parts, run, &flows, error) != CM_OK)
    return error->status;
  cm_status status = cm_graph_of_flows(flows, run, graph, error);
  cm_flows_free(flows);
  return status;
}
