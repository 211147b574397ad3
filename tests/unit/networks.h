/* Small networks made by hand or at random for tests; plain heap, freed with network_free. */
#pragma once

#include "unit.h"

#include "base/random.h"
#include "core/network/demand.h"

static inline void *network_array(size_t count, size_t size)
{
  cm_error failure;
  void *block = cm_allocate(NULL, count, size, &failure);
  ck_assert_ptr_nonnull(block);
  return block;
}

static inline void network_free(cm_topology *t)
{
  cm_free(t->net_first);
  cm_free(t->net_source);
  cm_free(t->net_weight);
  cm_free(t->pin);
  cm_free(t->pin_weight);
  cm_free(t->size);
  cm_free(t->label_text);
  cm_free(t->label_first);
}

static inline uint32_t below(cm_random *random, uint64_t bound)
{
  return (uint32_t)cm_random_below(random, bound);
}

/* A directed network of one axon a neuron, with room for so many targets: their rows are filled one after another. */
static inline cm_topology network_of_rows(uint32_t neurons, size_t targets_max)
{
  cm_topology t = {.directed = true, .vertex_count = neurons, .net_count = neurons, .size_total = neurons, .weight_scale = 1};
  t.net_first = network_array((size_t)neurons + 1, sizeof *t.net_first);
  t.pin = network_array(targets_max, sizeof *t.pin);
  return t;
}

/* A directed network: several nets of one source, self loops, weights of synapses and sizes now and then. */
static inline cm_topology network_directed(cm_random *random, uint32_t vertices, uint32_t nets)
{
  cm_topology t = {
      .directed = true, .vertex_count = vertices, .net_count = nets, .weight_scale = 1u << below(random, 5)};
  t.net_first = network_array((size_t)nets + 1, sizeof *t.net_first);
  t.net_source = network_array(nets, sizeof *t.net_source);
  t.net_weight = network_array(nets, sizeof *t.net_weight);
  t.pin = network_array((size_t)nets * vertices, sizeof *t.pin);
  if (below(random, 2))
    t.pin_weight = network_array((size_t)nets * vertices, sizeof *t.pin_weight);
  if (below(random, 2))
    t.size = network_array(vertices, sizeof *t.size);
  for (uint32_t v = 0; v < vertices; v++) {
    if (t.size != NULL)
      t.size[v] = 1 + below(random, 5);
    t.size_total += t.size == NULL ? 1 : t.size[v];
  }
  uint32_t source = 0;
  for (uint32_t e = 0; e < nets; e++) {
    if (below(random, 3) && source + 1 < vertices)
      source += 1 + below(random, vertices - source - 1) / 4;
    t.net_source[e] = source;
    t.net_weight[e] = below(random, 50);
    uint32_t chance = 1 + below(random, 12);
    for (uint32_t v = 0; v < vertices; v++)
      if (below(random, 24) < chance) {
        if (t.pin_weight != NULL)
          t.pin_weight[t.pin_count] = below(random, 90);
        t.pin[t.pin_count++] = v;
      }
    if (t.pin_count == t.net_first[e])
      t.pin[t.pin_count++] = below(random, vertices);
    t.net_first[e + 1] = t.pin_count;
  }
  return t;
}

static inline int network_order(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Puts the targets of every net, which have no weights of their own, in ascending order, each once, as topologies have them. */
static inline void network_ascend(cm_topology *t)
{
  uint64_t kept = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t first = t->net_first[e], last = t->net_first[e + 1];
    t->net_first[e] = kept;
    qsort(t->pin + first, last - first, sizeof *t->pin, network_order);
    for (uint64_t i = first; i < last; i++)
      if (i == first || t->pin[i] != t->pin[i - 1])
        t->pin[kept++] = t->pin[i];
  }
  t->net_first[t->net_count] = t->pin_count = kept;
}

/* Neurons of a ring that reach up to three others a few places ahead. */
static inline cm_topology network_nearby(cm_random *random, uint32_t neurons)
{
  cm_topology t = network_of_rows(neurons, (size_t)neurons * 3);
  for (uint32_t v = 0; v < neurons; v++) {
    for (uint32_t i = 1 + below(random, 3), u = v; i > 0; i--)
      t.pin[t.pin_count++] = u = (u + 1 + below(random, 5)) % neurons;
    t.net_first[v + 1] = t.pin_count;
  }
  network_ascend(&t);
  return t;
}

static inline cm_topology network_undirected(cm_random *random, uint32_t vertices, uint32_t percent)
{
  cm_topology t = {.vertex_count = vertices, .net_count = vertices, .size_total = vertices, .weight_scale = 1};
  uint32_t *edge = calloc((size_t)vertices * vertices, sizeof *edge);
  bool weighted = below(random, 2);
  for (uint32_t u = 0; u < vertices; u++)
    for (uint32_t v = 0; v < u; v++)
      if (below(random, 100) < percent)
        edge[u * vertices + v] = edge[v * vertices + u] = weighted ? 1 + below(random, 9) : 1;
  t.net_first = network_array((size_t)vertices + 1, sizeof *t.net_first);
  t.pin = network_array((size_t)vertices * vertices, sizeof *t.pin);
  if (weighted)
    t.pin_weight = network_array((size_t)vertices * vertices, sizeof *t.pin_weight);
  for (uint32_t u = 0; u < vertices; u++) {
    for (uint32_t v = 0; v < vertices; v++)
      if (edge[u * vertices + v] != 0) {
        if (weighted)
          t.pin_weight[t.pin_count] = edge[u * vertices + v];
        t.pin[t.pin_count++] = v;
      }
    t.net_first[u + 1] = t.pin_count;
  }
  free(edge);
  return t;
}
