/* Networks of axons, random and with planted groups, for the tests of partitioning them. */
#pragma once

#include "networks.h"

#include "core/partition/axon/axon.h"

enum { MOST = 60 }; /* neurons of a random network */

static cm_error error;
static cm_run run;

static inline void set_up(void)
{
  cm_run_init(&run);
}

static uint32_t lightest; /* rate of a random net */

/* A random directed network; several axons per neuron, self loops included. */
static inline cm_topology random_axons(cm_random *random)
{
  uint32_t n = 2 + below(random, MOST - 2);
  cm_topology t = {.directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1};
  t.net_first = network_array(2 * (size_t)n + 1, sizeof *t.net_first);
  t.net_source = network_array(2 * (size_t)n, sizeof *t.net_source);
  t.net_weight = network_array(2 * (size_t)n, sizeof *t.net_weight);
  t.pin = network_array(2 * (size_t)n * n, sizeof *t.pin);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t nets = below(random, 3); nets > 0; nets--) {
      uint64_t begin = t.pin_count;
      for (uint32_t u = 0; u < n; u++)
        if (below(random, 100) < 12)
          t.pin[t.pin_count++] = u;
      if (t.pin_count == begin)
        continue;
      t.net_source[t.net_count] = v;
      t.net_weight[t.net_count++] = lightest + below(random, 20);
      t.net_first[t.net_count] = t.pin_count;
    }
  }
  return t;
}

/* `groups` groups of `size` neurons; each neuron's axon reaches `fan` of its group, and with `stray` percent one
 * elsewhere. */
static inline cm_topology planted(uint32_t groups, uint32_t size, uint32_t fan, uint32_t stray, cm_random *random)
{
  uint32_t n = groups * size;
  cm_topology t = network_of_rows(n, (size_t)n * (fan + 1));
  t.net_weight = network_array(n, sizeof *t.net_weight);
  uint32_t *name = network_array(n, sizeof *name), *group = network_array(n, sizeof *group);
  cm_random_permutation(random, name, n); /* so that numbers tell nothing */
  for (uint32_t v = 0; v < n; v++)
    group[name[v]] = v / size;
  for (uint32_t v = 0; v < n; v++) {
    uint8_t *hit = network_array(n, 1);
    for (uint32_t k = 0; k < fan; k++)
      hit[name[group[v] * size + below(random, size)]] = 1;
    if (below(random, 100) < stray)
      hit[below(random, n)] = 1;
    for (uint32_t u = 0; u < n; u++)
      if (hit[u])
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
    cm_free(hit);
  }
  cm_free(name);
  cm_free(group);
  return t;
}

/* Several starts, attempts and cycles. */
static inline cm_axon_options effort(uint64_t neurons, uint64_t axons)
{
  return (cm_axon_options){.limits = {.neurons = neurons, .inbound_axons = axons}, .parts_max = 1000, .starts = 4, .start_sweeps = 20,
                           .sweeps = 20, .fine_sweeps = 3, .attempts = 2, .cycles = 2, .cycle_hot = 0.06, .work = 100000000, .seed = 3};
}
