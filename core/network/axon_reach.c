/* What axons reach, and so by what neurons that belong together are known. */
#include "core/network/axon_reach.h"

/* Where axons reach so few neurons on average, neurons that belong together share no axons to be known by; those between them tell more. */
enum { FEW_TARGETS = 40 };

bool cm_axons_reach_few(const cm_topology *topology)
{
  return topology->pin_count <= (uint64_t)FEW_TARGETS * topology->net_count;
}

bool cm_axons_are_edges(const cm_topology *t)
{
  bool edges = t->directed && t->pin_weight == NULL && t->pin_count <= t->net_count;
  for (uint32_t e = 0; edges && e < t->net_count; e++)
    edges = t->net_first[e + 1] - t->net_first[e] <= 1;
  return edges;
}
