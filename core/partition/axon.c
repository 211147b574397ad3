#include "core/partition/axon.h"

#include <math.h>
#include <string.h>

#include "core/base/threads.h"
#include "core/partition/anneal.h"
#include "core/partition/axon_state.h"
#include "core/partition/cluster.h"
#include "core/partition/grow.h"
#include "core/partition/hypergraph.h"
#include "core/partition/axon_repair.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"
#include "core/partition/sketch.h"

enum { LEVELS_MAX = 24, SKETCH_BINS = 64 };

/* On coarse levels parts look fuller than they are: refinement below will sort their axons. The limit is raised there
 * by this much a level. */
static const double slack_per_level = 0.025;

typedef struct work {
  const cm_axon_options *options;
  cm_run *run;
  cm_hypergraph *level[LEVELS_MAX];
  uint32_t *map[LEVELS_MAX]; /* map[l]: vertices of level l -> of level l + 1 */
  uint32_t levels;
} work;

static void work_free(work *w)
{
  for (uint32_t l = 0; l < w->levels; l++) {
    cm_hypergraph_free(w->level[l]);
    cm_free(w->map[l]);
  }
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
  return (uint32_t)least;
}

static uint32_t largest_vertex(const cm_hypergraph *g)
{
  uint32_t largest = 1;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    largest = g->size[v] > largest ? g->size[v] : largest;
  return largest;
}

/* One level more, of clusters up to size_max; *shrunk: whether it has clearly fewer vertices. */
static cm_status coarsen_once(work *w, cm_sketches **sketches, double size_max, bool *shrunk, cm_error *error)
{
  uint32_t l = w->levels - 1, clusters, n = w->level[l]->vertex_count;
  cm_cluster_options options = {.size_max = (uint32_t)ceil(size_max),
                                .samples = w->options->samples,
                                .floor = l == 0 ? 0.4 : 0.2,
                                .seed = w->options->seed,
                                .level = l};
  cm_sketches *merged;
  if (CM_NEW(w->run->memory, w->map[l], n, error) != CM_OK ||
      cm_cluster(w->level[l], *sketches, &options, w->run, w->map[l], &clusters, error) != CM_OK)
    return error->status;
  *shrunk = clusters <= 0.9 * n;
  if (clusters == n)
    return CM_OK;
  if (cm_sketches_merge(*sketches, w->map[l], clusters, w->run, &merged, error) != CM_OK)
    return error->status;
  cm_sketches_free(*sketches);
  *sketches = merged;
  if (cm_hypergraph_contract(w->level[l], w->map[l], clusters, w->run, &w->level[l + 1], error) != CM_OK)
    return error->status;
  w->levels++;
  return CM_OK;
}

static cm_status coarsen(work *w, cm_error *error)
{
  cm_run_phase(w->run, "coarsen");
  const cm_hypergraph *g = w->level[0];
  uint64_t total = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    total += g->size[v];
  double target = w->options->coarse_vertices * least_parts(g, &w->options->limits);
  double size_max = largest_vertex(g), most = 1.5 * fmax((double)total / target, size_max);
  cm_sketches *sketches;
  cm_status status = cm_sketches_new(g, SKETCH_BINS, w->options->seed, w->run, &sketches, error);
  if (status != CM_OK)
    return status;
  bool shrunk = true, widened = true;
  while (status == CM_OK && w->levels < LEVELS_MAX && w->level[w->levels - 1]->vertex_count > target && (shrunk || widened)) {
    double wider = fmin(size_max * 4, most);
    widened = wider > size_max;
    size_max = wider;
    status = coarsen_once(w, &sketches, size_max, &shrunk, error);
  }
  cm_sketches_free(sketches);
  return status;
}

static cm_limits slack_limits(const cm_limits *limits, uint32_t level)
{
  cm_limits wide = *limits;
  wide.inbound_axons = (uint64_t)((double)limits->inbound_axons * (1 + slack_per_level * level));
  return wide;
}

static void set_penalties(cm_axon_state *s, double strength)
{
  double sum = 0;
  for (uint32_t e = 0; e < s->graph->net_count; e++)
    sum += (double)s->graph->net_weight[e];
  double mean = s->graph->net_count > 0 ? sum / s->graph->net_count : 1;
  s->penalty_axons = strength * mean;
  s->penalty_size = 4 * strength * mean;
}

/* Towards the limits: single cold sweeps under a growing penalty, and between them a few of the fullest parts are split,
 * so that neighbours of the new ones can shift. What little stays on coarse levels is left to the finer ones. */
static cm_status settle(cm_axon_state *s, uint32_t level, double strength, bool silent, cm_random *random, cm_error *error)
{
  static const uint32_t rounds[] = {8, 3, 2};
  double tolerance = 0.01 * level;
  cm_status status = CM_OK;
  for (uint32_t round = 0; status == CM_OK && round < rounds[level]; round++) {
    cm_anneal_options sweep = {.sweeps = 1, .silent = silent, .level = level};
    uint32_t over = cm_count_overfull(s), split = 0;
    set_penalties(s, strength * (2 << (round < 4 ? round : 4)));
    if (over == 0)
      break;
    if (round > 0 || level > 0)
      status = cm_split_overfull(s, tolerance, 1 + over / 4, &split, error);
    if (status == CM_OK)
      status = cm_anneal(s, &sweep, random, error);
  }
  return status;
}

static cm_status refine_level(work *w, uint32_t l, const cm_anneal_options *options, double strength, cm_random *random,
                              uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  cm_limits limits = slack_limits(&w->options->limits, l);
  cm_axon_state *s;
  uint32_t n = w->level[l]->vertex_count, most = w->options->parts_max < n ? w->options->parts_max : n;
  uint32_t room = most > *parts ? most : *parts;
  unsigned threads = options->silent ? 1 : w->run->threads; /* starts run side by side */
  if (cm_axon_state_new(w->level[l], &limits, part, *parts, room, threads, w->run, &s, error) != CM_OK)
    return error->status;
  s->parts_max = w->options->parts_max;
  set_penalties(s, strength);
  cm_status status = cm_anneal(s, options, random, error);
  if (status == CM_OK && l <= 2)
    status = settle(s, l, strength, options->silent, random, error);
  if (status == CM_OK && l == 0) {
    status = cm_repair(s, error);
    cm_anneal_options cold = {.sweeps = 3, .hard = true, .silent = options->silent};
    if (status == CM_OK)
      status = cm_anneal(s, &cold, random, error);
  }
  *objective = (double)cm_axon_connectivity(s) + cm_axon_penalty(s);
  *parts = s->part_count;
  cm_axon_state_free(s);
  return status;
}

typedef struct starts {
  work *work;
  uint32_t **part;   /* [starts][vertices of the coarsest level] */
  uint32_t *parts;   /* [starts] */
  double *objective; /* [starts] */
} starts;

/* One initial partition: grown, then annealed. Runs on any thread. */
static cm_status start_once(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  work *w = all->work;
  uint32_t l = w->levels - 1;
  cm_random random;
  cm_limits limits = slack_limits(&w->options->limits, l);
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, t);
  if (t % 4 != 3 && limits.neurons > 1) /* parts that are exactly full leave refinement no room */
    limits.neurons = (uint64_t)((double)limits.neurons * 0.96);
  if (CM_NEW(w->run->memory, all->part[t], w->level[l]->vertex_count, error) != CM_OK ||
      cm_grow_parts(w->level[l], &limits, &random, w->run, all->part[t], &all->parts[t], error) != CM_OK)
    return error->status;
  cm_anneal_options options = {.sweeps = w->options->coarse_sweeps, .hot = 0.3, .cold = 0.02, .silent = true};
  return refine_level(w, l, &options, 1, &random, all->part[t], &all->parts[t], &all->objective[t], error);
}

static cm_status best_start(work *w, uint32_t *part, uint32_t *parts, cm_error *error)
{
  uint32_t n = w->level[w->levels - 1]->vertex_count, count = w->options->starts, best = 0;
  starts all = {.work = w};
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, all.part, count, error);
  if (status == CM_OK)
    status = CM_NEW(w->run->memory, all.parts, count, error);
  if (status == CM_OK)
    status = CM_NEW(w->run->memory, all.objective, count, error);
  if (status == CM_OK)
    status = cm_parallel(w->run, count, start_once, &all, error);
  for (uint32_t t = 1; t < count && status == CM_OK; t++)
    if (all.objective[t] < all.objective[best])
      best = t;
  if (status == CM_OK) {
    memcpy(part, all.part[best], n * sizeof *part);
    *parts = all.parts[best];
  }
  for (uint32_t t = 0; all.part != NULL && t < count; t++)
    cm_free(all.part[t]);
  cm_free(all.part);
  cm_free(all.parts);
  cm_free(all.objective);
  return status;
}

static cm_status uncoarsen(work *w, uint32_t *part, uint32_t *scratch, uint32_t *parts, cm_error *error)
{
  cm_random random;
  double objective;
  cm_run_phase(w->run, "refine");
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, 0);
  for (uint32_t l = w->levels - 1; l-- > 0;) {
    uint32_t n = w->level[l]->vertex_count;
    for (uint32_t v = 0; v < n; v++)
      scratch[v] = part[w->map[l][v]];
    memcpy(part, scratch, n * sizeof *part);
    double depth = w->levels > 2 ? (double)l / (w->levels - 2) : 0;
    double sweeps = w->options->fine_sweeps * pow((double)w->options->coarse_sweeps / w->options->fine_sweeps, depth * 0.7);
    cm_anneal_options options = {.sweeps = (uint32_t)lround(sweeps), .hot = 0.1, .cold = 0.01, .level = l};
    if (refine_level(w, l, &options, l == 0 ? 2 : 1, &random, part, parts, &objective, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_partition_axons(const cm_topology *topology, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error)
{
  work w = {.options = options, .run = run};
  uint32_t *held = NULL, *scratch = NULL, count = 0, n = topology->vertex_count;
  cm_status status = cm_hypergraph_from_topology(topology, run, &w.level[0], error);
  w.levels = status == CM_OK;
  if (status == CM_OK && n > 0)
    status = coarsen(&w, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, held, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, scratch, n, error);
  if (status == CM_OK && n > 0)
    status = best_start(&w, held, &count, error);
  if (status == CM_OK && n > 0)
    status = uncoarsen(&w, held, scratch, &count, error);
  if (status == CM_OK)
    status = cm_close_gaps(held, n, &count, run, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      part[v] = held[w.level[0]->number[v]];
    *parts = count;
  }
  cm_free(held);
  cm_free(scratch);
  work_free(&w);
  return status;
}
