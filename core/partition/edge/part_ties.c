/* Happy path: a vertex moves -> its synapses are gathered with those of others, from memory or from files -> every
 * thread corrects the ties of a block of vertices. Sums are of integers: the same for any number of threads. What can
 * fail: memory, the disk, a stop. */
#include "core/partition/edge/part_ties.h"

#include <string.h>

#include "base/threads.h"

enum {
  BLOCKS = 16,        /* of vertices, for parallel work */
  GATHERED = 1 << 20, /* synapses that are corrected for at once */
  STRETCHES = 1 << 12,
  CHECK_EVERY = 256
};

/* Some synapses of a vertex that has moved, and where they are gathered. */
struct cm_part_stretch {
  uint32_t from, to, at, count;
  cm_synapse_run run;
};

static uint32_t border(const cm_part_ties *w, size_t block)
{
  return (uint32_t)cm_slice_begin(w->n, block, BLOCKS);
}

void cm_part_ties_free(cm_part_ties *w)
{
  cm_synapses_free(&w->synapses);
  CM_FREE(w->tie, w->stretch, w->neighbour, w->weight);
  *w = (cm_part_ties){0};
}

cm_status cm_part_ties_new(const cm_demand *demand, const uint32_t *part, uint32_t parts_max, cm_run *run,
                           cm_part_ties *ties, cm_error *error)
{
  const cm_topology *topology = demand->network;
  cm_memory *memory = run->memory;
  *ties = (cm_part_ties){.run = run, .part = part, .n = topology->vertex_count};
  ties->room = topology->pin_count < GATHERED ? (uint32_t)topology->pin_count + 1 : GATHERED;
  CM_TRY(CM_NEW(memory, ties->tie, (size_t)ties->n * parts_max, error));
  CM_TRY(CM_NEW(memory, ties->stretch, STRETCHES, error));
  CM_TRY(CM_NEW(memory, ties->neighbour, ties->room, error));
  CM_TRY(CM_NEW(memory, ties->weight, ties->room, error));
  return cm_synapses_new(demand, run, &ties->synapses, error);
}

/* All ties of a block's vertices, from the synapses out of them and into them. */
static cm_status count_block(void *context, size_t block, cm_error *error)
{
  cm_part_ties *w = context;
  const cm_topology *t = w->synapses.demand->network;
  const cm_inbound *in = &w->synapses.in;
  const uint32_t *net_first = w->synapses.net_first;
  for (uint32_t v = border(w, block); v < border(w, block + 1); v++) {
    uint32_t *ties = cm_part_ties_row(w, v);
    memset(ties, 0, w->parts * sizeof *ties);
    for (uint32_t e = net_first[v]; e < net_first[v + 1]; e++)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
        if (t->pin[i] != v)
          ties[w->part[t->pin[i]]] += cm_inbound_units(in, cm_demand_pin_weight(w->synapses.demand, e, i));
    for (uint64_t i = in->first[v]; i < in->first[v + 1]; i++)
      ties[w->part[cm_inbound_source(in, i)]] += cm_inbound_weight(in, i);
    if (v % CHECK_EVERY == 0 && cm_run_check(w->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_part_ties_count(cm_part_ties *w, uint32_t parts, cm_error *error)
{
  w->parts = parts;
  return cm_parallel(w->run, BLOCKS, count_block, w, error);
}

static cm_status gather(void *context, size_t index, cm_error *error)
{
  cm_part_ties *w = context;
  const cm_part_stretch *s = &w->stretch[index];
  return cm_synapses_read(&w->synapses, &s->run, w->neighbour + s->at, w->weight + s->at, error);
}

/* What the gathered synapses of moved vertices do to the ties of a block's vertices. */
static cm_status correct_block(void *context, size_t block, cm_error *error)
{
  cm_part_ties *w = context;
  uint32_t begin = border(w, block), end = border(w, block + 1);
  for (uint32_t j = 0; j < w->stretches; j++) {
    const cm_part_stretch *s = &w->stretch[j];
    const uint32_t *neighbour = w->neighbour + s->at, *weight = w->weight + s->at;
    for (uint32_t i = cm_first_at_least(neighbour, s->count, begin); i < s->count && neighbour[i] < end; i++) {
      uint32_t *ties = cm_part_ties_row(w, neighbour[i]);
      ties[s->from] -= weight[i];
      ties[s->to] += weight[i];
    }
  }
  return cm_run_check(w->run, error);
}

static cm_status correct_gathered(cm_part_ties *w, cm_error *error)
{
  CM_TRY(cm_parallel(w->run, w->stretches, gather, w, error));
  CM_TRY(cm_parallel(w->run, BLOCKS, correct_block, w, error));
  w->stretches = w->gathered = 0;
  return CM_OK;
}

static cm_status add_synapses(cm_part_ties *w, cm_part_change made, uint32_t net, uint64_t begin, uint64_t end,
                              cm_error *error)
{
  while (begin < end) {
    if ((w->stretches == STRETCHES || w->gathered == w->room) && correct_gathered(w, error) != CM_OK)
      return error->status;
    uint64_t room = w->room - w->gathered, take = end - begin < room ? end - begin : room;
    w->stretch[w->stretches++] = (cm_part_stretch){.from = made.from,
                                                   .to = made.to,
                                                   .at = w->gathered,
                                                   .count = (uint32_t)take,
                                                   .run = {.net = net, .begin = begin, .end = begin + take}};
    w->gathered += (uint32_t)take;
    begin += take;
  }
  return CM_OK;
}

cm_status cm_part_ties_correct(cm_part_ties *w, const cm_part_change *change, uint32_t changes, cm_error *error)
{
  const uint64_t *pin_first = w->synapses.demand->network->net_first, *in_first = w->synapses.in.first;
  for (uint32_t c = 0; c < changes; c++) {
    cm_part_change made = change[c];
    for (uint32_t e = w->synapses.net_first[made.vertex]; e < w->synapses.net_first[made.vertex + 1]; e++)
      CM_TRY(add_synapses(w, made, e, pin_first[e], pin_first[e + 1], error));
    CM_TRY(add_synapses(w, made, CM_INBOUND, in_first[made.vertex], in_first[made.vertex + 1], error));
  }
  return correct_gathered(w, error);
}
