#include "core/partition/axon/closure.h"

#include "base/random.h"
#include "core/partition/options.h"

/* Networks with fewer synapses, in all or beside the number of possible ones, have clusters to coarsen by. */
static const uint64_t pins_min = 100000, density_min = 100;

/* Two targets of a neuron have another source in common at most so many times as often as chance has it where there is
 * nothing to coarsen by, as seen in so many pairs. */
static const double closure_max = 1.6;
enum { PAIRS = 8192 };

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

/* The net that has a pin. O(log nets). */
static uint32_t net_of(const cm_topology *t, uint64_t pin)
{
  uint32_t low = 0, high = t->net_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(t->net_first[middle] <= pin ? &low : &high) = middle;
  }
  return low;
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

static bool is_as_by_chance(const cm_topology *t, const cm_hypergraph *g, double inside)
{
  cm_random random;
  double by_chance = 0;
  uint32_t common = 0;
  cm_random_init(&random, 1, CM_STREAM_BISECTION, 2 << 20);
  for (uint32_t i = 0; i < PAIRS; i++) {
    uint64_t pin = cm_random_below(&random, t->pin_count);
    uint32_t e = net_of(t, pin);
    uint64_t first = t->net_first[e];
    uint32_t v = g->number[t->pin[pin]], u = g->number[t->pin[first + cm_random_below(&random, t->net_first[e + 1] - first)]];
    uint32_t other = net_at(g, u, cm_random_below(&random, g->in_count[u]));
    if (u == v || g->net_begin[other] == first)
      continue;
    by_chance += (double)g->net_targets[other] / inside;
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
  CM_TRY(cm_hypergraph_list_inbound(g, run, error));
  *lacks = is_as_by_chance(demand->network, g, inside_of(demand));
  return CM_OK;
}
