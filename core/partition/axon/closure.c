#include "core/partition/axon/closure.h"

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/options.h"

/* Networks with fewer synapses, in all or beside the number of possible ones, have clusters to coarsen by. */
static const uint64_t pins_min = 100000, density_min = 100;

/* Two targets of a neuron have another source in common at most so many times as often as chance has it where there is
 * nothing to coarsen by, as seen in so many pairs. */
static const double closure_max = 1.6;
enum { PAIRS = 8192, LANDMARKS = 512 };

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

static bool is_as_by_chance(const cm_hypergraph *g, double inside)
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
    by_chance += (double)targets_of(g, other) / inside;
    common += hears(g, v, other);
  }
  return common <= closure_max * by_chance;
}

/* Vertices that parts are made of: sources that stand outside hear nothing. */
static uint32_t inside_of(const cm_demand *demand)
{
  uint32_t count = 0;
  for (uint32_t v = 0; v < demand->network->vertex_count; v++)
    count += cm_demand_size(demand, v) > 0;
  return count;
}

bool cm_may_lack_clusters(const cm_demand *demand)
{
  const cm_topology *t = demand->network;
  const uint32_t inside = inside_of(demand);
  return t->pin_count >= pins_min && inside > 0 && t->pin_count / inside * density_min >= t->vertex_count;
}

cm_status cm_lacks_clusters(const cm_demand *demand, cm_hypergraph *g, cm_run *run, bool *lacks, cm_error *error)
{
  if (cm_hypergraph_list_inbound(g, run, error) != CM_OK)
    return error->status;
  *lacks = is_as_by_chance(g, inside_of(demand));
  return CM_OK;
}
