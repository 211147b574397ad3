/* Outside truth for limits: every partition of a small network, counted the plain way. */
#pragma once

#include "networks.h"

#include "core/limits/limits.h"

enum { SMALL = 7 };

typedef struct truth {
  uint32_t parts;            /* of the legal partition with fewest; 0: there is none */
  uint32_t least_reach[SMALL]; /* parts that hold a target of each neuron, in the partition where they are fewest */
} truth;

static inline void count_plainly(const cm_topology *t, const uint32_t *part, uint32_t parts,
                                 uint64_t use[SMALL][CM_RESOURCES], bool reach[SMALL][SMALL])
{
  bool inbound[SMALL][SMALL] = {{false}}, cores[SMALL][SMALL] = {{false}};
  memset(use, 0, SMALL * sizeof *use);
  memset(reach, 0, SMALL * sizeof *reach);
  for (uint32_t v = 0; v < t->vertex_count; v++)
    use[part[v]][CM_NEURONS] += t->size != NULL ? t->size[v] : 1;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = t->net_source != NULL ? t->net_source[e] : e;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t p = part[t->pin[i]];
      use[p][CM_SYNAPSES]++;
      inbound[p][source] = reach[source][p] = true;
      cores[part[source]][p] = true;
    }
  }
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t q = 0; q < t->vertex_count; q++) {
      use[p][CM_INBOUND_AXONS] += inbound[p][q];
      use[p][CM_TARGET_CORES] += q != p && cores[p][q];
      use[p][CM_SOURCE_CORES] += q != p && cores[q][p];
      for (uint32_t v = 0; v < t->vertex_count; v++)
        use[p][CM_OUTBOUND_AXONS] += part[v] == p && q != p && reach[v][q];
    }
}

static inline bool over_together(const cm_topology *t, const cm_limits *l, const uint32_t *part, uint32_t p, const uint64_t *use)
{
  bool here[SMALL] = {false};
  uint32_t populations = 0;
  uint64_t bits = l->neuron_bits * use[CM_NEURONS] + l->synapse_bits * use[CM_SYNAPSES] + l->axon_bits * use[CM_INBOUND_AXONS];
  for (uint32_t v = 0; v < t->vertex_count && t->population_of != NULL; v++)
    here[t->population_of[v]] |= part[v] == p;
  for (uint32_t k = 0; k < SMALL; k++)
    populations += here[k];
  return (l->memory_bits != 0 && bits > l->memory_bits) || (l->populations != 0 && populations > l->populations);
}

static inline void judge(const cm_topology *t, const cm_limits *limits, const uint32_t *part, uint32_t parts,
                         truth *found)
{
  uint64_t use[SMALL][CM_RESOURCES];
  bool reach[SMALL][SMALL];
  const uint64_t limit[CM_RESOURCES] = {limits->neurons, limits->synapses, limits->inbound_axons,
                                        limits->outbound_axons, limits->target_cores, limits->source_cores};
  count_plainly(t, part, parts, use, reach);
  for (uint32_t p = 0; p < parts; p++)
    if (over_together(t, limits, part, p, use[p]))
      return;
  for (uint32_t p = 0; p < parts; p++)
    for (int r = 0; r < CM_RESOURCES; r++)
      if (limit[r] != 0 && use[p][r] > limit[r])
        return;
  if (found->parts == 0 || parts < found->parts)
    found->parts = parts;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < parts; p++)
      count += reach[v][p];
    if (count < found->least_reach[v])
      found->least_reach[v] = count;
  }
}

static inline void every_partition(const cm_topology *t, const cm_limits *limits, uint32_t *part, uint32_t v,
                                   uint32_t parts, truth *found)
{
  if (v == t->vertex_count) {
    judge(t, limits, part, parts, found);
    return;
  }
  for (uint32_t p = 0; p <= parts && p < SMALL; p++) {
    part[v] = p;
    every_partition(t, limits, part, v + 1, p == parts ? parts + 1 : parts, found);
  }
}

static inline truth least_parts(const cm_topology *t, const cm_limits *limits)
{
  truth found = {0};
  uint32_t part[SMALL] = {0};
  memset(found.least_reach, 0xff, sizeof found.least_reach);
  every_partition(t, limits, part, 0, 0, &found);
  return found;
}

static inline cm_limits random_limits(cm_random *random, const cm_topology *t)
{
  cm_limits l = {0};
  if (below(random, 3))
    l.neurons = 1 + below(random, t->size_total);
  if (below(random, 2))
    l.synapses = 1 + below(random, t->pin_count);
  if (below(random, 3))
    l.inbound_axons = 1 + below(random, t->vertex_count);
  if (below(random, 3) == 0)
    l.outbound_axons = 1 + below(random, 2 * t->vertex_count);
  if (below(random, 4) == 0)
    l.target_cores = 1 + below(random, t->vertex_count);
  if (below(random, 2))
    l.source_cores = 1 + below(random, 3);
  return l;
}
