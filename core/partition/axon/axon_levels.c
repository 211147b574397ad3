#include "core/partition/axon/axon_levels.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/cluster.h"
#include "core/partition/axon/sketch.h"

/* A vertex joins a cluster that shares at least this part of its nets, on the first level and on those after. */
static const double floor_first = 0.4, floor_later = 0.2;

/* Coarsening ends where vertices have so much of the limit on inbound axons on average, however many parts the other limits
 * allow: parts of two or three vertices pack badly. */
static const double limit_share_max = 0.5;

/* Vertices a part on the coarsest level, about. */
enum { COARSE_VERTICES = 20 };

/* Clusters grow by up to this factor a level. */
static const double growth = 4;

cm_status cm_axon_levels_begin(const cm_demand *demand, bool pack, cm_run *run, cm_axon_levels *levels, cm_error *error)
{
  *levels = (cm_axon_levels){.demand = demand};
  cm_status status = cm_hypergraph_from_topology(demand, (cm_hypergraph_kind){.packed = pack}, run, &levels->graph[0], error);
  levels->count = status == CM_OK;
  return status;
}

void cm_axon_levels_drop(cm_axon_levels *levels, uint32_t first)
{
  for (uint32_t l = levels->count; l-- > first;) {
    cm_hypergraph_free(levels->graph[l]);
    levels->graph[l] = NULL;
    if (l > 0) {
      cm_free(levels->map[l - 1]);
      levels->map[l - 1] = NULL;
    }
    levels->count--;
  }
}

cm_status cm_axon_levels_list(const cm_axon_levels *levels, uint32_t level, cm_run *run, cm_error *error)
{
  cm_hypergraph *g = levels->graph[level];
  if (g->pin == NULL && g->code == NULL)
    CM_TRY(cm_hypergraph_merge_targets(levels->graph[level - 1], levels->map[level - 1], g, run, error));
  return cm_hypergraph_list_inbound(g, run, error);
}

/* The least number of parts that the limits allow. */
static uint32_t least_parts(const cm_hypergraph *g, const cm_limits *limits)
{
  uint64_t size = 0, synapses = 0, least = 1;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    size += g->size[v];
    synapses += g->synapses[v];
  }
  if (limits->neurons != 0 && (size + limits->neurons - 1) / limits->neurons > least)
    least = (size + limits->neurons - 1) / limits->neurons;
  if (limits->synapses != 0 && (synapses + limits->synapses - 1) / limits->synapses > least)
    least = (synapses + limits->synapses - 1) / limits->synapses;
  uint64_t memory = cm_memory_bits(limits, size, synapses, 0);
  if (limits->memory_bits != 0 && (memory + limits->memory_bits - 1) / limits->memory_bits > least)
    least = (memory + limits->memory_bits - 1) / limits->memory_bits;
  return (uint32_t)least;
}

/* Whether vertices have so many inbound axons that parts of a few of them are full. */
static bool near_limit(const cm_hypergraph *g, const cm_limits *limits)
{
  return (limits->inbound_axons != 0 &&
          (double)g->pin_count > limit_share_max * (double)limits->inbound_axons * g->vertex_count) ||
         (limits->memory_bits != 0 &&
          (double)g->pin_count * limits->axon_bits > limit_share_max * (double)limits->memory_bits * g->vertex_count);
}

/* What a level is made with. */
typedef struct building {
  cm_axon_levels *levels;
  cm_run *run;
  cm_sketches *sketches; /* of the coarsest level so far */
  uint32_t *part;        /* of its vertices; NULL: none */
  uint64_t seed;
} building;

/* Parts of the coarse vertices in place of those of the finer ones. */
static cm_status project(const building *b, const uint32_t *map, uint32_t fine, uint32_t coarse, cm_error *error)
{
  uint32_t *up;
  CM_TRY(CM_NEW(b->run->memory, up, coarse, error));
  for (uint32_t v = 0; v < fine; v++)
    up[map[v]] = b->part[v];
  memcpy(b->part, up, coarse * sizeof *up);
  cm_free(up);
  return CM_OK;
}

static cm_status add_level(building *b, uint32_t *map, uint32_t clusters, cm_error *error)
{
  cm_axon_levels *levels = b->levels;
  cm_hypergraph *fine = levels->graph[levels->count - 1];
  cm_sketches *merged;
  CM_TRY(cm_sketches_merge(b->sketches, map, clusters, b->run, &merged, error));
  cm_sketches_free(b->sketches);
  b->sketches = merged;
  if ((b->part != NULL && project(b, map, fine->vertex_count, clusters, error) != CM_OK) ||
      cm_hypergraph_contract(fine, map, clusters, b->run, &levels->graph[levels->count], error) != CM_OK)
    return error->status;
  levels->map[levels->count - 1] = map;
  if (cm_hypergraph_reaches_many(levels->graph[0])) { /* listed anew when it is refined: most levels were not listed to be merged */
    cm_hypergraph_drop_inbound(fine);
    if (levels->count == 2) /* the largest that is not the network itself; merged anew too */
      cm_hypergraph_drop_targets(fine);
  }
  levels->count++;
  return CM_OK;
}

/* One level more, of clusters up to size_max; *shrunk: whether it has clearly fewer vertices. */
static cm_status coarsen_once(building *b, double size_max, bool *shrunk, cm_error *error)
{
  uint32_t l = b->levels->count - 1, clusters, n = b->levels->graph[l]->vertex_count, *map;
  cm_cluster_options options = {.size_max = (uint32_t)ceil(size_max),
                                .floor = l == 0 ? floor_first : floor_later,
                                .part = b->part,
                                .seed = b->seed,
                                .level = l};
  CM_TRY(CM_NEW(b->run->memory, map, n, error));
  cm_status status = cm_cluster(b->levels->graph[l], b->sketches, &options, b->run, map, &clusters, error);
  *shrunk = status == CM_OK && clusters <= 0.9 * n;
  bool fewer = status == CM_OK && clusters < n;
  if (fewer)
    status = add_level(b, map, clusters, error);
  if (status != CM_OK || !fewer)
    cm_free(map);
  return status;
}

cm_status cm_axon_levels_build(cm_axon_levels *levels, const cm_axon_options *options, uint64_t seed, uint32_t *part,
                               cm_run *run, cm_error *error)
{
  cm_axon_levels_drop(levels, 1);
  cm_hypergraph *g = levels->graph[0];
  if (cm_hypergraph_reaches_many(g))
    cm_hypergraph_drop_inbound(g);
  building b = {.levels = levels, .run = run, .part = part, .seed = seed};
  uint64_t total = 0;
  double largest = 1;
  const size_t whole = cm_run_enter(run, 0.3); /* of a descent */
  cm_run_phase(run, "coarsen");
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    total += g->size[v];
    largest = fmax(largest, g->size[v]);
  }
  double target = (double)COARSE_VERTICES * least_parts(g, &options->limits);
  double size_max = largest, most = 1.5 * fmax((double)total / target, largest);
  cm_status status = cm_sketches_new(g, seed, run, &b.sketches, error);
  bool shrunk = true, widened = true;
  while (status == CM_OK && levels->count < CM_AXON_LEVELS_MAX && (shrunk || widened) &&
         levels->graph[levels->count - 1]->vertex_count > target &&
         !near_limit(levels->graph[levels->count - 1], &options->limits)) {
    double wider = fmin(size_max * growth, most);
    widened = wider > size_max;
    size_max = wider;
    const size_t mark = cm_run_within(run, 0.4); /* a level takes nearly as long as all that are coarser */
    status = coarsen_once(&b, size_max, &shrunk, error);
    cm_run_leave(run, mark);
  }
  cm_sketches_free(b.sketches);
  cm_run_leave(run, whole);
  return status;
}
