#include "core/partition/axon/axon_table.h"

#include <math.h>

bool cm_axon_table_suits(const cm_axon_state *s)
{
  const cm_hypergraph *g = s->graph;
  return s->prices == NULL && (uint64_t)g->vertex_count * s->part_count <= g->pin_count;
}

void cm_axon_table_free(cm_axon_table *t)
{
  if (t == NULL)
    return;
  CM_FREE(t->tie, t->all, t);
}

static cm_tie *row_of(const cm_axon_table *t, uint32_t v)
{
  return t->tie + (size_t)v * t->parts;
}

/* Weights shrink until no vertex hears 2^32. */
static void choose_shift(cm_axon_table *t)
{
  const cm_axon_state *s = t->state;
  const cm_hypergraph *g = s->graph;
  uint64_t most = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    uint64_t sum = s->gain[v].own;
    for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;)
      sum += g->net_weight[cm_nets_next(&nets)];
    most = sum > most ? sum : most;
  }
  while (most >> t->shift > UINT32_MAX)
    t->shift++;
}

static inline void tie_to(cm_tie *tie, uint32_t weight, uint32_t axons)
{
  tie->kept += weight;
  tie->shared += axons;
}

/* The row of v, from its nets. */
static void fill_row(cm_axon_table *t, uint32_t v)
{
  const cm_axon_state *s = t->state;
  const cm_hypergraph *g = s->graph;
  cm_tie *row = row_of(t, v);
  for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
    const cm_net_state *net = &s->net[g->out_net[j]];
    tie_to(&t->all[v], 0, net->own_target);
    for (uint64_t i = net->first; i < net->first + net->lambda; i++)
      tie_to(&row[s->where[i]], net->weight >> t->shift, net->own_target);
  }
  cm_nets_ahead nets;
  for (cm_nets_look_ahead(&nets, s, v); nets.left > 0;) {
    uint32_t e = cm_nets_ahead_next(&nets, s, false);
    const cm_net_state *net = &s->net[e];
    if (net->own_target && g->net_source[e] == v)
      continue; /* one of its own nets */
    uint32_t weight = net->weight >> t->shift;
    bool at_home = false;
    tie_to(&t->all[v], weight, 1);
    for (const uint32_t *at = s->where + net->first, *last = at + net->lambda; at < last; at++) {
      at_home |= *at == net->home;
      tie_to(&row[*at], weight, 1);
    }
    if (!at_home)
      tie_to(&row[net->home], weight, 0);
  }
}

static cm_status fill_slice(void *context, size_t slice, CM_UNUSED cm_error *error)
{
  cm_axon_table *t = context;
  uint64_t n = t->state->graph->vertex_count, end = cm_slice_begin(n, slice + 1, CM_SLICES);
  for (uint64_t v = cm_slice_begin(n, slice, CM_SLICES); v < end; v++)
    fill_row(t, (uint32_t)v);
  return CM_OK;
}

cm_status cm_axon_table_new(const cm_axon_state *s, cm_thread_pool *pool, cm_axon_table **table, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t n = s->graph->vertex_count;
  cm_axon_table *t;
  CM_TRY(CM_NEW(memory, t, 1, error));
  t->state = s;
  t->parts = s->part_count;
  choose_shift(t);
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(t->tie, (size_t)n * t->parts), CM_ARRAY(t->all, n)), cm_axon_table_free(t));
  CM_TRY_OR(cm_thread_pool_run(pool, CM_SLICES, fill_slice, t, error), cm_axon_table_free(t));
  *table = t;
  return CM_OK;
}

/* What part p would cost more than its limits allow with v in it; INFINITY where it cannot be. */
static double crowding(const cm_axon_state *s, uint32_t v, uint32_t p, uint32_t added)
{
  const cm_hypergraph *g = s->graph;
  uint64_t size = s->size[p] + cm_axon_size(s, v), axons = s->axons[p] + added, synapses = s->synapses[p] + g->synapses[v];
  if (cm_part_capped(s, size, axons, synapses))
    return INFINITY;
  return cm_part_penalty(s, size, axons, synapses) - cm_part_penalty(s, s->size[p], s->axons[p], s->synapses[p]);
}

cm_offer cm_axon_table_best(const cm_axon_table *t, uint32_t v, double bound)
{
  const cm_axon_state *s = t->state;
  const cm_tie *row = row_of(t, v), all = t->all[v];
  double leave = cm_axon_leaving(s, v), unit = (double)(UINT64_C(1) << t->shift), least = bound - leave;
  double spare = (double)all.kept - least / unit; /* a part must save more than this */
  uint32_t from = s->part[v], threshold = spare < 0 ? 0 : spare < UINT32_MAX ? (uint32_t)spare : UINT32_MAX;
  cm_offer best = {.to = UINT32_MAX};
  for (uint32_t p = 0; p < t->parts; p++) {
    if (row[p].kept <= threshold || p == from)
      continue;
    uint32_t added = all.shared > row[p].shared ? all.shared - row[p].shared : 0;
    double pays = ((double)all.kept - (double)row[p].kept) * unit, cost = pays + crowding(s, v, p, added);
    if (cost >= least)
      continue;
    least = cost;
    best = (cm_offer){.to = p, .added = added, .spread = pays};
  }
  if (best.to == UINT32_MAX)
    return best;
  best.cost = leave + least;
  best.spread += (double)s->gain[v].stay - (double)s->gain[v].freed;
  return best;
}

/* How an event changes a column of the table. */
typedef struct change {
  cm_tie *column;
  uint32_t weight;
  uint32_t axons;
} change;

static change change_by(const cm_axon_table *t, const cm_net_event *event)
{
  const cm_net_state *net = &t->state->net[event->net];
  return (change){t->tie + event->part, (uint32_t)event->weighed * (net->weight >> t->shift) /* modulo 2^32 */,
                  (uint32_t)event->present /* the same */};
}

static void follow_source(cm_axon_table *t, const cm_net_event *event, const change *c)
{
  const cm_net_state *net = &t->state->net[event->net];
  tie_to(&c->column[(size_t)t->state->graph->net_source[event->net] * t->parts], (uint32_t)event->present * (net->weight >> t->shift),
         net->own_target ? c->axons : 0);
}

void cm_axon_table_follow(cm_axon_table *t, const cm_net_event *event, uint64_t count, uint32_t slice, uint32_t slices)
{
  const cm_hypergraph *g = t->state->graph;
  uint32_t low = (uint32_t)cm_slice_begin(t->parts, slice, slices), width = (uint32_t)cm_slice_begin(t->parts, slice + 1, slices) - low;
  for (uint64_t k = 0; k < count; k++) {
    const cm_net_event *it = &event[k];
    if (it->part - low >= width)
      continue;
    uint32_t source = g->net_source[it->net];
    change c = change_by(t, it);
    cm_targets targets = cm_targets_of(g, it->net);
    if (k + 1 < count && it[1].net == it->net && it[1].part - low < width) { /* it left a part and came to one: one look at its targets */
      change next = change_by(t, &it[1]);
      while (targets.left > 0) {
        uint32_t u = cm_targets_next(&targets);
        if (u == source)
          continue;
        tie_to(&c.column[(size_t)u * t->parts], c.weight, c.axons);
        tie_to(&next.column[(size_t)u * t->parts], next.weight, next.axons);
      }
      follow_source(t, it, &c);
      it = &event[++k];
      c = next;
    } else {
      while (targets.left > 0) {
        uint32_t u = cm_targets_next(&targets);
        if (u != source)
          tie_to(&c.column[(size_t)u * t->parts], c.weight, c.axons);
      }
    }
    follow_source(t, it, &c);
  }
}
