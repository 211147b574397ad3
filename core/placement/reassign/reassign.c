/* Rounds: count what every part asks of its core, take neurons out of parts that ask too much (evict.c), find parts for all
 * neurons that have none. What a neuron adds to a part is known exactly for neurons, synapses and inbound axons; what
 * it does to the outbound axons and target cores of others shows in the next round's count. */
#include <math.h>
#include <string.h>

#include "core/network/net_order.h"
#include "core/placement/reassign/reassignment.h"

enum { ROUNDS_MAX = 12, CANDIDATES_MAX = 128, LOOKED_MAX = 1 << 16 };

static cm_status index_nets(cm_reassignment *w, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  cm_memory *memory = w->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->in_first, (size_t)t->vertex_count + 2), CM_ARRAY(w->in_net, t->pin_count),
                    CM_ARRAY(w->out_first, (size_t)t->vertex_count + 1)));
  cm_topology_nets_to(t, w->in_first, w->in_net);
  cm_topology_nets_from(t, w->out_first);
  return CM_OK;
}

static bool admits_population(const cm_reassignment *w, uint32_t v, uint32_t part)
{
  return cm_population_tally_admits_up_to(&w->populations, v, part, cm_assigned_limits(w->s, part)->populations);
}

/* Populations that a part may not hold beside those of its first neurons have to leave it. */
static cm_status count_populations(cm_reassignment *w, cm_error *error)
{
  cm_assignment *s = w->s;
  cm_population_tally_free(&w->populations);
  cm_limits tightest = s->limits; /* on populations: what no kind of core can break needs no book */
  for (uint32_t k = 0; k < s->kinds; k++) {
    uint64_t most = s->of_kind[k].populations;
    if (most != 0 && (tightest.populations == 0 || most < tightest.populations))
      tightest.populations = most;
  }
  CM_TRY(cm_population_tally_new(w->demand->network, &tightest, (size_t)s->room + 1, w->run, &w->populations, error));
  for (uint32_t v = 0; w->populations.most != 0 && v < w->demand->network->vertex_count; v++) {
    if (s->part[v] == CM_NOWHERE)
      continue;
    CM_TRY(cm_population_tally_reserve(&w->populations, w->run, error));
    if (admits_population(w, v, s->part[v]))
      cm_population_tally_book(&w->populations, v, s->part[v], 1);
    else
      s->part[v] = CM_NOWHERE;
  }
  return CM_OK;
}

/* Counts all parts exactly; neurons without a part are counted as one more. */
static cm_status count(cm_reassignment *w, cm_error *error)
{
  cm_assignment *s = w->s;
  CM_TRY(count_populations(w, error));
  memset(w->members, 0, ((size_t)s->room + 1) * sizeof *w->members);
  if (w->firm != NULL)
    memset(w->firm, 0, ((size_t)s->room + 1) * CM_FIRM * sizeof *w->firm);
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++) {
    w->own_part[v] = s->part[v] == CM_NOWHERE ? s->room : s->part[v];
    w->members[w->own_part[v]]++;
    if (w->firm != NULL)
      w->firm[(size_t)w->own_part[v] * CM_FIRM + cm_firmness(s, v)]++;
  }
  return cm_count_use(w->demand, w->own_part, s->room + 1, w->run, w->use, error);
}

static void add_tie(cm_reassignment *w, uint32_t part, double packets)
{
  if (part == CM_NOWHERE)
    return;
  if (w->tie[part] == 0)
    w->touched[w->touched_count++] = part;
  w->tie[part] += packets + 1e-9; /* packets of rate 0 tie too */
}

/* Ties of a neuron, and which of its sources reach what parts already. */
static void count_ties(cm_reassignment *w, uint32_t v)
{
  const cm_topology *t = w->demand->network;
  const uint32_t *part = w->s->part;
  w->touched_count = w->reached_count = 0;
  uint32_t last = CM_NOWHERE;
  for (uint64_t i = w->in_first[v]; i < w->in_first[v + 1]; i++) {
    uint32_t source = cm_topology_source(t, w->in_net[i]);
    add_tie(w, part[source], (double)cm_demand_net_weight(w->demand, w->in_net[i]));
    if (source == last) /* nets of one source come one after the other */
      continue;
    last = source;
    for (uint32_t e = w->out_first[source]; e < w->out_first[source + 1]; e++)
      for (uint64_t k = t->net_first[e]; k < t->net_first[e + 1]; k++) {
        uint32_t p = part[t->pin[k]];
        if (p == CM_NOWHERE || w->stamp[p] == source + 1)
          continue;
        if (w->known[p] == 0)
          w->reached[w->reached_count++] = p;
        w->stamp[p] = source + 1;
        w->known[p]++;
      }
  }
  for (uint32_t e = w->out_first[v]; e < w->out_first[v + 1]; e++)
    for (uint64_t k = t->net_first[e]; k < t->net_first[e + 1]; k++)
      add_tie(w, part[t->pin[k]], (double)cm_demand_net_weight(w->demand, e));
}

static void clear_ties(cm_reassignment *w)
{
  for (uint32_t i = 0; i < w->reached_count; i++)
    w->known[w->reached[i]] = w->stamp[w->reached[i]] = 0;
  for (uint32_t i = 0; i < w->touched_count; i++)
    w->tie[w->touched[i]] = 0;
}

static uint32_t distinct_sources(const cm_reassignment *w, uint32_t v)
{
  uint32_t last = CM_NOWHERE, sources = 0;
  for (uint64_t i = w->in_first[v]; i < w->in_first[v + 1]; i++) {
    uint32_t source = cm_topology_source(w->demand->network, w->in_net[i]);
    sources += source != last;
    last = source;
  }
  return sources;
}

static bool has_room(const cm_reassignment *w, uint32_t part, uint32_t v, uint32_t sources)
{
  const cm_limits *limits = cm_assigned_limits(w->s, part);
  uint64_t outbound = 0;
  if (limits->outbound_axons != 0) /* parts that it talks with are at most so many */
    outbound = w->touched_count;
  return cm_kind_takes(w->s, v, w->s->kind[part]) && admits_population(w, v, part) &&
         cm_memory_holds(limits, *cm_part_use(w, part, CM_NEURONS) + cm_demand_size(w->demand, v),
                         *cm_part_use(w, part, CM_SYNAPSES) + (w->in_first[v + 1] - w->in_first[v]),
                         *cm_part_use(w, part, CM_INBOUND_AXONS) + (sources - w->known[part])) &&
         (limits->neurons == 0 || *cm_part_use(w, part, CM_NEURONS) + cm_demand_size(w->demand, v) <= limits->neurons) &&
         (limits->synapses == 0 ||
          *cm_part_use(w, part, CM_SYNAPSES) + (w->in_first[v + 1] - w->in_first[v]) <= limits->synapses) &&
         (limits->inbound_axons == 0 ||
          *cm_part_use(w, part, CM_INBOUND_AXONS) + (sources - w->known[part]) <= limits->inbound_axons) &&
         (outbound == 0 || *cm_part_use(w, part, CM_OUTBOUND_AXONS) + outbound <= limits->outbound_axons);
}

/* Packets times hops between a neuron in some part and those it talks with; a new core for a source's axon costs one
 * hop more. */
static double travel(const cm_reassignment *w, uint32_t part, uint32_t sources)
{
  const cm_assignment *s = w->s;
  double sum = (double)(sources - w->known[part]) * 1e-6;
  for (uint32_t i = 0; i < w->touched_count; i++) {
    uint32_t other = w->touched[i];
    if (other == part)
      continue;
    uint32_t a = s->core[part], b = s->core[other];
    sum += w->tie[other] * (1 + (a == CM_NOWHERE || b == CM_NOWHERE ? 1 : cm_chip_distance(s->chip, a, b)));
  }
  return sum;
}

/* A part without neurons, or a new one, on the kind of core of which most are left; `used` [kinds]. CM_NOWHERE where no core is left. */
static uint32_t new_part(cm_reassignment *w, uint32_t v, const uint32_t *used, uint32_t empty)
{
  cm_assignment *s = w->s;
  uint32_t kind = CM_NOWHERE, part = empty != CM_NOWHERE ? empty : s->parts;
  for (uint32_t k = 0; k < s->kinds; k++)
    if (used[k] < s->cores[k] && cm_kind_takes(s, v, k) && (kind == CM_NOWHERE || s->cores[k] - used[k] > s->cores[kind] - used[kind]))
      kind = k;
  if (kind == CM_NOWHERE)
    return CM_NOWHERE;
  if (part == s->parts || s->kind[part] != kind)
    s->core[part] = CM_NOWHERE;
  s->kind[part] = (uint8_t)kind;
  return part;
}

/* The core that no part has where a neuron's packets travel least; *least is that, of a part there. CM_NOWHERE: there is none. */
static uint32_t nearest_core(cm_reassignment *w, uint32_t v, uint32_t sources, double *least)
{
  cm_assignment *s = w->s;
  uint32_t best = CM_NOWHERE, part = s->parts;
  for (uint32_t c = 0; c < cm_chip_cores(s->chip); c++) {
    if (w->taken[c] || !cm_kind_takes(s, v, cm_chip_kind_of(s->chip, c)))
      continue;
    s->core[part] = c;
    const double here = travel(w, part, sources);
    if (here < *least) {
      *least = here;
      best = c;
    }
  }
  return best;
}

/* The least firm member of a part; CM_FIRM: it has none. */
static uint32_t softest(const cm_reassignment *w, uint32_t part)
{
  uint32_t firm = 0;
  while (firm < CM_FIRM && w->firm[(size_t)part * CM_FIRM + firm] == 0)
    firm++;
  return firm;
}

/* Where neurons are pinned: the part with room, of all, or the free core where its packets travel least; else a pinned one presses into a full part, whose softest
 * member will leave. */
static uint32_t choose_of_all(cm_reassignment *w, uint32_t v)
{
  cm_assignment *s = w->s;
  const uint32_t firm = cm_firmness(s, v);
  uint32_t sources = distinct_sources(w, v), best = CM_NOWHERE, full = CM_NOWHERE, empty = CM_NOWHERE, held = 0;
  double least = INFINITY, least_full = INFINITY;
  for (uint32_t p = 0; p < s->parts; p++) {
    held += w->members[p] > 0;
    if (w->members[p] == 0) {
      if (s->core[p] != CM_NOWHERE)
        w->taken[s->core[p]] = 0;
      s->core[p] = CM_NOWHERE;
      empty = empty == CM_NOWHERE ? p : empty;
      continue;
    }
    if (!cm_kind_takes(s, v, s->kind[p]) || !admits_population(w, v, p))
      continue;
    const double here = travel(w, p, sources);
    if (here < least && has_room(w, p, v, sources)) {
      least = here;
      best = p;
    } else if (here < least_full && softest(w, p) < firm) {
      least_full = here;
      full = p;
    }
  }
  if (held < s->parts_max && (best == CM_NOWHERE || cm_chip_cores(s->chip) <= LOOKED_MAX)) {
    const uint32_t core = nearest_core(w, v, sources, &least);
    if (core != CM_NOWHERE) {
      best = empty != CM_NOWHERE ? empty : s->parts;
      s->core[best] = core;
      s->kind[best] = (uint8_t)cm_chip_kind_of(s->chip, core);
      w->taken[core] = 1;
    }
  }
  if (best == CM_NOWHERE && full != CM_NOWHERE)
    w->firm[(size_t)full * CM_FIRM + softest(w, full)]--;
  return best != CM_NOWHERE ? best : full;
}

/* The best part for a neuron: of the closest ones with room, else the first with room, else a new one; CM_NOWHERE:
 * none. */
static uint32_t choose(cm_reassignment *w, uint32_t v)
{
  cm_assignment *s = w->s;
  uint32_t sources = distinct_sources(w, v), best = CM_NOWHERE, tried = 0;
  double least = INFINITY;
  for (uint32_t i = 0; i < w->touched_count && tried < CANDIDATES_MAX; i++) {
    uint32_t p = w->touched[i];
    if (w->members[p] == 0 || !has_room(w, p, v, sources))
      continue;
    tried++;
    double here = travel(w, p, sources);
    if (here < least || (here == least && p < best)) {
      least = here;
      best = p;
    }
  }
  uint32_t used[CM_KINDS_MAX] = {0}, empty = CM_NOWHERE;
  for (uint32_t p = 0; best == CM_NOWHERE && p < s->parts; p++) {
    used[s->kind[p]] += w->members[p] > 0;
    if (w->members[p] > 0 && has_room(w, p, v, sources))
      best = p;
    if (w->members[p] == 0 && empty == CM_NOWHERE)
      empty = p;
  }
  return best != CM_NOWHERE ? best : new_part(w, v, used, empty);
}

static void assign(cm_reassignment *w, uint32_t v, uint32_t part)
{
  cm_assignment *s = w->s;
  if (part == s->parts) {
    if (w->taken == NULL)
      s->core[part] = CM_NOWHERE;
    s->parts++;
    memset(cm_part_use(w, part, 0), 0, CM_RESOURCES * sizeof *w->use);
  }
  *cm_part_use(w, part, CM_NEURONS) += cm_demand_size(w->demand, v);
  *cm_part_use(w, part, CM_SYNAPSES) += w->in_first[v + 1] - w->in_first[v];
  *cm_part_use(w, part, CM_INBOUND_AXONS) += distinct_sources(w, v) - w->known[part];
  *cm_part_use(w, part, CM_OUTBOUND_AXONS) += w->touched_count;
  w->members[part]++;
  if (w->firm != NULL)
    w->firm[(size_t)part * CM_FIRM + cm_firmness(s, v)]++;
  cm_population_tally_book(&w->populations, v, part, 1);
  s->part[v] = part;
}

static cm_status assign_all(cm_reassignment *w, bool *legal, cm_error *error)
{
  cm_assignment *s = w->s;
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++) {
    if (s->part[v] != CM_NOWHERE)
      continue;
    count_ties(w, v);
    uint32_t part = w->taken != NULL ? choose_of_all(w, v) : choose(w, v);
    if (part == CM_NOWHERE) {
      clear_ties(w);
      *legal = false;
      return CM_OK;
    }
    CM_TRY(cm_population_tally_reserve(&w->populations, w->run, error));
    assign(w, v, part);
    clear_ties(w);
    CM_TRY(cm_run_check(w->run, error));
  }
  return CM_OK;
}

static cm_status mark_taken(cm_reassignment *w, cm_error *error)
{
  const cm_assignment *s = w->s;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->taken, cm_chip_cores(s->chip)),
                    CM_ARRAY(w->firm, ((size_t)s->room + 1) * CM_FIRM)));
  for (uint32_t c = 0; c < cm_chip_cores(s->chip); c++)
    w->taken[c] = s->occupancy->state[c] != CM_CORE_FREE;
  for (uint32_t p = 0; p < s->parts; p++)
    if (s->core[p] != CM_NOWHERE)
      w->taken[s->core[p]] = 1;
  return CM_OK;
}

static cm_status rounds(cm_reassignment *w, bool *legal, cm_error *error)
{
  *legal = true;
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++)
    if (w->s->part[v] != CM_NOWHERE && !cm_kind_takes(w->s, v, w->s->kind[w->s->part[v]]))
      w->s->part[v] = CM_NOWHERE;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    bool shrunk, unassigned = false;
    CM_TRY(count(w, error));
    CM_TRY(cm_evict_over_limits(w, &shrunk, error));
    for (uint32_t v = 0; v < w->demand->network->vertex_count && !unassigned; v++)
      unassigned = w->s->part[v] == CM_NOWHERE;
    if (!shrunk && !unassigned)
      return CM_OK;
    /* Evicted axons leave too: count again before rooms are given out. */
    if ((shrunk && count(w, error) != CM_OK) || assign_all(w, legal, error) != CM_OK)
      return error->status;
    if (!*legal)
      return CM_OK;
  }
  *legal = false;
  return CM_OK;
}

cm_status cm_reassign(cm_assignment *assignment, cm_run *run, bool *legal, cm_error *error)
{
  cm_reassignment w = {.s = assignment, .demand = assignment->demand, .run = run};
  cm_memory *memory = run->memory;
  size_t parts = (size_t)assignment->room + 1;
  cm_status status = index_nets(&w, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(w.use, parts * CM_RESOURCES), CM_ARRAY(w.members, parts),
                             CM_ARRAY(w.tie, parts), CM_ARRAY(w.touched, parts), CM_ARRAY(w.known, parts),
                             CM_ARRAY(w.stamp, parts), CM_ARRAY(w.reached, parts),
                             CM_ARRAY(w.own_part, w.demand->network->vertex_count)));
  CM_THEN_IF(status, assignment->anywhere != 0, mark_taken(&w, error));
  CM_THEN(status, rounds(&w, legal, error));
  CM_FREE(w.in_first, w.in_net, w.out_first, w.use, w.members, w.tie, w.touched, w.known, w.stamp, w.reached, w.own_part, w.taken, w.firm);
  cm_population_tally_free(&w.populations);
  return status;
}
