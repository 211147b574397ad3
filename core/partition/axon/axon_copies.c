#include "core/partition/axon/axon_copies.h"

cm_status cm_copies_owed_init(cm_copies_owed *owed, const cm_axon_state *s, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  *owed = (cm_copies_owed){0};
  if (s->copies == NULL)
    return CM_OK;
  if (CM_NEW(memory, owed->more, s->part_capacity, error) == CM_OK &&
      CM_NEW(memory, owed->part, s->part_capacity, error) == CM_OK && CM_NEW(memory, owed->met, s->part_capacity, error) == CM_OK)
    return CM_OK;
  cm_copies_owed_free(owed);
  return error->status;
}

void cm_copies_owed_free(cm_copies_owed *owed)
{
  CM_FREE(owed->more, owed->part, owed->met);
  *owed = (cm_copies_owed){0};
}

static void owe(cm_copies_owed *owed, uint32_t part, int64_t more)
{
  if (!owed->met[part]) {
    owed->met[part] = 1;
    owed->part[owed->count++] = part;
  }
  owed->more[part] += more;
}

/* What every part of a source of v would get, v itself being in part `to` then. */
static void count_owed(const cm_axon_state *s, cm_copies_owed *owed, uint32_t v, uint32_t to)
{
  for (uint32_t i = 0; i < owed->count; i++) {
    owed->more[owed->part[i]] = 0;
    owed->met[owed->part[i]] = 0;
  }
  owed->count = 0;
  for (cm_nets nets = cm_nets_into(s->graph, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets), source = s->graph->net_source[e], from = s->part[v];
    const cm_net_state *net = &s->net[e];
    bool stays = true, there = false; /* other targets are in its part, and some where it goes */
    for (uint64_t i = net->first; i < net->first + net->lambda; i++) {
      there |= s->where[i] == to;
      stays &= s->where[i] != from || s->hold[i].count > 1;
    }
    uint32_t then = net->lambda + (there ? 0U : 1U) - (stays ? 0U : 1U);
    if (then != net->lambda)
      owe(owed, source == v ? to : s->part[source], (int64_t)cm_copies_size(s, net, then) - (int64_t)cm_copies_size(s, net, net->lambda));
  }
}

double cm_copies_price(const cm_axon_state *s, cm_copies_owed *owed, uint32_t v, uint32_t to)
{
  double price = 0;
  count_owed(s, owed, v, to);
  for (uint32_t i = 0; i < owed->count; i++) {
    uint32_t p = owed->part[i];
    uint64_t size = s->size[p] + (uint64_t)owed->more[p];
    if (owed->more[p] != 0)
      price += cm_part_penalty(s, size, s->axons[p], s->synapses[p]) - cm_part_penalty(s, s->size[p], s->axons[p], s->synapses[p]);
  }
  return price;
}

bool cm_copies_fit(const cm_axon_state *s, cm_copies_owed *owed, uint32_t v, uint32_t to, uint32_t added)
{
  bool fit = true;
  count_owed(s, owed, v, to);
  for (uint32_t i = 0; i < owed->count && fit; i++) {
    uint32_t p = owed->part[i], here = p == to;
    uint64_t size = s->size[p] + (uint64_t)owed->more[p], axons = s->axons[p] + here * (uint64_t)added;
    uint64_t synapses = s->synapses[p] + here * s->graph->synapses[v];
    size += here * cm_axon_size(s, v);
    size -= p == s->part[v] ? cm_axon_size(s, v) : 0;
    fit = owed->more[p] <= 0 || ((s->limits.neurons == 0 || size <= s->limits.neurons) && cm_memory_holds(&s->limits, size, synapses, axons));
  }
  return fit;
}
