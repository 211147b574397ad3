#include "core/partition/flows.h"

#include "core/partition/partition.h"

/* One flow from a part to another. */
typedef struct flow {
  uint32_t from, to;
  uint64_t weight;
} flow;

typedef struct flows {
  flow *flow; /* by source part */
  uint64_t count, room;
} flows;

static cm_status add(flows *f, flow one, cm_run *run, cm_error *error)
{
  if (f->count == f->room) {
    uint64_t room = 2 * f->room + 1024;
    flow *larger = cm_reallocate(run->memory, f->flow, room, sizeof *larger, error);
    if (larger == NULL)
      return error->status;
    f->flow = larger;
    f->room = room;
  }
  f->flow[f->count++] = one;
  return CM_OK;
}

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

/* The flows out of every part, one part after another. */
static cm_status collect(const cm_topology *topology, const uint32_t *part, uint32_t parts, tables *t, cm_run *run,
                         flows *found, cm_error *error)
{
  for (uint32_t p = 0; p < parts; p++) {
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
    for (uint32_t i = 0; i < count; i++) {
      if (add(found, (flow){p, t->touched[i], t->weight[t->touched[i]]}, run, error) != CM_OK)
        return error->status;
      t->weight[t->touched[i]] = 0;
    }
    if (cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Both directions of every pair of parts, added up. */
static cm_status join(const flows *found, uint32_t parts, cm_run *run, cm_graph **graph, cm_error *error)
{
  uint64_t *first, *weight;
  uint32_t *neighbour;
  cm_status status = CM_NEW(run->memory, first, (size_t)parts + 2, error);
  if (status != CM_OK)
    return status;
  if (CM_NEW(run->memory, neighbour, 2 * found->count, error) != CM_OK) {
    cm_free(first);
    return error->status;
  }
  if (CM_NEW(run->memory, weight, 2 * found->count, error) != CM_OK) {
    cm_free(first);
    cm_free(neighbour);
    return error->status;
  }
  for (uint64_t i = 0; i < found->count; i++) {
    first[(size_t)found->flow[i].from + 2]++;
    first[(size_t)found->flow[i].to + 2]++;
  }
  for (size_t p = 2; p <= (size_t)parts + 1; p++)
    first[p] += first[p - 1];
  for (uint64_t i = 0; i < found->count; i++) {
    flow f = found->flow[i];
    uint64_t there = first[f.from + 1]++, back = first[f.to + 1]++;
    neighbour[there] = f.to;
    neighbour[back] = f.from;
    weight[there] = weight[back] = f.weight;
  }
  status = cm_graph_from_rows(parts, first, neighbour, weight, run, graph, error);
  cm_free(first);
  cm_free(neighbour);
  cm_free(weight);
  return status;
}

cm_status cm_graph_of_axons(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_graph **graph, cm_error *error)
{
  tables t = {0};
  flows found = {0};
  cm_status status = tables_new(topology, part, parts, run, &t, error);
  if (status == CM_OK)
    status = collect(topology, part, parts, &t, run, &found, error);
  tables_free(&t);
  if (status == CM_OK)
    status = join(&found, parts, run, graph, error);
  cm_free(found.flow);
  return status;
}
