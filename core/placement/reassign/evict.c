/* Neurons leave parts that ask too much of their cores, those least tied to them first. */
#include <math.h>
#include <stdlib.h>

#include "core/placement/reassign/reassignment.h"

typedef struct ranked {
  uint32_t firm;
  double tie;
  uint32_t vertex;
} ranked;

static int by_tie(const void *a, const void *b)
{
  const ranked *p = a, *q = b;
  if (p->firm != q->firm)
    return p->firm < q->firm ? -1 : 1;
  if (p->tie != q->tie)
    return p->tie < q->tie ? -1 : 1;
  return p->vertex < q->vertex ? -1 : 1;
}

uint32_t cm_firmness(const cm_assignment *s, uint32_t v)
{
  uint64_t cores = 0;
  uint32_t firm = CM_FIRM - 2;
  if (s->anywhere == 0 || !cm_is_pinned(s, v))
    return 0;
  if (s->held != NULL && s->held[v])
    return CM_FIRM - 1;
  for (uint32_t k = 0; k < s->kinds; k++)
    cores += cm_kind_takes(s, v, k) ? s->cores[k] : 0;
  for (; cores > 1 && firm > 1; cores /= 4)
    firm--;
  return firm;
}

/* Packets that a neuron exchanges with its own part. */
static double tie_to_own(const cm_reassignment *w, uint32_t v)
{
  const cm_topology *t = w->demand->network;
  double sum = 0;
  for (uint64_t i = w->in_first[v]; i < w->in_first[v + 1]; i++)
    if (w->s->part[cm_topology_source(t, w->in_net[i])] == w->s->part[v])
      sum += (double)cm_demand_net_weight(w->demand, w->in_net[i]);
  for (uint32_t e = w->out_first[v]; e < w->out_first[v + 1]; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      if (w->s->part[t->pin[i]] == w->s->part[v])
        sum += (double)cm_demand_net_weight(w->demand, e);
  return sum;
}

static uint64_t memory_of(const cm_reassignment *w, uint32_t part)
{
  return cm_memory_bits(cm_assigned_limits(w->s, part), *cm_part_use(w, part, CM_NEURONS), *cm_part_use(w, part, CM_SYNAPSES),
                        *cm_part_use(w, part, CM_INBOUND_AXONS));
}

/* Sends neurons of a part away until what can be told exactly fits, and a share of them for what cannot. */
static void shrink(cm_reassignment *w, uint32_t part, ranked *list, uint32_t members)
{
  const cm_limits *limits = cm_assigned_limits(w->s, part);
  uint64_t least = 1;
  for (cm_resource r = CM_INBOUND_AXONS; r < CM_RESOURCES; r++) {
    uint64_t limit = cm_limit(limits, r), used = *cm_part_use(w, part, r);
    if (limit != 0 && used > limit) {
      uint64_t share = (uint64_t)ceil((double)members * (double)(used - limit) / (double)used);
      least = share > least ? share : least;
    }
  }
  if (limits->memory_bits != 0 && memory_of(w, part) > limits->memory_bits) {
    uint64_t used = memory_of(w, part);
    uint64_t share = (uint64_t)ceil((double)members * (double)(used - limits->memory_bits) / (double)used);
    least = share > least ? share : least;
  }
  qsort(list, members, sizeof *list, by_tie);
  for (uint32_t i = 0; i < members; i++) {
    bool full = (limits->neurons != 0 && *cm_part_use(w, part, CM_NEURONS) > limits->neurons) ||
                (limits->synapses != 0 && *cm_part_use(w, part, CM_SYNAPSES) > limits->synapses);
    if (!full && i >= least)
      return;
    uint32_t v = list[i].vertex;
    *cm_part_use(w, part, CM_NEURONS) -= cm_demand_size(w->demand, v);
    *cm_part_use(w, part, CM_SYNAPSES) -= w->in_first[v + 1] - w->in_first[v];
    cm_population_tally_book(&w->populations, v, part, -1);
    w->s->part[v] = CM_NOWHERE;
    w->members[part]--;
  }
}

static bool breaks_limit(const cm_reassignment *w, uint32_t part)
{
  const cm_limits *limits = cm_assigned_limits(w->s, part);
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    if (cm_limit(limits, r) != 0 && *cm_part_use(w, part, r) > cm_limit(limits, r))
      return true;
  return limits->memory_bits != 0 && memory_of(w, part) > limits->memory_bits;
}

/* Neurons by part: those of part p stand from first[p] on. */
static void list_members(const cm_reassignment *w, uint32_t *first, uint32_t *vertex)
{
  uint32_t parts = w->s->parts;
  for (uint32_t p = 0, sum = 0; p < parts; p++) {
    first[p] = sum;
    sum += w->members[p];
  }
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++)
    if (w->s->part[v] != CM_NOWHERE)
      vertex[first[w->s->part[v]]++] = v;
  for (uint32_t p = 0; p < parts; p++)
    first[p] -= w->members[p];
}

cm_status cm_evict_over_limits(cm_reassignment *w, bool *any, cm_error *error)
{
  cm_assignment *s = w->s;
  ranked *list = NULL;
  uint32_t *first = NULL, *vertex = NULL;
  *any = false;
  for (uint32_t p = 0; p < s->parts; p++)
    *any = *any || breaks_limit(w, p);
  if (!*any)
    return CM_OK;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(list, w->demand->network->vertex_count),
                                CM_ARRAY(first, s->parts), CM_ARRAY(vertex, w->demand->network->vertex_count));
  if (status == CM_OK)
    list_members(w, first, vertex);
  for (uint32_t p = 0; p < s->parts && status == CM_OK; p++) {
    if (!breaks_limit(w, p))
      continue;
    uint32_t members = w->members[p];
    for (uint32_t i = 0; i < members; i++)
      list[i] = (ranked){cm_firmness(w->s, vertex[first[p] + i]), tie_to_own(w, vertex[first[p] + i]), vertex[first[p] + i]};
    shrink(w, p, list, members);
    status = cm_run_check(w->run, error);
  }
  CM_FREE(list, first, vertex);
  return status;
}
