#include "core/partition/axon/axon_probe.h"

#include <math.h>
#include <string.h>

cm_status cm_probe_init(cm_probe *probe, const cm_axon_state *state, cm_error *error)
{
  cm_memory *memory = state->run->memory;
  *probe = (cm_probe){.state = state};
  if (CM_NEW(memory, probe->pull, state->part_capacity, error) == CM_OK &&
      CM_NEW(memory, probe->touched, state->part_capacity, error) == CM_OK &&
      CM_NEW(memory, probe->open, state->part_capacity, error) == CM_OK &&
      CM_NEW(memory, probe->open_cost, state->part_capacity, error) == CM_OK &&
      cm_copies_owed_init(&probe->owed, state, error) == CM_OK &&
      (state->prices == NULL || (CM_NEW(memory, probe->column, 2 * (size_t)state->prices->columns, error) == CM_OK &&
                                 CM_NEW(memory, probe->row, 2 * (size_t)state->prices->rows, error) == CM_OK)))
    return CM_OK;
  cm_probe_free(probe);
  return error->status;
}

void cm_probe_free(cm_probe *probe)
{
  CM_FREE(probe->pull, probe->touched, probe->open, probe->open_cost, probe->column, probe->row);
  cm_copies_owed_free(&probe->owed);
  *probe = (cm_probe){0}; /* freed once more by the one who counts probes, after an init that failed */
}

static inline void touch(cm_probe *q, uint32_t part, uint64_t saved, uint32_t axons)
{
  cm_pull *pull = &q->pull[part];
  if (!pull->touched) {
    pull->touched = true;
    q->touched[q->touched_count++] = part;
  }
  pull->kept += saved;
  pull->shared += axons;
}

double cm_axon_leaving(const cm_axon_state *s, uint32_t v)
{
  const cm_hypergraph *g = s->graph;
  const cm_gain *gain = &s->gain[v];
  uint32_t own = s->part[v];
  double cost = s->prices == NULL ? (double)gain->stay - (double)gain->freed : -(double)gain->freed;
  cost +=
      cm_part_penalty(s, s->size[own] - cm_axon_size(s, v), s->axons[own] - gain->released, s->synapses[own] - g->synapses[v]);
  return cost - cm_part_penalty(s, s->size[own], s->axons[own], s->synapses[own]);
}

/* Where v's own nets draw it. */
static void look_at_own_nets(cm_probe *q, uint32_t v)
{
  const cm_axon_state *s = q->state;
  const cm_hypergraph *g = s->graph;
  uint32_t own = s->part[v];
  for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
    const cm_net_state *net = &s->net[g->out_net[j]];
    q->seen += net->own_target;
    for (uint64_t i = net->first; i < net->first + net->lambda; i++)
      if (s->where[i] != own)
        touch(q, s->where[i], net->weight, net->own_target);
  }
}

/* ---- with prices: what the nets pay in every column and row is summed up, and each part's savings on the way ---- */

/* Adds ways of so much weight from a column (row) to all others. */
static void add_ways(uint64_t *sum, const uint32_t *distance, uint32_t count, uint32_t from, uint64_t weight)
{
  const uint32_t *ways = distance + (size_t)from * count;
  for (uint32_t i = 0; i < count; i++)
    sum[i] += weight * ways[i];
}

static void look_at_own_priced_nets(cm_probe *q, uint32_t v)
{
  const cm_axon_state *s = q->state;
  const cm_hypergraph *g = s->graph;
  const cm_prices *prices = s->prices;
  uint32_t own = s->part[v];
  uint64_t *in_column = q->column + prices->columns, *in_row = q->row + prices->rows;
  memset(in_column, 0, prices->columns * sizeof *in_column);
  memset(in_row, 0, prices->rows * sizeof *in_row);
  for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
    const cm_net_state *net = &s->net[g->out_net[j]];
    q->seen += net->own_target;
    for (uint64_t i = net->first; i < net->first + net->lambda; i++) {
      uint32_t to = s->where[i];
      if (to == own && net->own_target && s->hold[i].count == 1)
        continue; /* itself: it moves along */
      q->own_pays += net->weight * cm_price(prices, own, to);
      q->in_weight += net->weight;
      in_column[prices->column[to]] += net->weight;
      in_row[prices->row[to]] += net->weight;
      if (to != own)
        touch(q, to, (uint64_t)net->weight * prices->base, net->own_target);
    }
  }
  for (uint32_t i = 0; i < prices->columns; i++)
    if (in_column[i] > 0)
      add_ways(q->column, prices->dx, prices->columns, i, in_column[i]);
  for (uint32_t i = 0; i < prices->rows; i++)
    if (in_row[i] > 0)
      add_ways(q->row, prices->dy, prices->rows, i, in_row[i]);
}

static void look_at_inbound_priced_net(cm_probe *q, uint32_t v, uint32_t e)
{
  const cm_axon_state *s = q->state;
  const cm_prices *prices = s->prices;
  const cm_net_state *net = &s->net[e];
  uint32_t own = s->part[v], home = net->home;
  bool at_home = home == own;
  if (net->own_target && s->graph->net_source[e] == v)
    return; /* one of its own nets */
  q->seen++;
  q->in_weight += net->weight;
  add_ways(q->column, prices->dx, prices->columns, prices->column[home], net->weight);
  add_ways(q->row, prices->dy, prices->rows, prices->row[home], net->weight);
  const uint32_t *at = s->where + net->first, *end = at + net->lambda;
  for (; at < end; at++) {
    at_home |= *at == home;
    if (*at != own)
      touch(q, *at, net->weight * cm_price_apart(prices, home, *at), 1);
  }
  if (!at_home)
    touch(q, home, (uint64_t)net->weight * prices->base, 0);
}

static void look_at_inbound_net(cm_probe *q, uint32_t v, uint32_t e)
{
  const cm_axon_state *s = q->state;
  const cm_net_state *net = &s->net[e];
  uint32_t own = s->part[v];
  bool at_home = net->home == own;
  if (net->own_target && s->graph->net_source[e] == v)
    return; /* source and target move together: one of its own nets */
  q->seen++;
  q->in_weight += net->weight;
  const uint32_t *at = s->where + net->first, *end = at + net->lambda;
  for (; at < end; at++) {
    at_home |= *at == net->home;
    if (*at != own)
      touch(q, *at, net->weight, 1);
  }
  if (!at_home)
    touch(q, net->home, net->weight, 0);
}

/* Inbound axons that part `to` gets at least with v. */
static uint32_t added(const cm_probe *q, uint32_t to)
{
  return q->seen > q->pull[to].shared ? q->seen - q->pull[to].shared : 0;
}

/* What v's nets looked at pay more with v in part `to`, which they are drawn to. */
static inline double spread(const cm_probe *q, uint32_t to)
{
  const cm_prices *prices = q->state->prices;
  if (prices == NULL)
    return (double)q->in_weight - (double)q->pull[to].kept;
  uint64_t pay = q->in_weight * prices->base + q->column[prices->column[to]] + q->row[prices->row[to]];
  return (double)(int64_t)(pay - q->pull[to].kept - q->own_pays);
}

static uint64_t least_of(const uint64_t *value, uint32_t count)
{
  uint64_t least = value[0];
  for (uint32_t i = 1; i < count; i++)
    least = value[i] < least ? value[i] : least;
  return least;
}

/* The same for a part that none of them reaches: at least. */
static double spread_anywhere(const cm_probe *q)
{
  const cm_prices *prices = q->state->prices;
  if (prices == NULL)
    return (double)q->in_weight;
  uint64_t pay = q->in_weight * prices->base + least_of(q->column, prices->columns) + least_of(q->row, prices->rows);
  return (double)(int64_t)(pay - q->own_pays);
}

/* What entering part `to` costs at least, by the nets looked at; INFINITY when it cannot be. */
static double entering(const cm_probe *q, uint32_t v, uint32_t to, bool hard)
{
  const cm_axon_state *s = q->state;
  uint64_t size = s->size[to] + cm_axon_size(s, v), synapses = s->synapses[to] + s->graph->synapses[v];
  uint64_t axons = s->axons[to] + added(q, to);
  if (cm_core_holds(&s->limits, size, synapses, axons))
    return spread(q, to); /* no penalty now or then */
  if (hard || cm_part_capped(s, size, axons, synapses))
    return INFINITY;
  double paid = !cm_core_holds(&s->limits, s->size[to], s->synapses[to], s->axons[to])
                  ? cm_part_penalty(s, s->size[to], s->axons[to], s->synapses[to])
                  : 0;
  return spread(q, to) + cm_part_penalty(s, size, axons, synapses) - paid;
}

/* Whether any part may: one not met yet would spread all nets looked at. */
static bool hope(cm_probe *q, uint32_t v, bool hard, double bound)
{
  if (spread_anywhere(q) < bound)
    return true;
  const uint32_t *from = q->closed ? q->open : q->touched;
  uint32_t count = q->closed ? q->open_count : q->touched_count;
  q->closed = q->counted = true;
  q->open_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    q->open[q->open_count] = from[i];
    if (spread(q, from[i]) < bound &&
        (q->open_cost[q->open_count] = entering(q, v, from[i], hard)) < bound) /* penalties only add */
      q->open_count++;
  }
  return q->open_count > 0;
}

/* Looks at v's nets: inbound ones, heaviest first, and when those leave hope, its own. False when no part can cost less
 * than `bound` to enter. */
static bool look(cm_probe *q, uint32_t v, bool hard, double bound)
{
  const cm_axon_state *s = q->state;
  const cm_hypergraph *g = s->graph;
  uint64_t degree = g->in_count[v], next_check = 1;
  double own = (double)s->gain[v].own; /* at most what its own nets can save, as long as they are not looked at */
  bool own_seen = g->out_first[v + 1] == g->out_first[v], priced = s->prices != NULL;
  if (priced) {
    look_at_own_priced_nets(q, v);
    own_seen = true;
    own = 0;
  } else if (bound + own <= 0) /* even a part that has all of v's nets is too dear */
    return false;
  cm_nets_ahead nets;
  cm_nets_look_ahead(&nets, s, v);
  for (uint64_t j = 0; j < degree; j++) {
    uint32_t e = cm_nets_ahead_next(&nets, s, false);
    q->counted = false;
    if (priced)
      look_at_inbound_priced_net(q, v, e);
    else
      look_at_inbound_net(q, v, e);
    if (j + 1 != next_check || (own_seen && j + 1 == degree)) /* after the last, whoever asks looks at the parts */
      continue;
    if (!hope(q, v, hard, bound + own))
      return false;
    next_check += 1 + next_check / 2;
    if (!own_seen && j >= 4) {
      look_at_own_nets(q, v);
      q->counted = false;
      own_seen = true;
      own = 0;
    }
  }
  if (!own_seen) {
    look_at_own_nets(q, v);
    q->counted = false;
  }
  return true;
}

static void start(cm_probe *q)
{
  for (uint32_t i = 0; i < q->touched_count; i++)
    q->pull[q->touched[i]] = (cm_pull){0};
  q->touched_count = q->open_count = q->seen = 0;
  q->closed = q->counted = false;
  q->in_weight = q->own_pays = 0;
  if (q->state->prices != NULL) {
    memset(q->column, 0, q->state->prices->columns * sizeof *q->column);
    memset(q->row, 0, q->state->prices->rows * sizeof *q->row);
  }
}

/* Whether part p, which costs so much at least, can be better than the best so far; of two alike the first one is. */
static inline bool may_be(const cm_offer *best, double least, uint32_t p, double cost)
{
  return cost < least || (cost == least && p < best->to && best->to != UINT32_MAX);
}

cm_offer cm_probe_best(cm_probe *q, uint32_t v, bool hard, double bound)
{
  start(q);
  const cm_axon_state *s = q->state;
  cm_offer best = {.to = UINT32_MAX};
  double leave = cm_axon_leaving(s, v), least = bound - leave;
  if (!look(q, v, hard, least))
    return best;
  const uint32_t *open = q->closed ? q->open : q->touched;
  uint32_t count = q->closed ? q->open_count : q->touched_count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t p = open[i];
    if (!q->counted && !may_be(&best, least, p, spread(q, p)))
      continue;
    double c = q->counted ? q->open_cost[i] : entering(q, v, p, hard);
    if (may_be(&best, least, p, c) &&
        !(hard && s->copies != NULL && !cm_copies_fit(s, &q->owed, v, p, added(q, p)))) {
      least = c;
      best.to = p;
    }
  }
  if (best.to == UINT32_MAX)
    return best;
  best.cost = leave + least;
  best.added = added(q, best.to);
  double stay = s->prices == NULL ? (double)s->gain[v].stay : 0;
  best.spread = spread(q, best.to) + stay - (double)s->gain[v].freed;
  return best;
}
