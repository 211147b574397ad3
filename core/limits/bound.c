/* Happy path: what every neuron asks for -> what every axon costs at least -> the largest of all arguments. Each
 * argument is one function. All sums are integers, so that the bound is a proof and not a rounding. */
#include "core/limits/bound.h"

#include <math.h>

#include "core/limits/bound_apart.h"
#include "core/limits/copies.h"

enum {
  CHECK_EVERY = 4096,
  STEPS = 128,    /* thresholds of the packing argument, as shares of a core */
  SHARE_BITS = 32 /* fractions of an axon are counted in 2^-32 */
};

typedef unsigned __int128 wide;

typedef struct work {
  const cm_demand *demand;
  const cm_limits *limits;
  cm_run *run;
  uint32_t *synapses; /* [vertices] that come in */
  uint32_t *axons;    /* [vertices] distinct sources that come in */
  uint32_t *seen;     /* [vertices] last source + 1 */
  uint64_t *share; /* [vertices] inbound axons that a neuron costs at least, whoever is beside it; NULL: not needed */
  uint32_t most_synapses, most_axons, most_size;
  cm_bound best;
} work;

static uint64_t divide_up(wide a, uint64_t b)
{
  return (uint64_t)((a + b - 1) / b);
}

static void raise_bound(work *w, uint64_t parts, cm_argument argument, cm_resource resource, wide total, uint64_t limit)
{
  if (argument == CM_ARGUMENT_TOTAL)
    w->best.filled = fmax(w->best.filled, (double)total / (double)limit);
  if (parts <= w->best.parts)
    return;
  w->best.parts = parts > UINT32_MAX ? UINT32_MAX : (uint32_t)parts;
  w->best.argument = argument;
  w->best.resource = resource;
  w->best.total = total > UINT64_MAX ? UINT64_MAX : (uint64_t)total;
  w->best.limit = limit;
}

/* ---- what neurons ask for ---- */

static cm_status count_inputs(work *w, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  CM_TRY(cm_count_inputs(w->demand, w->run, w->synapses, w->axons, error));
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    w->most_synapses = w->synapses[v] > w->most_synapses ? w->synapses[v] : w->most_synapses;
    w->most_axons = w->axons[v] > w->most_axons ? w->axons[v] : w->most_axons;
    w->most_size = cm_demand_size(w->demand, v) > w->most_size ? cm_demand_size(w->demand, v) : w->most_size;
  }
  return CM_OK;
}

/* ---- what axons cost ---- */

/* One source neuron: its nets, and what its targets fill together. */
typedef struct axon {
  uint32_t source, net, end; /* nets net .. end - 1 */
  uint64_t size, synapses;   /* of all targets */
} axon;

static axon read_axon(work *w, uint32_t net)
{
  const cm_topology *t = w->demand->network;
  axon a = {.source = cm_topology_source(t, net), .net = net, .end = net};
  bool single = net + 1 == t->net_count || cm_topology_source(t, net + 1) != a.source;
  if (single && w->demand->size == NULL && w->limits->synapses == 0 && w->share == NULL) {
    a.end = net + 1; /* its targets are distinct, and nothing else is asked of them */
    a.size = t->net_first[a.end] - t->net_first[net];
    return a;
  }
  for (; a.end < t->net_count && cm_topology_source(t, a.end) == a.source; a.end++)
    for (uint64_t i = t->net_first[a.end]; i < t->net_first[a.end + 1]; i++) {
      uint32_t v = t->pin[i];
      if (w->seen[v] == a.source + 1)
        continue;
      w->seen[v] = a.source + 1;
      a.size += cm_demand_size(w->demand, v);
      a.synapses += w->synapses[v];
    }
  return a;
}

/* Every target's share of the one inbound axon that a part pays for all it holds of them: what a part can hold is at
 * most `room`, so a target that weighs `weight` of it carries weight / room of the axon at least. */
static void share_axon(work *w, const axon *a)
{
  const cm_topology *t = w->demand->network;
  uint64_t by_size = w->limits->neurons != 0 && a->size > w->limits->neurons ? w->limits->neurons : a->size;
  uint64_t by_synapses =
      w->limits->synapses != 0 && a->synapses > w->limits->synapses ? w->limits->synapses : a->synapses;
  bool sizes =
      a->size > 0 && (wide)a->size * by_synapses >= (wide)a->synapses * by_size; /* the one that fills more cores */
  for (uint32_t e = a->net; e < a->end; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t v = t->pin[i];
      if (w->seen[v] != a->source + 1)
        continue; /* its share is counted */
      w->seen[v] = 0;
      uint64_t weight = sizes ? cm_demand_size(w->demand, v) : w->synapses[v];
      w->share[v] += (weight << SHARE_BITS) / (sizes ? by_size : by_synapses);
    }
}

/* Parts that hold a target of this axon, at least. */
static uint64_t parts_of_axon(const work *w, const axon *a)
{
  uint64_t parts = 1;
  if (w->limits->neurons != 0 && divide_up(a->size, w->limits->neurons) > parts)
    parts = divide_up(a->size, w->limits->neurons);
  if (w->limits->synapses != 0 && divide_up(a->synapses, w->limits->synapses) > parts)
    parts = divide_up(a->synapses, w->limits->synapses);
  return parts;
}

static cm_status count_axons(work *w, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  wide inbound = 0, outbound = 0;
  for (uint32_t net = 0, tick = 0; net < t->net_count; tick++) {
    CM_TRY_IF(tick % CHECK_EVERY == 0, cm_run_check(w->run, error));
    axon a = read_axon(w, net);
    uint64_t parts = a.end > net && t->net_first[a.end] > t->net_first[net] ? parts_of_axon(w, &a) : 0;
    inbound += parts;
    outbound += parts > 1 ? parts - 1 : 0; /* one of them may be the source's own */
    if (parts > w->best.widest_cores) {
      w->best.widest_cores = (uint32_t)parts;
      w->best.widest = a.source;
    }
    if (w->share != NULL)
      share_axon(w, &a);
    net = a.end;
  }
  if (w->limits->inbound_axons != 0)
    raise_bound(w, divide_up(inbound, w->limits->inbound_axons), CM_ARGUMENT_TOTAL, CM_INBOUND_AXONS, inbound,
                w->limits->inbound_axons);
  if (w->limits->outbound_axons != 0)
    raise_bound(w, divide_up(outbound, w->limits->outbound_axons), CM_ARGUMENT_TOTAL, CM_OUTBOUND_AXONS, outbound,
                w->limits->outbound_axons);
  return CM_OK;
}

/* ---- gaps ---- */

/* A neuron's use of an additive resource. */
static wide use_of(const work *w, cm_resource resource, uint32_t v)
{
  return resource == CM_NEURONS    ? cm_demand_size(w->demand, v)
         : resource == CM_SYNAPSES ? w->synapses[v]
                                   : w->share[v];
}

/* For a threshold k / STEPS of a core: each neuron larger than the rest of a core beside it is alone; each above
 * half has a part of its own, with a gap that only neurons above the threshold and up to half can fill; what these
 * exceed the gaps by needs further parts. (Martello and Toth, Knapsack Problems, 1990, section 8.3.2.) */
static void bound_by_gaps(work *w, cm_resource resource, uint64_t limit)
{
  wide core = resource == CM_INBOUND_AXONS ? (wide)limit << SHARE_BITS : limit;
  wide small[STEPS / 2 + 1] = {0}; /* use of neurons up to half a core, by the largest threshold they reach */
  wide large[STEPS / 2] = {0};     /* use of the others, by the least threshold at which they are alone - 1 */
  uint64_t count[STEPS / 2] = {0};
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++) {
    wide use = use_of(w, resource, v);
    if (2 * use <= core)
      small[use * STEPS / core] += use;
    else {
      size_t rest = STEPS - 1 - (size_t)((use * STEPS - 1) / core);
      large[rest] += use;
      count[rest]++;
    }
  }
  wide fill = 0, gaps = 0;
  uint64_t parts = 0;
  for (size_t k = 0; k < STEPS / 2; k++)
    parts += count[k];
  for (size_t k = STEPS / 2 + 1; k-- > 0;) { /* a neuron is alone at thresholds above its `rest` */
    fill += small[k];
    if (k < STEPS / 2)
      gaps = 0;
    for (size_t rest = k; rest < STEPS / 2; rest++)
      gaps += (wide)count[rest] * core - large[rest];
    uint64_t further = fill > gaps ? divide_up(fill - gaps, (uint64_t)core) : 0;
    raise_bound(w, parts + further, CM_ARGUMENT_GAPS, resource, 0, limit);
  }
}

/* ---- all together ---- */

static cm_status work_new(work *w, cm_error *error)
{
  uint32_t n = w->demand->network->vertex_count;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->synapses, n), CM_ARRAY(w->axons, n));
  return status == CM_OK ? CM_NEW(w->run->memory, w->seen, n, error) : status;
}

static cm_status bound_by_synapses(work *w, cm_error *error)
{
  const cm_limits *l = w->limits;
  CM_TRY(work_new(w, error));
  CM_TRY(count_inputs(w, error));
  if (l->synapses != 0)
    raise_bound(w, divide_up(w->demand->network->pin_count, l->synapses), CM_ARGUMENT_TOTAL, CM_SYNAPSES,
                w->demand->network->pin_count, l->synapses);
  /* Shares can tell more than totals only where a neuron fills more than half a core. */
  bool shares = l->inbound_axons != 0 && 2 * (uint64_t)w->most_axons > l->inbound_axons;
  CM_TRY_IF(shares, CM_NEW(w->run->memory, w->share, w->demand->network->vertex_count, error));
  CM_TRY(count_axons(w, error));
  if (shares)
    bound_by_gaps(w, CM_INBOUND_AXONS, l->inbound_axons);
  if (l->synapses != 0 && 2 * (uint64_t)w->most_synapses > l->synapses)
    bound_by_gaps(w, CM_SYNAPSES, l->synapses);
  uint32_t apart;
  cm_resource last;
  CM_TRY(cm_neurons_apart(w->demand, l, w->synapses, w->axons, w->run, &apart, &last, error));
  raise_bound(w, apart, CM_ARGUMENT_APART, last, 0, cm_limit(l, last));
  return CM_OK;
}

/* All neurons and synapses take their bits, and every source an inbound axon in each of the parts that its synapses fill. */
static void bound_by_memory(work *w)
{
  const cm_topology *t = w->demand->network;
  const cm_limits *l = w->limits;
  uint64_t axons = 0, pins = 0;
  for (uint32_t e = 0; e < t->net_count && l->axon_bits != 0; e++) {
    uint32_t source = cm_topology_source(t, e);
    pins += t->net_first[e + 1] - t->net_first[e];
    if (e + 1 < t->net_count && cm_topology_source(t, e + 1) == source)
      continue;
    uint64_t filled = divide_up(pins * l->synapse_bits, l->memory_bits);
    axons += pins == 0 ? 0 : filled > 1 ? filled : 1;
    pins = 0;
  }
  uint64_t total = cm_memory_bits(l, w->demand->size_total, t->pin_count, axons);
  raise_bound(w, divide_up(total, l->memory_bits), CM_ARGUMENT_TOTAL, CM_MEMORY, total, l->memory_bits);
}

cm_status cm_bound_without_populations(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_bound *bound,
                                       cm_error *error)
{
  const cm_topology *topology = demand->network;
  work w = {.demand = demand, .limits = limits, .run = run, .best = {.parts = topology->vertex_count > 0}};
  if (limits->neurons != 0 && topology->vertex_count > 0) {
    raise_bound(&w, divide_up(demand->size_total, limits->neurons), CM_ARGUMENT_TOTAL, CM_NEURONS,
                demand->size_total, limits->neurons);
    if (demand->size != NULL)
      bound_by_gaps(&w, CM_NEURONS, limits->neurons);
  }
  if (limits->memory_bits != 0)
    bound_by_memory(&w);
  cm_status status = CM_OK;
  if (limits->synapses != 0 || limits->inbound_axons != 0 || limits->outbound_axons != 0 || limits->target_cores != 0 ||
      demand->target_cores_max != 0)
    status = bound_by_synapses(&w, error);
  CM_FREE(w.synapses, w.axons, w.seen, w.share);
  CM_END(status, *bound = w.best, );
}

cm_status cm_check_reach(const cm_demand *demand, const cm_bound *bound, const cm_limits *limits, cm_error *error)
{
  static const cm_resource reaching[] = {CM_OUTBOUND_AXONS, CM_TARGET_CORES};
  for (size_t i = 0; i < sizeof reaching / sizeof *reaching && bound->widest_cores > 1; i++) {
    uint64_t limit = cm_limit(limits, reaching[i]), use = bound->widest_cores - 1;
    if (limit == 0 || use <= limit)
      continue;
    cm_neuron_too_large(demand->network, bound->widest, reaching[i], use, limit, error);
    cm_fail_more(error, ": its targets do not fit on fewer than %u cores", bound->widest_cores);
    return CM_NEURON_TOO_LARGE;
  }
  uint64_t copies = cm_copies_for(demand, bound->widest_cores), needed = copies * cm_demand_size(demand, bound->widest);
  if (demand->target_cores_max != 0 && limits->neurons != 0 && bound->widest_cores > 0 && needed > limits->neurons) {
    cm_neuron_too_large(demand->network, bound->widest, CM_NEURONS, needed, limits->neurons, error);
    cm_fail_more(error, ": its targets do not fit on fewer than %u cores, and a copy reaches %u", bound->widest_cores, demand->target_cores_max);
    return CM_NEURON_TOO_LARGE;
  }
  return CM_OK;
}
