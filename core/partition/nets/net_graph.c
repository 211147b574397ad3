#include "core/partition/nets/net_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"

#define NONE UINT32_MAX

static const uint64_t weights_max = UINT64_C(1) << 60;

void cm_net_graph_free(cm_net_graph *graph)
{
  if (graph == NULL)
    return;
  CM_FREE(graph->net_first, graph->pin, graph->net_weight, graph->vertex_first, graph->net, graph->size, graph);
}

/* A hypergraph in the making: pins of a net are added, then the net is closed. */
typedef struct builder {
  cm_net_graph *graph;
  uint64_t count;   /* pins so far, those of the open net included */
  uint64_t *seen;   /* [vertices] nets opened when the vertex was last added */
  uint64_t opened;
  uint32_t *table;  /* nets by their pins */
  uint32_t mask;
} builder;

static void builder_free(builder *b)
{
  cm_net_graph_free(b->graph);
  CM_FREE(b->seen, b->table);
}

/* Room for so many of each. */
static cm_status builder_new(uint32_t vertices, uint32_t nets, uint64_t pins, cm_run *run, builder *b, cm_error *error)
{
  uint64_t places = 16;
  while (places < 2 * (uint64_t)nets)
    places *= 2;
  *b = (builder){.mask = (uint32_t)(places - 1), .opened = 1};
  CM_TRY_OR(CM_NEW(run->memory, b->graph, 1, error), builder_free(b));
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(b->graph->net_first, (size_t)nets + 1), CM_ARRAY(b->graph->pin, pins),
                       CM_ARRAY(b->graph->net_weight, nets), CM_ARRAY(b->graph->size, vertices), CM_ARRAY(b->seen, vertices),
                       CM_ARRAY(b->table, places)), builder_free(b));
  b->graph->vertex_count = vertices;
  memset(b->table, 0xff, places * sizeof *b->table);
  return CM_OK;
}

static void add_pin(builder *b, uint32_t v)
{
  if (b->seen[v] == b->opened)
    return;
  b->seen[v] = b->opened;
  b->graph->pin[b->count++] = v;
}

static void sort_pins(uint32_t *pin, uint64_t count)
{
  enum { SHORT = 24 };
  if (count > SHORT) {
    qsort(pin, count, sizeof *pin, cm_ascending);
    return;
  }
  for (uint64_t i = 1; i < count; i++) {
    uint32_t v = pin[i];
    uint64_t at = i;
    for (; at > 0 && pin[at - 1] > v; at--)
      pin[at] = pin[at - 1];
    pin[at] = v;
  }
}

/* The net with the pins that were added since the last one; where there is one already, it weighs more. */
static void close_net(builder *b, int64_t weight)
{
  cm_net_graph *g = b->graph;
  uint64_t begin = g->net_first[g->net_count], count = b->count - begin, hash = count;
  uint32_t *pin = g->pin + begin;
  b->opened++;
  b->count = begin;
  if (count < 2 || weight == 0)
    return;
  sort_pins(pin, count);
  for (uint64_t i = 0; i < count; i++)
    hash = cm_mix(hash ^ pin[i]);
  uint32_t place = (uint32_t)hash & b->mask;
  for (; b->table[place] != NONE; place = (place + 1) & b->mask) {
    uint32_t e = b->table[place];
    if (g->net_first[e + 1] - g->net_first[e] == count &&
        memcmp(g->pin + g->net_first[e], pin, count * sizeof *pin) == 0) {
      g->net_weight[e] += weight;
      return;
    }
  }
  b->table[place] = g->net_count;
  g->net_weight[g->net_count++] = weight;
  b->count = begin + count;
  g->net_first[g->net_count] = b->count;
}

/* Lists the nets of every vertex and gives up what was too much room. */
static cm_status finish(builder *b, cm_run *run, cm_net_graph **graph, cm_error *error)
{
  cm_net_graph *g = b->graph;
  uint32_t n = g->vertex_count;
  g->pin_count = b->count;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->vertex_first, (size_t)n + 2), CM_ARRAY(g->net, g->pin_count)),
            builder_free(b));
  CM_TRIM(run->memory, g->pin, g->pin_count);
  for (uint64_t i = 0; i < g->pin_count; i++)
    g->vertex_first[g->pin[i] + 2]++;
  for (uint32_t v = 0; v < n; v++) {
    g->vertex_first[v + 2] += g->vertex_first[v + 1];
    g->size_total += g->size[v];
  }
  for (uint32_t e = 0; e < g->net_count; e++)
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
      g->net[g->vertex_first[g->pin[i] + 1]++] = e;
  *graph = g;
  b->graph = NULL;
  builder_free(b);
  return CM_OK;
}

/* How far weights are to be shifted to stay below weights_max together. */
static unsigned weight_shift(const cm_demand *demand)
{
  const cm_topology *t = demand->network;
  double sum = 0;
  unsigned shift = 0;
  if (t->directed)
    for (uint32_t e = 0; e < t->net_count; e++)
      sum += (double)cm_demand_net_weight(demand, e);
  else
    for (uint32_t e = 0; e < t->net_count; e++)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
        sum += (double)cm_demand_pin_weight(demand, e, i);
  for (; sum >= (double)weights_max / 2; sum /= 2)
    shift++;
  return shift;
}

static int64_t shifted(uint64_t weight, unsigned shift)
{
  return weight == 0 ? 0 : weight >> shift != 0 ? (int64_t)(weight >> shift) : 1;
}

cm_status cm_net_graph_from_topology(const cm_demand *demand, cm_run *run, cm_net_graph **graph, cm_error *error)
{
  const cm_topology *t = demand->network;
  builder b;
  unsigned shift = weight_shift(demand);
  uint64_t nets = t->directed ? t->net_count : t->pin_count / 2;
  if (nets >= NONE)
    return cm_fail(error, CM_TOO_LARGE, "a hypergraph of %llu nets is beyond this method", (unsigned long long)nets);
  CM_TRY(builder_new(t->vertex_count, (uint32_t)nets, t->pin_count + t->net_count, run, &b, error));
  for (uint32_t v = 0; v < t->vertex_count; v++)
    b.graph->size[v] = cm_demand_size(demand, v);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    if (t->directed)
      add_pin(&b, source);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      if (t->directed) {
        add_pin(&b, t->pin[i]);
      } else if (t->pin[i] > source) {
        add_pin(&b, source);
        add_pin(&b, t->pin[i]);
        close_net(&b, shifted(cm_demand_pin_weight(demand, e, i), shift));
      }
    }
    if (t->directed)
      close_net(&b, shifted(cm_demand_net_weight(demand, e), shift));
  }
  return finish(&b, run, graph, error);
}

cm_status cm_net_graph_contract(const cm_net_graph *g, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                cm_net_graph **coarse, cm_error *error)
{
  builder b;
  CM_TRY(builder_new(coarse_count, g->net_count, g->pin_count, run, &b, error));
  for (uint32_t v = 0; v < g->vertex_count; v++)
    b.graph->size[map[v]] += g->size[v];
  for (uint32_t e = 0; e < g->net_count; e++) {
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
      add_pin(&b, map[g->pin[i]]);
    close_net(&b, g->net_weight[e]);
  }
  return finish(&b, run, coarse, error);
}

cm_status cm_net_graph_induce(const cm_net_graph *g, cm_net_side side, uint32_t *local, cm_run *run, cm_net_graph **induced,
                              cm_error *error)
{
  const uint32_t *part = side.part, which = side.which;
  builder b;
  uint32_t count = 0;
  uint64_t pins = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    if (part[v] == which) {
      local[v] = count++;
      pins += g->vertex_first[v + 1] - g->vertex_first[v];
    }
  CM_TRY(builder_new(count, g->net_count, pins, run, &b, error));
  for (uint32_t v = 0; v < g->vertex_count; v++)
    if (part[v] == which)
      b.graph->size[local[v]] = g->size[v];
  for (uint32_t e = 0; e < g->net_count; e++) {
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
      if (part[g->pin[i]] == which)
        add_pin(&b, local[g->pin[i]]);
    close_net(&b, g->net_weight[e]);
  }
  return finish(&b, run, induced, error);
}
