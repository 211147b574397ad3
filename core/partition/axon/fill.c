/* Happy path: vertices in an order come to wait -> one begins a part -> counts of shared nets rise for those that wait
 * -> the one that shares most and fits goes in, another comes to wait -> none fits, the next part. What can fail:
 * memory, a stop. */
#include "core/partition/axon/fill.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/axon/signature.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"
#include "core/partition/synapses.h"

enum { WAITING_MIN = 1024, CHECK_EVERY = 64 };
#define NONE UINT32_MAX

/* Networks with fewer synapses, in all or beside the number of possible ones, have levels (axon_levels.h). */
static const uint64_t pins_min = 100000, density_min = 100;

/* Two targets of a neuron have another source in common at most so many times as often as chance has it where there is
 * nothing to coarsen by, as seen in so many pairs. */
static const double closure_max = 1.6;
enum { PAIRS = 8192, LANDMARKS = 512 };

/* The targets of a net by their place in the order. Those that wait stand first, as far as they have been looked up. */
typedef struct targets {
  uint64_t begin, waiting; /* those that wait, and some that have left since the last look */
  uint64_t rest, end;      /* those not looked at yet */
} targets;

/* What a vertex that waits has of its inbound nets in the part under way. */
typedef struct pull {
  uint32_t nets;
  float weight; /* in mean weights */
} pull;

typedef struct filling {
  const cm_hypergraph *graph;
  const cm_fill_options *options;
  cm_run *run;
  uint32_t *part;     /* [vertices] */
  uint32_t *order;    /* [vertices] */
  targets *net;       /* [nets] */
  uint32_t *target;   /* [pins] places in the order, ascending in a net until they are looked at */
  uint8_t *taken;     /* [vertices] by place: it is in a part */
  pull *pull;         /* [vertices] by place */
  uint32_t *degree;   /* [vertices] by place: inbound nets */
  float *unit, *heavy; /* [vertices] by place: what a net counts in the vertex's share, and what weight does */
  float *weight;      /* [nets] in mean weights */
  uint32_t *wait;     /* [most] places of those that wait */
  uint32_t waits, most, next; /* next: in the order */
  uint32_t *net_part; /* [nets] last part that took it */
  uint32_t number;    /* of the part under way */
  uint64_t size, axons, synapses;
} filling;

/* ---- which networks ---- */

static uint64_t targets_of(const cm_hypergraph *g, uint32_t e)
{
  return g->net_targets[e];
}

/* Whether v is among the targets of net e. */
static bool hears(const cm_hypergraph *g, uint32_t v, uint32_t e)
{
  uint32_t last = 0;
  bool found = false;
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0 && !found && last <= e;) {
    last = cm_nets_next(&nets);
    found = last == e;
  }
  return found;
}

/* The number of the vertex that pin `at` of all lists of inbound nets belongs to, which becomes the place in its list.
 * begin[k]: pins of the vertices before the k-th of LANDMARKS even slices. */
static uint32_t find_pin(const cm_hypergraph *g, const uint64_t *begin, uint64_t *at)
{
  uint32_t low = 0, high = LANDMARKS;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    *(begin[middle] <= *at ? &low : &high) = middle;
  }
  uint32_t v = (uint32_t)cm_slice_begin(g->vertex_count, low, LANDMARKS);
  for (*at -= begin[low]; *at >= g->in_count[v]; v++)
    *at -= g->in_count[v];
  return v;
}

static void set_landmarks(const cm_hypergraph *g, uint64_t *begin)
{
  uint64_t sum = 0;
  uint32_t v = 0;
  for (uint32_t k = 0; k < LANDMARKS; k++) {
    for (; v < cm_slice_begin(g->vertex_count, k, LANDMARKS); v++)
      sum += g->in_count[v];
    begin[k] = sum;
  }
}

/* The net at a place of v's list. */
static uint32_t net_at(const cm_hypergraph *g, uint32_t v, uint64_t place)
{
  cm_nets nets = cm_nets_into(g, v);
  uint32_t e = cm_nets_next(&nets);
  for (; place > 0; place--)
    e = cm_nets_next(&nets);
  return e;
}

/* A target of net e on level 0. */
static uint32_t some_target(const cm_hypergraph *g, uint32_t e, cm_random *random)
{
  return g->number[g->pin[g->net_begin[e] + cm_random_below(random, targets_of(g, e))]];
}

static bool is_as_by_chance(const cm_hypergraph *g)
{
  cm_random random;
  uint64_t landmark[LANDMARKS];
  double by_chance = 0;
  uint32_t common = 0;
  cm_random_init(&random, 1, CM_STREAM_BISECTION, 2 << 20);
  set_landmarks(g, landmark);
  for (uint32_t i = 0; i < PAIRS; i++) {
    uint64_t at = cm_random_below(&random, g->pin_count);
    uint32_t hearer = find_pin(g, landmark, &at), e = net_at(g, hearer, at);
    uint32_t v = some_target(g, e, &random), u = some_target(g, e, &random);
    uint32_t other = net_at(g, u, cm_random_below(&random, g->in_count[u]));
    if (u == v || other == e)
      continue;
    by_chance += (double)targets_of(g, other) / g->vertex_count;
    common += hears(g, v, other);
  }
  return common <= closure_max * by_chance;
}

bool cm_fill_possible(const cm_topology *t)
{
  return t->pin_count >= pins_min && t->pin_count / t->vertex_count * density_min >= t->vertex_count;
}

cm_status cm_fill_suits(cm_hypergraph *g, cm_run *run, bool *suits, cm_error *error)
{
  if (cm_hypergraph_list_inbound(g, run, error) != CM_OK)
    return error->status;
  *suits = is_as_by_chance(g);
  return CM_OK;
}

/* ---- the waiting room ---- */

/* The vertex at a place comes to wait: what it shares with the part under way is counted. */
static void admit(filling *f, uint32_t place)
{
  const cm_hypergraph *g = f->graph;
  uint32_t v = f->order[place];
  pull has = {0, 0};
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets);
    bool shared = f->net_part[e] == f->number;
    has.nets += shared;
    has.weight += shared ? f->weight[e] : 0;
  }
  f->pull[place] = has;
  f->wait[f->waits++] = place;
}

static void admit_more(filling *f)
{
  while (f->waits < f->most && f->next < f->graph->vertex_count)
    admit(f, f->next++);
}

/* The part gets a net: those of its targets that wait share one more. Who has left is dropped from the list. */
static void share_net(filling *f, uint32_t e)
{
  targets *t = &f->net[e];
  for (; t->rest < t->end && f->target[t->rest] < f->next; t->rest++)
    f->target[t->waiting++] = f->target[t->rest];
  uint64_t kept = t->begin;
  float weight = f->weight[e];
  for (uint64_t i = t->begin; i < t->waiting; i++) {
    uint32_t place = f->target[i];
    f->target[kept] = place;
    kept += !f->taken[place];
    f->pull[place].nets++;
    f->pull[place].weight += weight;
  }
  t->waiting = kept;
}

/* ---- parts ---- */

static void take(filling *f, uint32_t i)
{
  const cm_hypergraph *g = f->graph;
  uint32_t place = f->wait[i], v = f->order[place];
  f->wait[i] = f->wait[--f->waits];
  f->taken[place] = 1;
  f->part[v] = f->number;
  f->size += g->size[v];
  f->synapses += g->synapses[v];
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets);
    if (f->net_part[e] == f->number)
      continue;
    f->net_part[e] = f->number;
    f->axons++;
    share_net(f, e);
  }
}

/* What is left of a limit: a vertex with several nets of one source may seem to break it by itself. */
static uint64_t room(uint64_t limit, uint64_t use)
{
  return limit == 0 ? UINT64_MAX : limit > use ? limit - use : 0;
}

/* Which of those that wait goes next: the one with the largest share, of equals the lowest place; NONE: none fits. */
static uint32_t best_waiting(const filling *f)
{
  const cm_hypergraph *g = f->graph;
  const cm_limits *l = &f->options->limits;
  uint64_t size = room(l->neurons, f->size), axons = room(l->inbound_axons, f->axons),
           synapses = room(l->synapses, f->synapses);
  uint32_t best = NONE;
  float most = -1;
  for (uint32_t i = 0; i < f->waits; i++) {
    uint32_t place = f->wait[i], v;
    pull has = f->pull[place];
    float share = (float)has.nets * f->unit[place] + has.weight * f->heavy[place];
    if (share < most || f->degree[place] - has.nets > axons)
      continue;
    v = f->order[place];
    if (f->size > 0 && !cm_memory_holds(l, f->size + g->size[v], f->synapses + g->synapses[v], f->axons + f->degree[place] - has.nets))
      continue;
    if (g->size[v] > size || g->synapses[v] > synapses || (share == most && place > f->wait[best]))
      continue;
    most = share;
    best = i;
  }
  return best;
}

/* The one that has most inbound nets: the others find most of theirs there. */
static uint32_t first_of_part(const filling *f)
{
  uint32_t first = 0;
  for (uint32_t i = 1; i < f->waits; i++) {
    uint32_t a = f->wait[i], b = f->wait[first];
    if (a < b ? f->degree[a] >= f->degree[b] : f->degree[a] > f->degree[b])
      first = i;
  }
  return first;
}

static void fill_part(filling *f)
{
  for (uint32_t i = 0; i < f->waits; i++)
    f->pull[f->wait[i]] = (pull){0, 0};
  f->size = f->axons = f->synapses = 0;
  for (uint32_t next = first_of_part(f); next != NONE; next = best_waiting(f)) {
    take(f, next);
    admit_more(f);
  }
}

static cm_status fill_all(filling *f, cm_error *error)
{
  uint32_t n = f->graph->vertex_count;
  for (admit_more(f); f->waits > 0; f->number++) {
    fill_part(f);
    if (f->number % CHECK_EVERY == 0 &&
        cm_run_progress(f->run, (double)(f->next - f->waits) / n, -1, n, (double)f->number, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* How many may wait: a look at a net counts those of its targets that do. */
static uint32_t room_to_wait(const cm_hypergraph *g, double work)
{
  double n = g->vertex_count, reach = g->net_count > 0 ? (double)g->pin_count / g->net_count : 0;
  double all = (double)g->pin_count * reach / 2; /* at most: as if no two of a part shared a net */
  if (all <= work || n <= WAITING_MIN)
    return g->vertex_count;
  return n * work / all > WAITING_MIN ? (uint32_t)(n * work / all) : WAITING_MIN;
}

bool cm_fill_has_all_wait(const cm_hypergraph *graph, double work)
{
  return room_to_wait(graph, work) == graph->vertex_count;
}

/* Fills f->order, by kinds where not all wait together. */
static cm_status find_order(filling *f, const cm_demand *demand, cm_error *error)
{
  const cm_hypergraph *g = f->graph;
  cm_synapses synapses = {0};
  for (uint32_t v = 0; v < g->vertex_count; v++)
    f->order[v] = v;
  if (f->most == g->vertex_count)
    return CM_OK;
  cm_status status = cm_synapses_new(demand, f->run, &synapses, error);
  if (status == CM_OK)
    status = cm_order_by_sources(&synapses, cm_mix(f->options->seed), f->run, f->order, error);
  cm_synapses_free(&synapses);
  for (uint32_t i = 0; i < g->vertex_count && status == CM_OK; i++)
    f->order[i] = g->number[f->order[i]];
  return status;
}

/* The lists of targets, by places in the order, and what is shared there. */
static void list_targets(filling *f)
{
  const cm_hypergraph *g = f->graph;
  uint64_t begin = 0;
  double mean = 0;
  for (uint32_t e = 0; e < g->net_count; e++)
    mean += (double)g->net_weight[e] / g->net_count;
  for (uint32_t e = 0; e < g->net_count; e++) {
    f->net[e] = (targets){begin, begin, begin, begin};
    begin += targets_of(g, e);
    f->net_part[e] = NONE;
    f->weight[e] = mean > 0 ? (float)(g->net_weight[e] / mean) : 0;
  }
  for (uint32_t i = 0; i < g->vertex_count; i++) {
    uint32_t v = f->order[i];
    float weight = 1;
    f->degree[i] = g->in_count[v];
    f->unit[i] = 1.0F / ((float)f->degree[i] + 1);
    for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
      uint32_t e = cm_nets_next(&nets);
      f->target[f->net[e].end++] = i;
      weight += f->weight[e];
    }
    f->heavy[i] = (float)f->options->weight / weight;
  }
}

static cm_status prepare(filling *f, const cm_demand *demand, cm_error *error)
{
  const cm_hypergraph *g = f->graph;
  cm_memory *memory = f->run->memory;
  uint32_t n = g->vertex_count;
  f->most = room_to_wait(g, f->options->work);
  if (CM_NEW(memory, f->order, n, error) != CM_OK || find_order(f, demand, error) != CM_OK ||
      CM_NEW(memory, f->net, g->net_count, error) != CM_OK || CM_NEW(memory, f->target, g->pin_count, error) != CM_OK ||
      CM_NEW(memory, f->taken, n, error) != CM_OK || CM_NEW(memory, f->pull, n, error) != CM_OK ||
      CM_NEW(memory, f->degree, n, error) != CM_OK || CM_NEW(memory, f->unit, n, error) != CM_OK ||
      CM_NEW(memory, f->heavy, n, error) != CM_OK || CM_NEW(memory, f->weight, g->net_count, error) != CM_OK ||
      CM_NEW(memory, f->wait, n, error) != CM_OK || CM_NEW(memory, f->net_part, g->net_count, error) != CM_OK)
    return error->status;
  list_targets(f);
  return CM_OK;
}

static void filling_free(filling *f)
{
  cm_free(f->order);
  cm_free(f->net);
  cm_free(f->target);
  cm_free(f->taken);
  cm_free(f->pull);
  cm_free(f->degree);
  cm_free(f->unit);
  cm_free(f->heavy);
  cm_free(f->weight);
  cm_free(f->wait);
  cm_free(f->net_part);
}

cm_status cm_fill_parts(const cm_demand *demand, const cm_hypergraph *graph, const cm_fill_options *options,
                        cm_run *run, uint32_t *part, uint32_t *parts, cm_error *error)
{
  filling f = {.graph = graph, .options = options, .run = run};
  cm_status status = CM_NEW(run->memory, f.part, graph->vertex_count, error);
  if (status == CM_OK)
    status = prepare(&f, demand, error);
  if (status == CM_OK)
    status = fill_all(&f, error);
  if (status == CM_OK) {
    memcpy(part, f.part, graph->vertex_count * sizeof *part);
    *parts = f.number;
  }
  cm_free(f.part);
  filling_free(&f);
  return status;
}
