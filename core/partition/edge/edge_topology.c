/* From a topology to a partition for the edge objective: as a graph, or, where that would be large, by its ties
 * alone. */
#include "core/partition/edge/edge.h"
#include "core/partition/edge/affinity.h"

/* What the parts say to each other. */
static cm_status graph_of_parts(const cm_csr_graph *g, const uint32_t *part, uint32_t parts, cm_run *run,
                                cm_graph **graph, cm_error *error)
{
  cm_csr_graph *merged;
  uint64_t *weight;
  CM_TRY(cm_csr_graph_contract(g, part, parts, run, &merged, error));
  cm_status status = CM_NEW(run->memory, weight, merged->entry_count, error);
  if (status == CM_OK) {
    for (uint64_t i = 0; i < merged->entry_count; i++)
      weight[i] = cm_csr_graph_weight(merged, i) * g->weight_unit;
    status = cm_graph_from_rows(parts, merged->first, merged->neighbour, weight, run, graph, error);
    cm_free(weight);
  }
  cm_csr_graph_free(merged);
  return status;
}

/* The least number of parts that sizes allow: by their sum, and by those of which no two fit together. */
static uint32_t least_parts(const cm_demand *demand, uint64_t most)
{
  uint64_t sum = (demand->size_total + most - 1) / most, large = 0;
  for (uint32_t v = 0; v < demand->network->vertex_count; v++)
    large += 2 * (uint64_t)cm_demand_size(demand, v) > most;
  uint64_t least = sum > large ? sum : large;
  return least > 0 ? (uint32_t)least : 1;
}

/* The same from the synapses themselves, in a table of all pairs of parts. O(pins + parts squared). */
static cm_status graph_by_table(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                                cm_graph **graph, cm_error *error)
{
  const cm_topology *t = demand->network;
  uint64_t *weight = NULL, *first = NULL;
  uint32_t *neighbour = NULL;
  size_t cells = (size_t)parts * parts;
  cm_status status = CM_NEW(run->memory, weight, cells, error);
  CM_THEN(status, CM_NEW(run->memory, first, (size_t)parts + 1, error));
  CM_THEN(status, CM_NEW(run->memory, neighbour, cells, error));
  if (status == CM_OK) {
    for (uint32_t e = 0; e < t->net_count; e++)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
        weight[(size_t)part[cm_topology_source(t, e)] * parts + part[t->pin[i]]] += cm_demand_pin_weight(demand, e, i);
    size_t used = 0;
    for (uint32_t p = 0; t->directed && p < parts; p++)
      for (uint32_t q = 0; q < p; q++)
        weight[(size_t)p * parts + q] = weight[(size_t)q * parts + p] += weight[(size_t)p * parts + q];
    for (uint32_t p = 0; p < parts; p++) {
      for (uint32_t q = 0; q < parts; q++)
        if (q != p && weight[(size_t)p * parts + q] > 0) {
          neighbour[used] = q;
          weight[used++] = weight[(size_t)p * parts + q]; /* never ahead of what is read */
        }
      first[p + 1] = used;
    }
    status = cm_graph_from_rows(parts, first, neighbour, weight, run, graph, error);
  }
  CM_FREE(weight, first, neighbour);
  return status;
}

cm_status cm_graph_of_synapses(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                               cm_graph **graph, cm_error *error)
{
  if ((uint64_t)parts * parts <= demand->network->pin_count)
    return graph_by_table(demand, part, parts, run, graph, error);
  cm_csr_graph *g;
  CM_TRY(cm_csr_graph_from_topology(demand, run, &g, error));
  cm_status status = graph_of_parts(g, part, parts, run, graph, error);
  cm_csr_graph_free(g);
  return status;
}

/* One way to partition into a number of parts. */
typedef cm_status (*attempt)(void *context, const cm_edge_options *options, uint32_t *part, cm_error *error);

/* Vertices of different sizes may need more parts than their sum: a few more at a time. */
static cm_status with_parts(const cm_demand *demand, const cm_edge_options *options, attempt try, void *context,
                            cm_partition *made, cm_error *error)
{
  const cm_topology *topology = demand->network;
  cm_edge_options o = *options;
  if (options->parts == 0)
    o.parts = least_parts(demand, options->most);
  for (;;) {
    cm_status status = try(context, &o, made->part, error);
    made->part_count = o.parts;
    if (status != CM_LIMIT_BROKEN || options->parts != 0)
      return status;
    if (o.parts >= options->parts_max || o.parts >= topology->vertex_count)
      return cm_fail(error, CM_NO_ROOM,
                     "the neurons' sizes do not fit in %u parts of at most %llu, and there are no more cores", o.parts,
                     (unsigned long long)options->most);
    uint32_t more = 1 + o.parts / 50, room = options->parts_max - o.parts;
    o.parts += more < room ? more : room;
    o.parts = o.parts < topology->vertex_count ? o.parts : topology->vertex_count;
  }
}

typedef struct graph_attempt {
  cm_csr_graph *graph;
  cm_run *run;
} graph_attempt;

static cm_status try_graph(void *context, const cm_edge_options *options, uint32_t *part, cm_error *error)
{
  graph_attempt *a = context;
  uint64_t cut;
  return cm_partition_edges(a->graph, options, a->run, part, &cut, error);
}

static cm_status by_graph(const cm_demand *demand, const cm_edge_options *options, cm_run *run, cm_partition *made,
                          cm_error *error)
{
  graph_attempt a = {.run = run};
  const size_t mark = cm_run_enter(run, 0.1);
  cm_run_phase(run, "coarsen");
  cm_status status = cm_csr_graph_from_topology(demand, run, &a.graph, error);
  cm_run_leave(run, mark);
  CM_THEN(status, with_parts(demand, options, try_graph, &a, made, error));
  CM_THEN(status, cm_close_gaps(made->part, made->vertex_count, &made->part_count, run, error));
  CM_THEN(status, graph_of_parts(a.graph, made->part, made->part_count, run, &made->parts, error));
  cm_csr_graph_free(a.graph);
  return status;
}

typedef struct profile_attempt {
  const cm_demand *demand;
  cm_run *run;
} profile_attempt;

static cm_status try_profiles(void *context, const cm_edge_options *options, uint32_t *part, cm_error *error)
{
  profile_attempt *a = context;
  cm_affinity_options profile = {.parts = options->parts, .most = options->most, .split_sweeps = options->split_sweeps,
                                .sweeps = options->sweeps, .more_sweeps = options->more_sweeps, .seed = options->seed};
  return cm_partition_by_affinity(a->demand, &profile, a->run, part, error);
}

static cm_status by_profiles(const cm_demand *demand, const cm_edge_options *options, cm_run *run,
                             cm_partition *made, cm_error *error)
{
  profile_attempt a = {demand, run};
  cm_status status = with_parts(demand, options, try_profiles, &a, made, error);
  CM_THEN(status, cm_close_gaps(made->part, made->vertex_count, &made->part_count, run, error));
  CM_THEN(status, graph_by_table(demand, made->part, made->part_count, run, &made->parts, error));
  return status;
}

static uint32_t wanted_parts(const cm_demand *demand, const cm_edge_options *options)
{
  return options->parts != 0 ? options->parts : least_parts(demand, options->most);
}

uint64_t cm_edges_least_bytes(const cm_demand *demand, const cm_edge_options *options)
{
  const cm_topology *topology = demand->network;
  uint64_t pins = topology->pin_count, vertices = topology->vertex_count, parts = wanted_parts(demand, options);
  if (cm_affinity_suits(topology, (uint32_t)parts, options->more_sweeps > 0))
    return pins * 4 + vertices * (parts * 4 + 40);
  bool weighted = topology->pin_weight != NULL || demand->net_weight != NULL;
  return pins * (topology->directed ? 8 : 4) * (weighted ? 2 : 1) + vertices * 60;
}

static bool by_ties(const cm_demand *demand, const cm_edge_options *options)
{
  return cm_affinity_suits(demand->network, wanted_parts(demand, options), options->more_sweeps > 0);
}

static cm_status one_way(const cm_demand *demand, const cm_edge_options *options, cm_run *run, cm_partition **partition,
                         cm_error *error)
{
  cm_partition *made;
  CM_TRY(cm_partition_new(demand->network->vertex_count, run, &made, error));
  cm_status status =
    by_ties(demand, options) ? by_profiles(demand, options, run, made, error) : by_graph(demand, options, run, made, error);
  CM_END(status, *partition = made, cm_partition_free(made));
}

/* What the smaller effort finds by ties is no start for a search by levels, but may be better. */
static cm_status try_below(const cm_demand *demand, const cm_edge_options *options, cm_run *run, cm_partition **made,
                           cm_error *error)
{
  cm_edge_options below = *options->below;
  cm_partition *other;
  below.parts = options->parts;
  below.parts_max = options->parts_max;
  below.most = options->most;
  below.seed = options->seed;
  if (by_ties(demand, options) || !by_ties(demand, &below))
    return CM_OK;
  cm_status status = one_way(demand, &below, run, &other, error);
  if (status != CM_OK)
    return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
  if (other->part_count <= (*made)->part_count && other->parts->weight_total < (*made)->parts->weight_total) {
    cm_partition *held = *made;
    *made = other;
    other = held;
  }
  cm_partition_free(other);
  return CM_OK;
}

cm_status cm_partition_by_edges(const cm_demand *demand, const cm_edge_options *options, cm_run *run,
                                cm_partition **partition, cm_error *error)
{
  cm_partition *made;
  CM_TRY(one_way(demand, options, run, &made, error));
  if (options->below != NULL && try_below(demand, options, run, &made, error) != CM_OK) {
    cm_partition_free(made);
    return error->status;
  }
  *partition = made;
  return CM_OK;
}
