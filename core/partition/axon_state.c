#include "core/partition/axon_state.h"

#include <math.h>
#include <string.h>

void cm_axon_state_free(cm_axon_state *s)
{
  if (s == NULL)
    return;
  cm_free(s->net);
  cm_free(s->presence);
  cm_free(s->wide);
  cm_free(s->size);
  cm_free(s->axons);
  cm_free(s->synapses);
  cm_free(s->vertices);
  cm_free(s->pull);
  cm_free(s->last_cost);
  cm_free(s->touched);
  cm_free(s);
}

static cm_presence *find(const cm_axon_state *s, const cm_net_state *net, uint32_t part)
{
  cm_presence *at = s->presence + net->first, *end = at + net->lambda;
  for (; at < end; at++)
    if (at->part == part)
      return at;
  return NULL;
}

/* Moves a net's presences to where any number of them fits. */
static void widen(cm_axon_state *s, cm_net_state *net)
{
  uint64_t to = s->wide[net - s->net];
  memcpy(s->presence + to, s->presence + net->first, net->lambda * sizeof *s->presence);
  net->first = to;
  net->room = UINT32_MAX;
}

/* One more target of the net in the part; true when it is the first there. */
static bool enter(cm_axon_state *s, cm_net_state *net, uint32_t part)
{
  cm_presence *at = find(s, net, part);
  if (at != NULL) {
    at->count++;
    return false;
  }
  if (net->lambda == net->room)
    widen(s, net);
  s->presence[net->first + net->lambda++] = (cm_presence){part, 1};
  return true;
}

/* One target less; true when it was the last there. */
static bool leave_net(cm_axon_state *s, cm_net_state *net, uint32_t part)
{
  cm_presence *at = find(s, net, part);
  if (--at->count > 0)
    return false;
  *at = s->presence[net->first + --net->lambda];
  return true;
}

static void fill(cm_axon_state *s)
{
  const cm_hypergraph *g = s->graph;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    s->last_cost[v] = -INFINITY;
    s->size[s->part[v]] += g->size[v];
    s->synapses[s->part[v]] += g->synapses[v];
    s->vertices[s->part[v]]++;
  }
  for (uint32_t e = 0; e < g->net_count; e++) {
    cm_net_state *net = &s->net[e];
    net->weight = g->net_weight[e];
    net->home = s->part[g->net_source[e]];
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      uint32_t p = s->part[g->pin[i]];
      net->own_target |= g->pin[i] == g->net_source[e];
      if (!enter(s, net, p))
        continue;
      s->axons[p]++;
      s->connectivity += p != net->home ? net->weight : 0;
    }
  }
}

/* Gives every net room for twice the parts that it reaches now and some; returns the length of all presences, the wide
 * places included. Uses `touched` to see each part once per net. */
static uint64_t lay_out(cm_axon_state *s)
{
  const cm_hypergraph *g = s->graph;
  uint64_t used = 0;
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint64_t pins = g->net_first[e + 1] - g->net_first[e], most = pins < s->part_room ? pins : s->part_room, reached = 0;
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      uint32_t *seen = &s->touched[s->part[g->pin[i]]];
      reached += *seen != e + 1;
      *seen = e + 1;
    }
    s->net[e].first = used;
    s->net[e].room = (uint32_t)(2 * reached + 4 < most ? 2 * reached + 4 : most);
    used += s->net[e].room;
  }
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint64_t pins = g->net_first[e + 1] - g->net_first[e];
    s->wide[e] = used;
    used += pins < s->part_room ? pins : s->part_room;
  }
  return used;
}

cm_status cm_axon_state_new(const cm_hypergraph *graph, const cm_limits *limits, uint32_t *part, uint32_t part_count,
                            uint32_t part_room, cm_run *run, cm_axon_state **state, cm_error *error)
{
  cm_axon_state *s;
  if (CM_NEW(run->memory, s, 1, error) != CM_OK)
    return error->status;
  *s = (cm_axon_state){.graph = graph,
                       .run = run,
                       .part = part,
                       .part_room = part_room,
                       .parts_max = part_room,
                       .part_count = part_count,
                       .limit_size = limits->neurons,
                       .limit_axons = limits->inbound_axons,
                       .limit_synapses = limits->synapses};
  cm_status status = CM_NEW(run->memory, s->net, graph->net_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s->wide, graph->net_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s->touched, part_room, error);
  uint64_t presences = status == CM_OK ? lay_out(s) : 0;
  if (status != CM_OK || CM_NEW(run->memory, s->presence, presences, error) != CM_OK ||
      CM_NEW(run->memory, s->size, part_room, error) != CM_OK ||
      CM_NEW(run->memory, s->axons, part_room, error) != CM_OK ||
      CM_NEW(run->memory, s->synapses, part_room, error) != CM_OK ||
      CM_NEW(run->memory, s->vertices, part_room, error) != CM_OK ||
      CM_NEW(run->memory, s->pull, part_room, error) != CM_OK ||
      CM_NEW(run->memory, s->last_cost, graph->vertex_count, error) != CM_OK) {
    cm_axon_state_free(s);
    return error->status;
  }
  fill(s);
  *state = s;
  return CM_OK;
}

static inline void touch(cm_axon_state *s, uint32_t part, uint64_t weight, uint32_t axons)
{
  cm_pull *pull = &s->pull[part];
  if (!pull->touched) {
    pull->touched = true;
    s->touched[s->touched_count++] = part;
  }
  pull->kept += weight;
  pull->shared += axons;
}

cm_leave cm_axon_look(cm_axon_state *s, uint32_t v)
{
  const cm_hypergraph *g = s->graph;
  uint32_t own = s->part[v];
  cm_leave leave = {.degree = (uint32_t)(g->in_first[v + 1] - g->in_first[v])};
  for (uint32_t i = 0; i < s->touched_count; i++)
    s->pull[s->touched[i]] = (cm_pull){0};
  s->touched_count = 0;
  for (uint64_t j = g->in_first[v]; j < g->in_first[v + 1]; j++) {
    const cm_net_state *net = &s->net[g->in_net[j]];
    const cm_presence *at = s->presence + net->first, *end = at + net->lambda;
    bool at_home = false;
    if (net->own_target && g->net_source[g->in_net[j]] == v)
      continue; /* source and target move together: below */
    leave.in_weight += net->weight;
    for (; at < end; at++) {
      at_home |= at->part == net->home;
      if (at->part != own)
        touch(s, at->part, net->weight, 1);
      else if (at->count == 1) {
        leave.released++;
        leave.freed += own != net->home ? net->weight : 0;
      }
    }
    if (!at_home && net->home != own)
      touch(s, net->home, net->weight, 0);
  }
  for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
    const cm_net_state *net = &s->net[g->out_net[j]];
    const cm_presence *at = s->presence + net->first, *end = at + net->lambda;
    for (; at < end; at++) {
      if (at->part != own) {
        touch(s, at->part, net->weight, net->own_target);
        continue;
      }
      bool alone = net->own_target && at->count == 1;
      leave.own_weight += alone ? 0 : net->weight;
      leave.released += alone;
    }
  }
  return leave;
}

static double excess(uint64_t use, uint64_t limit)
{
  return limit != 0 && use > limit ? (double)(use - limit) : 0;
}

static double part_penalty(const cm_axon_state *s, uint64_t size, uint64_t axons, uint64_t synapses)
{
  return s->penalty_size * excess(size, s->limit_size) + s->penalty_axons * excess(axons, s->limit_axons) +
         s->penalty_axons * excess(synapses, s->limit_synapses);
}

double cm_axon_cost(const cm_axon_state *s, uint32_t v, const cm_leave *leave, uint32_t to)
{
  uint32_t own = s->part[v];
  uint64_t size = s->graph->size[v], synapses = s->graph->synapses[v], added = leave->degree - s->pull[to].shared;
  double cost = (double)leave->in_weight + (double)leave->own_weight - (double)leave->freed - (double)s->pull[to].kept;
  cost += part_penalty(s, s->size[to] + size, s->axons[to] + added, s->synapses[to] + synapses) -
          part_penalty(s, s->size[to], s->axons[to], s->synapses[to]);
  cost += part_penalty(s, s->size[own] - size, s->axons[own] - leave->released, s->synapses[own] - synapses) -
          part_penalty(s, s->size[own], s->axons[own], s->synapses[own]);
  return cost;
}

static bool within(uint64_t use, uint64_t limit)
{
  return limit == 0 || use <= limit;
}

bool cm_axon_fits(const cm_axon_state *s, uint32_t v, const cm_leave *leave, uint32_t to)
{
  return within(s->size[to] + s->graph->size[v], s->limit_size) &&
         within(s->axons[to] + leave->degree - s->pull[to].shared, s->limit_axons) &&
         within(s->synapses[to] + s->graph->synapses[v], s->limit_synapses);
}

void cm_axon_move(cm_axon_state *s, uint32_t v, uint32_t to)
{
  const cm_hypergraph *g = s->graph;
  uint32_t own = s->part[v];
  for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
    cm_net_state *net = &s->net[g->out_net[j]];
    s->connectivity += find(s, net, own) != NULL ? net->weight : 0;
    s->connectivity -= find(s, net, to) != NULL ? net->weight : 0;
    net->home = to; /* before its targets move, also where v is its own target */
  }
  s->part[v] = to;
  for (uint64_t j = g->in_first[v]; j < g->in_first[v + 1]; j++) {
    cm_net_state *net = &s->net[g->in_net[j]];
    if (leave_net(s, net, own)) {
      s->axons[own]--;
      s->connectivity -= own != net->home ? net->weight : 0;
    }
    if (enter(s, net, to)) {
      s->axons[to]++;
      s->connectivity += to != net->home ? net->weight : 0;
    }
  }
  s->size[own] -= g->size[v];
  s->size[to] += g->size[v];
  s->synapses[own] -= g->synapses[v];
  s->synapses[to] += g->synapses[v];
  s->vertices[own]--;
  s->vertices[to]++;
}

bool cm_axon_over(const cm_axon_state *s, uint32_t p)
{
  return !within(s->size[p], s->limit_size) || !within(s->axons[p], s->limit_axons) ||
         !within(s->synapses[p], s->limit_synapses);
}

double cm_axon_penalty(const cm_axon_state *s)
{
  double sum = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    sum += part_penalty(s, s->size[p], s->axons[p], s->synapses[p]);
  return sum;
}
