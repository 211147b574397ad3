#include "core/partition/flows.h"

#include <string.h>

#include "base/threads.h"
#include "core/network/nets_by_part.h"

/* What one slice of the parts sends: its flows stand in an object of its own. */
typedef struct slice_tables {
  uint32_t *seen;    /* [parts] last net + 1 that was seen there */
  uint64_t *weight;  /* [parts] zero between source parts */
  uint32_t *touched; /* [parts] */
  cm_flows *found;   /* of the slice's parts, numbered from 0 */
} slice_tables;

enum { SLICES_MAX = 8 };

typedef struct collecting {
  const cm_demand *demand;
  const uint32_t *part;
  uint32_t parts, slices;
  uint32_t *first, *net; /* nets by the part of their source */
  cm_run *run;
  slice_tables slice[SLICES_MAX];
} collecting;

cm_status cm_flows_new(uint32_t parts, uint64_t count, cm_run *run, cm_flows **flows, cm_error *error)
{
  cm_flows *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->parts = parts;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made->first, (size_t)parts + 1), CM_ARRAY(made->target, count),
                       CM_ARRAY(made->weight, count)), cm_flows_free(made));
  *flows = made;
  return CM_OK;
}

cm_status cm_flows_turned(const cm_flows *flows, cm_run *run, cm_flows **turned, cm_error *error)
{
  const cm_flows *f = flows;
  const uint64_t count = f->first[f->parts];
  cm_flows *made;
  CM_TRY(cm_flows_new(f->parts + 1, count, run, &made, error)); /* filling below moves each start by one */
  made->parts = f->parts;
  for (uint64_t i = 0; i < count; i++)
    made->first[f->target[i] + 2]++;
  for (uint32_t p = 0; p < f->parts; p++)
    made->first[p + 2] += made->first[p + 1];
  for (uint32_t p = 0; p < f->parts; p++)
    for (uint64_t i = f->first[p]; i < f->first[p + 1]; i++) {
      const uint64_t place = made->first[f->target[i] + 1]++;
      made->target[place] = p;
      made->weight[place] = f->weight[i];
    }
  *turned = made;
  return CM_OK;
}

void cm_flows_free(cm_flows *flows)
{
  if (flows == NULL)
    return;
  CM_FREE(flows->first, flows->target, flows->weight, flows);
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
static uint32_t send(const collecting *c, uint32_t p, slice_tables *t)
{
  const cm_topology *topology = c->demand->network;
  uint32_t count = 0;
  for (uint32_t j = c->first[p]; j < c->first[p + 1]; j++) {
    uint32_t e = c->net[j];
    if (cm_demand_net_weight(c->demand, e) == 0)
      continue; /* carries nothing */
    t->seen[p] = e + 1; /* stays at home */
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t q = c->part[topology->pin[i]];
      if (t->seen[q] == e + 1)
        continue;
      t->seen[q] = e + 1;
      if (t->weight[q] == 0)
        t->touched[count++] = q;
      t->weight[q] += cm_demand_net_weight(c->demand, e);
    }
  }
  return count;
}

static uint32_t first_part(const collecting *c, size_t slice)
{
  return (uint32_t)cm_slice_begin(c->parts, slice, c->slices);
}

static cm_status slice_tables_new(const collecting *c, uint32_t parts, slice_tables *t, cm_error *error)
{
  CM_TRY(CM_NEW(c->run->memory, t->seen, c->parts, error));
  CM_TRY(CM_NEW(c->run->memory, t->weight, c->parts, error));
  CM_TRY(CM_NEW(c->run->memory, t->touched, c->parts, error));
  return cm_flows_new(parts, 0, c->run, &t->found, error);
}

/* The flows out of every part of a slice, one part after another. */
static cm_status collect_slice(void *context, size_t slice, cm_error *error)
{
  collecting *c = context;
  slice_tables *t = &c->slice[slice];
  uint32_t begin = first_part(c, slice), end = first_part(c, slice + 1);
  uint64_t room = 0, all = 0;
  CM_TRY(slice_tables_new(c, end - begin, t, error));
  for (uint32_t p = begin; p < end; p++) {
    uint32_t count = send(c, p, t);
    CM_TRY(grow(t->found, all, count, &room, c->run, error));
    for (uint32_t i = 0; i < count; i++) {
      t->found->target[all] = t->touched[i];
      t->found->weight[all++] = t->weight[t->touched[i]];
      t->weight[t->touched[i]] = 0;
    }
    t->found->first[p - begin + 1] = all;
    CM_TRY(cm_run_check(c->run, error));
  }
  return CM_OK;
}

/* The slices' flows behind each other. */
static cm_status join(const collecting *c, cm_flows **flows, cm_error *error)
{
  uint64_t all = 0, at = 0;
  for (uint32_t s = 0; s < c->slices; s++)
    all += c->slice[s].found->first[c->slice[s].found->parts];
  CM_TRY(cm_flows_new(c->parts, all, c->run, flows, error));
  for (uint32_t s = 0; s < c->slices; s++) {
    const cm_flows *found = c->slice[s].found;
    uint64_t count = found->first[found->parts], *first = (*flows)->first + first_part(c, s) + 1;
    for (uint32_t p = 0; p < found->parts; p++)
      first[p] = at + found->first[p + 1];
    if (count > 0) {
      memcpy((*flows)->target + at, found->target, count * sizeof *found->target);
      memcpy((*flows)->weight + at, found->weight, count * sizeof *found->weight);
    }
    at += count;
  }
  return CM_OK;
}

cm_status cm_flows_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_flows **flows, cm_error *error)
{
  collecting c = {.demand = demand, .part = part, .parts = parts, .run = run};
  c.slices = run->threads < SLICES_MAX ? run->threads : SLICES_MAX;
  cm_status status = cm_nets_by_part(demand->network, part, parts, run, &c.first, &c.net, error);
  CM_THEN(status, cm_parallel(run, c.slices, collect_slice, &c, error));
  CM_THEN(status, join(&c, flows, error));
  for (uint32_t s = 0; s < c.slices; s++) {
    CM_FREE(c.slice[s].seen, c.slice[s].weight, c.slice[s].touched);
    cm_flows_free(c.slice[s].found);
  }
  CM_FREE(c.first, c.net);
  return status;
}

cm_status cm_flows_of_graph(const cm_graph *graph, cm_run *run, cm_flows **flows, cm_error *error)
{
  cm_flows *made;
  CM_TRY(cm_flows_new(graph->vertex_count, graph->entry_count, run, &made, error));
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
  CM_TRY_OR(CM_NEW(run->memory, neighbour, 2 * count, error), cm_free(first));
  CM_TRY_OR(CM_NEW(run->memory, weight, 2 * count, error), CM_FREE(first, neighbour));
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
  CM_FREE(first, neighbour, weight);
  return status;
}

cm_status cm_graph_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_graph **graph, cm_error *error)
{
  cm_flows *flows;
  CM_TRY(cm_flows_of_axons(demand, part, parts, run, &flows, error));
  cm_status status = cm_graph_of_flows(flows, run, graph, error);
  cm_flows_free(flows);
  return status;
}
