#include "core/partition/axon/hypergraph.h"

#include "base/order.h"
#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph_internal.h"
#include "core/partition/axon/locality.h"

void cm_hypergraph_free(cm_hypergraph *graph)
{
  if (graph == NULL)
    return;
  cm_hypergraph_drop_inbound(graph); /* the targets take its room */
  cm_pins_unpack(&graph->packed);
  CM_FREE(graph->own_code, graph->net_begin, graph->net_targets, graph->net_source, graph->in_count, graph->out_first, graph->out_net,
          graph->size, graph->synapses, graph->number, graph->own_net_weight, graph->own_net_size, graph);
}

void cm_hypergraph_drop_targets(cm_hypergraph *g)
{
  CM_FREE(g->own_code, g->net_begin, g->net_targets);
  g->code = g->own_code = NULL;
  g->net_begin = NULL;
  g->net_targets = NULL;
}

bool cm_hypergraph_reaches_many(const cm_hypergraph *g)
{
  return g->pin_count >= (uint64_t)CM_MANY * g->net_count;
}

cm_status cm_hypergraph_arrays(cm_hypergraph *g, cm_run *run, cm_error *error)
{
  size_t n = g->vertex_count, nets = g->net_count;
  return CM_NEW_ALL(run->memory, error, CM_ARRAY(g->net_source, nets), CM_ARRAY(g->in_count, n), CM_ARRAY(g->size, n),
                    CM_ARRAY(g->synapses, n), CM_ARRAY(g->out_first, n + 2) /* starts are kept a place ahead while filling */,
                    CM_ARRAY(g->out_net, nets));
}

cm_status cm_hypergraph_list_outbound(cm_hypergraph *g, cm_run *run, cm_error *error)
{
  for (uint32_t e = 0; e < g->net_count; e++)
    g->out_first[(size_t)g->net_source[e] + 2]++;
  for (size_t v = 2; v < (size_t)g->vertex_count + 2; v++)
    g->out_first[v] += g->out_first[v - 1];
  for (uint32_t e = 0; e < g->net_count; e++)
    g->out_net[g->out_first[g->net_source[e] + 1]++] = e;
  return cm_run_check(run, error);
}

/* Weights to 32 bits, and the nets by falling weight: rank [net_count] is the net of the topology. */
static cm_status rank_nets(const cm_demand *demand, cm_hypergraph *g, uint32_t *rank, cm_run *run, cm_error *error)
{
  const uint32_t nets = g->net_count;
  uint64_t most = 0, *key;
  unsigned shift = 0;
  CM_TRY(CM_NEW(run->memory, key, 2 * (size_t)nets, error));
  for (uint32_t e = 0; demand->net_weight != NULL && e < nets; e++)
    most = demand->net_weight[e] > most ? demand->net_weight[e] : most;
  while (most >> shift > UINT32_MAX)
    shift++;
  for (uint32_t e = 0; e < nets; e++)
    key[e] = (UINT32_MAX - (demand->net_weight != NULL ? demand->net_weight[e] >> shift : 1)) << 32 | e;
  const uint64_t *sorted = cm_sort_by_upper_half(key, key + nets, nets, UINT32_MAX);
  for (uint32_t e = 0; e < nets; e++) {
    rank[e] = (uint32_t)sorted[e];
    g->own_net_weight[e] = UINT32_MAX - (uint32_t)(sorted[e] >> 32);
  }
  cm_free(key);
  return CM_OK;
}

static void take_nets(const cm_topology *topology, const uint32_t *rank, cm_hypergraph *g)
{
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint64_t begin = topology->net_first[rank[e]];
    g->net_source[e] = g->number[cm_topology_source(topology, rank[e])];
    g->net_begin[e] = begin;
    g->net_targets[e] = (uint32_t)(topology->net_first[rank[e] + 1] - begin);
  }
}

static cm_status pack_pins(const cm_topology *topology, const uint32_t *rank, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  uint64_t *begin;
  CM_TRY(CM_NEW(run->memory, begin, g->net_count, error));
  cm_status status = cm_pins_pack(topology, begin, run, &g->packed, error);
  if (status == CM_OK) {
    g->code = (const unsigned char *)topology->pin;
    g->pin = NULL;
    for (uint32_t e = 0; e < g->net_count; e++)
      g->net_begin[e] = begin[rank[e]];
  }
  cm_free(begin);
  return status;
}

static cm_status take_vertices(const cm_demand *demand, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  uint32_t *synapses;
  CM_TRY(CM_NEW(run->memory, synapses, g->vertex_count, error));
  cm_status status = cm_count_synapses(demand, run, synapses, error);
  for (uint32_t v = 0; status == CM_OK && v < g->vertex_count; v++) {
    g->synapses[g->number[v]] = synapses[v];
    g->in_count[g->number[v]] = synapses[v];
    g->size[g->number[v]] = cm_demand_size(demand, v);
  }
  g->in_counted = status == CM_OK;
  cm_free(synapses);
  return status;
}

/* Copies are counted by nets: where a source has several, they would be too many. */
static cm_status take_copies(const cm_demand *demand, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  bool several = false;
  for (uint32_t v = 0; v < g->vertex_count && !several; v++)
    several = g->out_first[v + 1] - g->out_first[v] > 1;
  if (demand->target_cores_max == 0 || several)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, g->own_net_size, g->net_count, error));
  for (uint32_t e = 0; e < g->net_count; e++)
    g->own_net_size[e] = g->size[g->net_source[e]];
  g->net_size = g->own_net_size;
  g->reach_max = demand->target_cores_max;
  return CM_OK;
}

static cm_status fill_from_topology(const cm_demand *demand, cm_hypergraph_kind kind, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t *rank;
  g->vertex_count = topology->vertex_count;
  g->net_count = topology->net_count;
  g->pin_count = topology->pin_count;
  g->pin = topology->pin;
  CM_TRY(cm_hypergraph_arrays(g, run, error));
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->number, g->vertex_count), CM_ARRAY(g->own_net_weight, g->net_count),
                    CM_ARRAY(g->net_begin, g->net_count), CM_ARRAY(g->net_targets, g->net_count), CM_ARRAY(rank, g->net_count)));
  g->net_weight = g->own_net_weight;
  for (uint32_t e = 0; e < g->net_count; e++)
    rank[e] = e;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    g->number[v] = v;
  cm_status status = kind.unordered ? CM_OK : rank_nets(demand, g, rank, run, error);
  if (!kind.unordered)
    CM_THEN(status, cm_number_by_locality(topology, run, g->number, error));
  if (status == CM_OK) {
    take_nets(topology, rank, g);
    status = take_vertices(demand, g, run, error);
  }
  CM_THEN(status, cm_hypergraph_list_outbound(g, run, error));
  CM_THEN(status, take_copies(demand, g, run, error));
  CM_THEN_IF(status, kind.packed && cm_pins_packable(topology), pack_pins(topology, rank, g, run, error));
  cm_free(rank);
  return status;
}

cm_status cm_hypergraph_from_topology(const cm_demand *demand, cm_hypergraph_kind kind, cm_run *run, cm_hypergraph **graph,
                                      cm_error *error)
{
  cm_hypergraph *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  cm_status status = fill_from_topology(demand, kind, made, run, error);
  CM_END(status, *graph = made, cm_hypergraph_free(made));
}
