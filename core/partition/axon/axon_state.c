#include "core/partition/axon/axon_state.h"

#include <string.h>

#include "base/threads.h"
#include "core/partition/axon/axon_copies.h"
#include "core/partition/axon/axon_fill.h"

/* A part may exceed a limit by such a share of it while the search goes on. */
enum { CAP_SHARE = 5 };
#define NONE UINT64_MAX

void cm_axon_state_free(cm_axon_state *s)
{
  if (s == NULL)
    return;
  CM_FREE(s->net, s->where, s->hold, s->wide, s->gain, s->copies, s->size, s->axons, s->synapses, s->vertices, s);
}

/* The place of a net's presence in a part; NONE when it has no target there. */
static uint64_t find(const cm_axon_state *s, const cm_net_state *net, uint32_t part)
{
  for (uint64_t i = net->first; i < net->first + net->lambda; i++)
    if (s->where[i] == part)
      return i;
  return NONE;
}

/* Moves a net's presences to where any number of them fits. */
static void widen(cm_axon_state *s, cm_net_state *net)
{
  uint64_t e = (uint64_t)(net - s->net), to = s->wide[e], room = cm_presences_max(s, e);
  memcpy(s->where + to, s->where + net->first, net->lambda * sizeof *s->where);
  memcpy(s->hold + to, s->hold + net->first, net->lambda * sizeof *s->hold);
  net->first = to;
  net->room = UINT32_MAX;
  (void)cm_book_reserved(s->where, room * sizeof *s->where, NULL);
  (void)cm_book_reserved(s->hold, room * sizeof *s->hold, NULL);
}

/* Changes a presence by one target v: `more` or one less. */
static void change(cm_axon_state *s, const cm_net_state *net, uint32_t part, cm_hold *hold, uint32_t v, bool more)
{
  bool stayed = cm_hold_stays(s, net, hold);
  cm_gain_debit(s, net, part, hold);
  hold->count += more ? 1 : -1U;
  hold->sole ^= v;
  cm_gain_credit(s, net, part, hold);
  if (part == net->home && stayed != cm_hold_stays(s, net, hold))
    cm_sum_add(s, &s->gain[s->graph->net_source[net - s->net]].stay, stayed ? -(uint64_t)net->weight : net->weight);
}

static void book_axons(cm_axon_state *s, uint32_t part, uint64_t more, cm_net_log *log)
{
  if (log != NULL && log->axons != NULL)
    log->axons[part] += more;
  else
    s->axons[part] += more;
}

void cm_axon_book(cm_axon_state *s, cm_net_log *log)
{
  for (uint32_t p = 0; p < s->part_count; p++) {
    s->axons[p] += log->axons[p];
    log->axons[p] = 0;
  }
}

static void note(cm_net_log *log, const cm_axon_state *s, const cm_net_state *net, uint32_t part, int8_t present,
                 int8_t weighed)
{
  if (log != NULL && log->event != NULL)
    log->event[log->count++] = (cm_net_event){(uint32_t)(net - s->net), part, present, weighed};
}

/* Target v of the net enters the part. */
static void enter(cm_axon_state *s, cm_net_state *net, uint32_t v, uint32_t part, cm_net_log *log)
{
  uint64_t at = find(s, net, part);
  if (at == NONE) {
    if (net->lambda == net->room)
      widen(s, net);
    at = net->first + net->lambda++;
    s->where[at] = part;
    s->hold[at] = (cm_hold){0, 0};
    book_axons(s, part, 1, log);
    cm_copies_follow(s, net, net->lambda - 1);
    note(log, s, net, part, 1, part != net->home);
  }
  change(s, net, part, &s->hold[at], v, true);
}

/* Target v of the net leaves the part. */
static void leave(cm_axon_state *s, cm_net_state *net, uint32_t v, uint32_t part, cm_net_log *log)
{
  uint64_t at = find(s, net, part);
  change(s, net, part, &s->hold[at], v, false);
  if (s->hold[at].count > 0)
    return;
  uint64_t last = net->first + --net->lambda;
  s->where[at] = s->where[last];
  s->hold[at] = s->hold[last];
  book_axons(s, part, UINT64_MAX, log);
  cm_copies_follow(s, net, net->lambda + 1);
  note(log, s, net, part, -1, part != net->home ? -1 : 0);
}

/* A penalty that is linear has a price: a part that takes in everything saves more than it pays once vertices reach
 * enough parts. So parts exceed a limit by a fifth at most, or by one vertex where a fifth is less: full parts are to
 * exchange vertices. */
static uint64_t cap(uint64_t limit, uint64_t used, uint32_t vertices)
{
  uint64_t one = vertices > 0 ? (used + vertices - 1) / vertices : 0;
  return limit == 0 ? UINT64_MAX : limit + (limit / CAP_SHARE > one ? limit / CAP_SHARE : one);
}

static void set_caps(cm_axon_state *s)
{
  const cm_hypergraph *g = s->graph;
  const cm_limits *l = &s->limits;
  uint64_t size = 0, synapses = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    size += g->size[v];
    synapses += g->synapses[v];
  }
  s->cap_size = cap(s->limits.neurons, size, g->vertex_count);
  s->cap_axons = cap(s->limits.inbound_axons, g->pin_count, g->vertex_count);
  s->cap_synapses = cap(s->limits.synapses, synapses, g->vertex_count);
  s->cap_memory = cap(l->memory_bits, cm_memory_bits(l, size, synapses, g->pin_count), g->vertex_count);
}

cm_status cm_axon_state_new(const cm_hypergraph *graph, const cm_axon_state_options *options, cm_run *run, cm_axon_state **state,
                            cm_error *error)
{
  uint32_t capacity = options->parts > options->parts_max ? options->parts : options->parts_max;
  cm_axon_state *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  *s = (cm_axon_state){.graph = graph,
                       .prices = options->prices,
                       .run = run,
                       .part = options->part,
                       .part_capacity = capacity,
                       .parts_max = capacity,
                       .part_count = options->parts,
                       .limits = *options->limits};
  set_caps(s);
  CM_TRY_OR(cm_axon_state_fill(s, options->threads > 0 ? options->threads : run->threads, error), cm_axon_state_free(s));
  *state = s;
  return CM_OK;
}

/* The source of a net goes to another part: all that pays for the way from home changes. */
static void move_priced_home(cm_axon_state *s, cm_net_state *net, uint32_t to)
{
  for (uint64_t i = net->first; i < net->first + net->lambda; i++)
    cm_gain_debit(s, net, s->where[i], &s->hold[i]);
  net->home = to;
  for (uint64_t i = net->first; i < net->first + net->lambda; i++)
    cm_gain_credit(s, net, s->where[i], &s->hold[i]);
}

/* The source of a net goes from one part to another. */
static void move_home(cm_axon_state *s, cm_net_state *net, uint32_t to, cm_net_log *log)
{
  static const cm_hold nothing;
  uint64_t at = find(s, net, net->home), there = find(s, net, to);
  const cm_hold *old = at != NONE ? &s->hold[at] : &nothing, *new = there != NONE ? &s->hold[there] : &nothing;
  uint64_t stayed = cm_hold_stays(s, net, old) ? net->weight : 0, stays_now = cm_hold_stays(s, net, new) ? net->weight : 0;
  uint32_t from = net->home;
  if (at == NONE)
    note(log, s, net, from, 0, -1);
  if (there == NONE)
    note(log, s, net, to, 0, 1);
  if (s->prices != NULL)
    move_priced_home(s, net, to);
  else {
    cm_gain_debit(s, net, from, old);
    cm_gain_debit(s, net, to, new);
    net->home = to;
    cm_gain_credit(s, net, from, old);
    cm_gain_credit(s, net, to, new);
  }
  cm_sum_add(s, &s->gain[s->graph->net_source[net - s->net]].stay, stays_now - stayed);
}

/* What a move means for one of the nets that its vertex is a target of. */
static void move_target(cm_axon_state *s, const cm_move *move, uint32_t e, cm_net_log *log)
{
  leave(s, &s->net[e], move->vertex, move->from, log);
  enter(s, &s->net[e], move->vertex, move->to, log);
}

void cm_axon_move_nets(cm_axon_state *s, const cm_move *move, uint32_t count, cm_net_log *log)
{
  const cm_hypergraph *g = s->graph;
  for (const cm_move *end = move + count; move < end; move++) {
    cm_nets_ahead nets;
    for (uint32_t j = g->out_first[move->vertex]; j < g->out_first[move->vertex + 1]; j++)
      move_home(s, &s->net[g->out_net[j]], move->to, log);
    for (cm_nets_look_ahead(&nets, s, move->vertex); nets.left > 0;)
      move_target(s, move, cm_nets_ahead_next(&nets, s, true), log);
  }
}

/* ---- dealt to slices of the nets ---- */

/* The slice that the next of some ascending nets is in. */
typedef struct slicing {
  uint64_t nets;
  uint32_t slices, slice, end; /* nets below `end` are in `slice` or before */
} slicing;

static slicing slicing_of(const cm_axon_state *s, uint32_t slices)
{
  return (slicing){.nets = s->graph->net_count, .slices = slices, .end = (uint32_t)cm_slice_begin(s->graph->net_count, 1, slices)};
}

static uint32_t slice_with(slicing *at, uint32_t e)
{
  while (e >= at->end)
    at->end = (uint32_t)cm_slice_begin(at->nets, ++at->slice + 1, at->slices);
  return at->slice;
}

static cm_status deal(cm_net_visits *to, uint32_t e, uint32_t move, bool home, cm_memory *memory, cm_error *error)
{
  if (to->count == to->room && CM_ROOM(memory, to->visit, &to->room, to->count + 1, error) != CM_OK)
    return error->status;
  to->visit[to->count++] = (cm_net_visit){e, move << 1 | home};
  return CM_OK;
}

cm_status cm_axon_deal_nets(const cm_axon_state *s, const cm_move *move, uint32_t begin, uint32_t end, uint32_t slices,
                            cm_net_visits *visits, cm_error *error)
{
  const cm_hypergraph *g = s->graph;
  cm_memory *memory = s->run->memory;
  cm_status status = CM_OK;
  for (uint32_t slice = 0; slice < slices; slice++)
    visits[slice].count = 0;
  for (uint32_t i = begin; i < end && status == CM_OK; i++) {
    uint32_t v = move[i].vertex;
    slicing at = slicing_of(s, slices);
    for (uint32_t j = g->out_first[v]; j < g->out_first[v + 1] && status == CM_OK; j++)
      status = deal(&visits[slice_with(&at, g->out_net[j])], g->out_net[j], i, true, memory, error);
    at = slicing_of(s, slices);
    for (cm_nets nets = cm_nets_into(g, v); nets.left > 0 && status == CM_OK;) {
      uint32_t e = cm_nets_next(&nets);
      status = deal(&visits[slice_with(&at, e)], e, i, false, memory, error);
    }
  }
  return status;
}

void cm_axon_visit_nets(cm_axon_state *s, const cm_move *move, const cm_net_visits *visits, cm_net_log *log)
{
  for (uint64_t i = 0; i < visits->count; i++) {
    if (i + CM_NETS_FAR < visits->count)
      __builtin_prefetch(&s->net[visits->visit[i + CM_NETS_FAR].net]);
    if (i + CM_NETS_FAR / 2 < visits->count)
      cm_net_fetch(s, &s->net[visits->visit[i + CM_NETS_FAR / 2].net], true);
    cm_net_visit at = visits->visit[i];
    if (at.move & 1)
      move_home(s, &s->net[at.net], move[at.move >> 1].to, log);
    else
      move_target(s, &move[at.move >> 1], at.net, log);
  }
}

void cm_axon_move_vertices(cm_axon_state *s, const cm_move *move, uint32_t count)
{
  const cm_hypergraph *g = s->graph;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = move[i].vertex, from = move[i].from, to = move[i].to;
    s->part[v] = to;
    s->size[from] -= cm_axon_size(s, v);
    s->size[to] += cm_axon_size(s, v);
    s->synapses[from] -= g->synapses[v];
    s->synapses[to] += g->synapses[v];
    s->vertices[from]--;
    s->vertices[to]++;
  }
}

void cm_axon_move(cm_axon_state *s, uint32_t v, uint32_t to)
{
  cm_move move = {v, s->part[v], to};
  cm_axon_move_vertices(s, &move, 1);
  cm_axon_move_nets(s, &move, 1, NULL);
}

bool cm_axon_over(const cm_axon_state *s, uint32_t p)
{
  return !cm_core_holds(&s->limits, s->size[p], s->synapses[p], s->axons[p]);
}

static double excess(uint64_t use, uint64_t limit)
{
  if (limit == 0 || use <= limit)
    return 0;
  return (double)(use - limit);
}

/* In synapses, or in inbound axons, or neurons where synapses take no memory. */
static double memory_excess(const cm_axon_state *s, uint64_t size, uint64_t axons, uint64_t synapses)
{
  const cm_limits *l = &s->limits;
  uint32_t unit = l->synapse_bits != 0 ? l->synapse_bits : l->axon_bits != 0 ? l->axon_bits : l->neuron_bits;
  return l->memory_bits == 0 ? 0 : excess(cm_memory_bits(l, size, synapses, axons), l->memory_bits) / unit;
}

double cm_part_penalty(const cm_axon_state *s, uint64_t size, uint64_t axons, uint64_t synapses)
{
  return s->penalty_size * excess(size, s->limits.neurons) + s->penalty_axons * excess(axons, s->limits.inbound_axons) +
         s->penalty_axons * (excess(synapses, s->limits.synapses) + memory_excess(s, size, axons, synapses));
}

uint64_t cm_axon_connectivity(const cm_axon_state *s)
{
  uint64_t sum = 0;
  for (const cm_net_state *net = s->net; net < s->net + s->graph->net_count; net++)
    sum += net->weight * (uint64_t)(net->lambda - (find(s, net, net->home) != NONE));
  return sum;
}

double cm_axon_cost(const cm_axon_state *s)
{
  double sum = 0;
  if (s->prices == NULL)
    return (double)cm_axon_connectivity(s);
  for (const cm_net_state *net = s->net; net < s->net + s->graph->net_count; net++) {
    uint64_t ways = 0;
    for (uint64_t i = net->first; i < net->first + net->lambda; i++)
      ways += cm_price(s->prices, net->home, s->where[i]);
    sum += (double)net->weight * (double)ways;
  }
  return sum;
}

double cm_axon_mean_price(const cm_axon_state *s)
{
  uint64_t ways = s->prices != NULL ? cm_axon_connectivity(s) : 0;
  return ways > 0 ? cm_axon_cost(s) / (double)ways : 1;
}

double cm_axon_penalty(const cm_axon_state *s)
{
  double sum = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    sum += cm_part_penalty(s, s->size[p], s->axons[p], s->synapses[p]);
  return sum;
}
