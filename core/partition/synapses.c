#include "core/partition/synapses.h"

#include "core/network/net_order.h"

enum { LOOK = 256 /* entries of a row that are read at once where they stand in a file */ };

void cm_synapses_free(cm_synapses *s)
{
  cm_inbound_free(&s->in);
  cm_free(s->net_first);
  *s = (cm_synapses){0};
}

cm_status cm_synapses_new(const cm_demand *demand, cm_run *run, cm_synapses *synapses, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_synapses made = {.demand = demand};
  CM_TRY_OR(CM_NEW(run->memory, made.net_first, (size_t)t->vertex_count + 1, error), cm_synapses_free(&made));
  CM_TRY_OR(cm_inbound_new(demand, run, &made.in, error), cm_synapses_free(&made));
  cm_topology_nets_from(t, made.net_first);
  *synapses = made;
  return CM_OK;
}

/* ---- whole rows ---- */

static cm_status peek(const uint32_t *array, uint64_t begin, uint64_t end, uint32_t *into, cm_error *error)
{
  return cm_peek(array, begin * sizeof *array, (end - begin) * sizeof *array, into, error);
}

static cm_status read_outbound(const cm_synapses *s, const cm_synapse_run *run, uint32_t *neighbour, uint32_t *weight,
                               cm_error *error)
{
  const cm_topology *t = s->demand->network;
  uint64_t count = run->end - run->begin;
  uint32_t source = cm_topology_source(t, run->net);
  uint32_t alike = cm_inbound_units(&s->in, cm_demand_net_weight(s->demand, run->net));
  if (peek(t->pin, run->begin, run->end, neighbour, error) != CM_OK ||
      (t->pin_weight != NULL && peek(t->pin_weight, run->begin, run->end, weight, error) != CM_OK))
    return error->status;
  for (uint64_t i = 0; i < count; i++) {
    weight[i] = t->pin_weight != NULL ? cm_inbound_units(&s->in, weight[i]) : alike;
    if (neighbour[i] == source)
      weight[i] = 0;
  }
  return CM_OK;
}

static cm_status read_inbound(const cm_inbound *in, const cm_synapse_run *run, uint32_t *neighbour, uint32_t *weight,
                              cm_error *error)
{
  CM_TRY(peek(in->entry, run->begin, run->end, neighbour, error));
  if (in->weight != NULL)
    return peek(in->weight, run->begin, run->end, weight, error);
  for (uint64_t i = 0; i < run->end - run->begin; i++) {
    weight[i] = cm_inbound_packed_weight(in, neighbour[i]);
    neighbour[i] = cm_inbound_packed_source(in, neighbour[i]);
  }
  return CM_OK;
}

cm_status cm_synapses_read(const cm_synapses *s, const cm_synapse_run *run, uint32_t *neighbour, uint32_t *weight,
                           cm_error *error)
{
  return run->net == CM_INBOUND ? read_inbound(&s->in, run, neighbour, weight, error)
                                : read_outbound(s, run, neighbour, weight, error);
}

/* ---- single entries ---- */

/* The first of entries begin .. end - 1 whose low bits are at least `key`, or `end`. */
static uint64_t search(const uint32_t *entry, uint64_t begin, uint64_t end, uint32_t mask, uint32_t key)
{
  while (begin < end) {
    uint64_t middle = begin + (end - begin) / 2;
    if ((entry[middle] & mask) < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* Where that is and what stands there (0 at the end). */
static cm_status find(const uint32_t *entry, uint64_t begin, uint64_t end, uint32_t mask, uint32_t key, uint64_t *at,
                      uint32_t *found, cm_error *error)
{
  uint32_t look[LOOK + 1] = {0};
  while (end - begin > LOOK) {
    uint64_t middle = begin + (end - begin) / 2;
    CM_TRY(peek(entry, middle, middle + 1, look, error));
    if ((look[0] & mask) < key)
      begin = middle + 1;
    else
      end = middle + 1; /* what stands at `end` is wanted too: it may be the one */
  }
  look[0] = 0;
  CM_TRY(peek(entry, begin, end, look, error));
  look[end - begin] = 0;
  uint64_t place = search(look, 0, end - begin, mask, key);
  *at = begin + place;
  *found = look[place];
  return CM_OK;
}

/* Out of v to u, over all nets of v. */
static cm_status weight_out(const cm_synapses *s, uint32_t v, uint32_t u, int64_t *weight, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  for (uint32_t e = s->net_first[v]; e < s->net_first[v + 1]; e++) {
    uint64_t at, end = t->net_first[e + 1];
    uint32_t target, own = 0;
    CM_TRY(find(t->pin, t->net_first[e], end, UINT32_MAX, u, &at, &target, error));
    if (at == end || target != u)
      continue;
    if (t->pin_weight != NULL && peek(t->pin_weight, at, at + 1, &own, error) != CM_OK)
      return error->status;
    *weight += cm_inbound_units(&s->in, t->pin_weight != NULL ? own : cm_demand_net_weight(s->demand, e));
  }
  return CM_OK;
}

/* Into v from u: one entry for each net of u that has v. */
static cm_status weight_in(const cm_inbound *in, uint32_t v, uint32_t u, int64_t *weight, cm_error *error)
{
  uint64_t at, end = in->first[v + 1];
  uint32_t entry, own;
  CM_TRY(find(in->entry, in->first[v], end, cm_inbound_mask(in), u, &at, &entry, error));
  for (; at < end && cm_inbound_packed_source(in, entry) == u; at++) {
    if (in->weight != NULL && peek(in->weight, at, at + 1, &own, error) != CM_OK)
      return error->status;
    *weight += in->weight != NULL ? own : cm_inbound_packed_weight(in, entry);
    if (at + 1 < end && peek(in->entry, at + 1, at + 2, &entry, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_synapses_between(const cm_synapses *s, uint32_t v, uint32_t u, int64_t *weight, cm_error *error)
{
  int64_t sum = 0;
  CM_TRY(weight_out(s, v, u, &sum, error));
  CM_TRY(weight_in(&s->in, v, u, &sum, error));
  *weight = sum;
  return CM_OK;
}
