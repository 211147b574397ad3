/* Which networks are partitioned by ties alone. */
#include "base/random.h"
#include "core/partition/edge/affinity.h"
#include "core/partition/options.h"

/* Networks with fewer synapses are made graphs always. */
static const uint64_t pins_min = UINT64_C(1) << 19;

/* Two targets of a neuron are connected at most so many times as often as any two neurons where there is nothing to
 * coarsen by, as seen in so many pairs. */
static const double closure_max = 2;
enum { PAIRS = 8192 };

/* Whether a neuron reaches another. */
static bool reaches(const cm_topology *t, uint32_t from, uint32_t to)
{
  uint32_t low = 0, high = t->net_count;
  while (low < high) { /* the first of its nets */
    uint32_t middle = low + (high - low) / 2;
    if (cm_topology_source(t, middle) < from)
      low = middle + 1;
    else
      high = middle;
  }
  for (uint32_t e = low; e < t->net_count && cm_topology_source(t, e) == from; e++) {
    uint64_t at = cm_topology_first_pin(t, e, to);
    if (at < t->net_first[e + 1] && t->pin[at] == to)
      return true;
  }
  return false;
}

/* Whether two targets of a neuron are hardly more likely to be connected than any two. */
static bool scattered(const cm_topology *t)
{
  cm_random random;
  cm_random_init(&random, 1, CM_STREAM_REFINEMENT, 2 << 20);
  double by_chance = (double)t->pin_count / t->vertex_count / t->vertex_count;
  uint32_t connected = 0;
  for (uint32_t i = 0; i < PAIRS; i++) {
    uint32_t e = (uint32_t)cm_random_below(&random, t->net_count);
    uint64_t begin = t->net_first[e], targets = t->net_first[e + 1] - begin;
    uint32_t from = t->pin[begin + cm_random_below(&random, targets)];
    connected += reaches(t, from, t->pin[begin + cm_random_below(&random, targets)]);
  }
  return connected <= closure_max * by_chance * PAIRS;
}

bool cm_affinity_suits(const cm_topology *topology, uint32_t parts, bool small)
{
  if (!topology->directed || topology->pin_count / 8 / parts < topology->vertex_count)
    return false;
  return topology->pin_count >= CM_AFFINITY_LARGE || (small && topology->pin_count >= pins_min && scattered(topology));
}
