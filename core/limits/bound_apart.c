#include "core/limits/bound_apart.h"

enum { APART_MAX = 128 }; /* neurons that are compared pairwise */

typedef struct apart {
  const cm_demand *demand;
  const cm_limits *limits;
  const uint32_t *synapses, *axons; /* [vertices] */
  cm_run *run;
  uint32_t neuron[APART_MAX], count; /* candidates, most inbound axons first */
  uint32_t *first;                   /* [count + 1] */
  uint32_t *source;                  /* sources that come in, ascending */
} apart;

static bool over_half(const apart *a, uint32_t v)
{
  const cm_limits *l = a->limits;
  return (l->neurons != 0 && 2 * (uint64_t)cm_demand_size(a->demand, v) > l->neurons) ||
         (l->synapses != 0 && 2 * (uint64_t)a->synapses[v] > l->synapses) ||
         (l->inbound_axons != 0 && 2 * (uint64_t)a->axons[v] > l->inbound_axons);
}

/* Keeps the neurons with most inbound axons, the earlier first among equals. */
static void keep_candidate(apart *a, uint32_t v)
{
  uint32_t at = a->count;
  if (at == APART_MAX && a->axons[v] <= a->axons[a->neuron[at - 1]])
    return;
  if (at < APART_MAX)
    a->count++;
  else
    at--;
  for (; at > 0 && a->axons[v] > a->axons[a->neuron[at - 1]]; at--)
    a->neuron[at] = a->neuron[at - 1];
  a->neuron[at] = v;
}

/* The sources of the candidates' inbound axons, from one pass over the network. */
static cm_status gather_sources(apart *a, cm_error *error)
{
  const cm_topology *t = a->demand->network;
  uint64_t total = 0;
  for (uint32_t k = 0; k < a->count; k++)
    total += a->axons[a->neuron[k]];
  if (total > UINT32_MAX) /* 128 neurons with 2^25 inputs each: the other arguments have to do */
    a->count = 0;
  uint32_t *slot, next[APART_MAX];
  CM_TRY(CM_NEW_ALL(a->run->memory, error, CM_ARRAY(a->first, a->count + 1), CM_ARRAY(a->source, a->count > 0 ? total : 0),
                    CM_ARRAY(slot, t->vertex_count)));
  for (uint32_t k = 0; k < a->count; k++) {
    slot[a->neuron[k]] = k + 1;
    next[k] = a->first[k];
    a->first[k + 1] = a->first[k] + a->axons[a->neuron[k]];
  }
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t k = slot[t->pin[i]], source = cm_topology_source(t, e);
      if (k != 0 && (next[k - 1] == a->first[k - 1] || a->source[next[k - 1] - 1] != source))
        a->source[next[k - 1]++] = source;
    }
  cm_free(slot);
  return CM_OK;
}

static uint64_t union_of(const apart *a, uint32_t x, uint32_t y)
{
  uint32_t i = a->first[x], j = a->first[y], end = a->first[x + 1], stop = a->first[y + 1];
  uint64_t common = 0;
  while (i < end && j < stop) {
    common += a->source[i] == a->source[j];
    uint32_t p = a->source[i], q = a->source[j];
    i += p <= q;
    j += q <= p;
  }
  return (uint64_t)(end - a->first[x]) + (stop - a->first[y]) - common;
}

/* Whether two candidates break a limit together; *resource says which. */
static bool must_part(const apart *a, uint32_t x, uint32_t y, cm_resource *resource)
{
  const cm_limits *l = a->limits;
  uint32_t u = a->neuron[x], v = a->neuron[y];
  uint64_t size = (uint64_t)cm_demand_size(a->demand, u) + cm_demand_size(a->demand, v);
  uint64_t synapses = (uint64_t)a->synapses[u] + a->synapses[v];
  *resource = l->neurons != 0 && size > l->neurons         ? CM_NEURONS
              : l->synapses != 0 && synapses > l->synapses ? CM_SYNAPSES
                                                           : CM_INBOUND_AXONS;
  return *resource != CM_INBOUND_AXONS || (l->inbound_axons != 0 && union_of(a, x, y) > l->inbound_axons);
}

cm_status cm_neurons_apart(const cm_demand *demand, const cm_limits *limits, const uint32_t *synapses, const uint32_t *axons,
                           cm_run *run, uint32_t *neurons, cm_resource *last, cm_error *error)
{
  apart a = {.demand = demand, .limits = limits, .synapses = synapses, .axons = axons, .run = run};
  uint32_t chosen[APART_MAX], parts = 0;
  cm_resource resource = CM_NEURONS;
  *last = CM_NEURONS;
  *neurons = 0;
  for (uint32_t v = 0; v < demand->network->vertex_count; v++)
    if (over_half(&a, v))
      keep_candidate(&a, v);
  if (a.count < 2)
    return CM_OK;
  cm_status status = gather_sources(&a, error);
  for (uint32_t k = 0; status == CM_OK && k < a.count; k++) {
    uint32_t other = 0;
    while (other < parts && must_part(&a, k, chosen[other], &resource))
      other++;
    if (other < parts)
      continue;
    chosen[parts++] = k;
    *last = parts > 1 ? resource : *last;
    status = cm_run_check(run, error);
  }
  *neurons = parts;
  CM_FREE(a.first, a.source);
  return status;
}
