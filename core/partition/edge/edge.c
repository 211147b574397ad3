#include "core/partition/edge/edge.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "core/partition/edge/clustering.h"
#include "core/partition/edge/rebalance.h"
#include "core/partition/edge/label_propagation.h"
#include "core/partition/edge/initial.h"
#include "core/partition/edge/kway_anneal.h"
#include "core/partition/edge/kway_fm.h"
#include "core/partition/edge/quotient_fm.h"
#include "core/partition/options.h"

typedef struct work {
  const cm_edge_options *options;
  cm_run *run;
  cm_hierarchy hierarchy;
  bool draft; /* cycles follow, which refine the finer levels again */
} work;

/* Parts that are exactly full leave no way from one good partition to another: where they have less than this room,
 * searches may fill them a little more, and coarse vertices do not fit as snugly as fine ones. What is too much goes at
 * the end. */
static const double room_enough = 1.03, search_slack = 1.05;

/* On graphs from this size on, a cycle costs more than it brings: half as many are made. */
static const uint64_t large_entries = 20000000;

/* Levels of up to so many entries are refined over all parts at once, by one thread; on larger ones all threads refine pairs of
 * parts. How far a loose round may fill a part beyond what it may have. */
static const uint64_t all_entries = 1000000;
static const double loose = 0.1;

/* Of those, levels of more entries than both, the second times the number of parts, are large: rounds take most of their time
 * there, and one, loose where no cycle follows, gains most of what several do. */
static const uint64_t large_level = 60000, large_level_part = 2000;

/* So many parts are as good from one start as from the better one of two. */
enum { PARTS_MANY = 64 };

static uint64_t most_on(const work *w, const cm_csr_graph *g)
{
  double mean = (double)g->size_total / w->options->parts;
  double coarse = g->size_max > 1 ? ceil(mean) + g->size_max : 0;
  double wide = fmax((uint64_t)(mean * room_enough) > w->options->most ? mean * search_slack : 0, coarse);
  return wide > (double)w->options->most ? (uint64_t)wide : w->options->most;
}

static cm_status coarsen(work *w, cm_csr_graph *graph, const uint32_t *label, uint64_t seed, cm_error *error)
{
  double least = w->options->coarse_vertices * w->options->parts;
  cm_csr_coarsen_options options = {.vertices_min = least < 200 ? 200 : (uint32_t)fmin(least, 4e9),
                                    .growth = 4,
                                    .label = label,
                                    .seed = seed};
  double most = 2.0 * (double)graph->size_total / options.vertices_min;
  options.size_max = most > 1 ? (uint64_t)most : 1;
  cm_run_phase(w->run, "coarsen");
  return cm_csr_coarsen(graph, &options, w->run, &w->hierarchy, error);
}

static cm_status count_loads(const cm_csr_graph *g, const uint32_t *part, uint32_t parts, cm_run *run, uint64_t **load,
                             cm_error *error)
{
  uint64_t *made;
  if (CM_NEW(run->memory, made, parts, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    made[part[v]] += g->size[v];
  *load = made;
  return CM_OK;
}

static cm_status anneal(work *w, const cm_csr_graph *g, double depth, double hot, uint64_t stream, uint32_t *part,
                        cm_error *error)
{
  double sweeps = w->options->anneal_sweeps * pow(0.5, depth);
  if (sweeps < 1)
    return CM_OK;
  cm_kway *state;
  cm_random random;
  cm_kway_anneal_options options = {.sweeps = sweeps, .hot = hot, .cold = 0.06, .most = most_on(w, g)};
  if (cm_kway_new(g, part, w->options->parts, w->run, &state, error) != CM_OK)
    return error->status;
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, stream);
  cm_status status = cm_kway_anneal(state, &options, &random, error);
  cm_kway_free(state);
  return status;
}

static cm_status refine_pairs(work *w, const cm_csr_graph *g, uint64_t most, uint64_t stream, uint32_t *part,
                              uint64_t *load, cm_error *error)
{
  int64_t gain;
  cm_quotient_fm_options options = {.rounds = w->options->rounds, .patience = w->options->patience, .most = most,
                                 .least_tie = w->options->least_tie, .work = 4,
                                 .seed = w->options->seed, .level = stream};
  return cm_quotient_fm(g, &options, w->run, part, w->options->parts, load, &gain, error);
}

/* The finest level ends within the limit: what is too much moves on, then pairs of full parts trade. */
static cm_status fit(work *w, const cm_csr_graph *g, uint64_t stream, uint32_t *part, uint64_t *load, cm_error *error)
{
  uint64_t excess, most = w->options->most;
  if (cm_rebalance_parts(g, most, w->run, part, w->options->parts, load, &excess, error) != CM_OK)
    return error->status;
  if (excess > 0)
    return cm_fail(error, CM_LIMIT_BROKEN, "cannot pack the vertices into %u parts of size %llu: vertices of size %llu are left over",
                   w->options->parts, (unsigned long long)most, (unsigned long long)excess);
  return refine_pairs(w, g, most, stream, part, load, error);
}

static bool is_large(const work *w, const cm_csr_graph *g)
{
  return g->entry_count > large_level && g->entry_count > large_level_part * w->options->parts;
}

/* All parts at once. */
static cm_status refine_all(work *w, const cm_csr_graph *g, uint64_t most, uint64_t stream, uint32_t *part, uint64_t *load,
                            cm_error *error)
{
  cm_kway *state;
  int64_t gain;
  cm_kway_fm_options options = {.most = most, .rounds = w->options->fm_rounds, .loose_rounds = w->options->loose_rounds,
                                .loose = loose, .seed = w->options->seed, .stream = stream};
  if (w->options->large_once && is_large(w, g)) {
    options.rounds = 1;
    options.loose_rounds = w->draft ? 0 : 1;
  }
  if (cm_kway_new(g, part, w->options->parts, w->run, &state, error) != CM_OK)
    return error->status;
  cm_status status = cm_kway_fm(state, &options, &gain, error);
  memcpy(load, state->load, w->options->parts * sizeof *load);
  cm_kway_free(state);
  return status;
}

static bool fits(const work *w, const uint64_t *load)
{
  for (uint32_t p = 0; p < w->options->parts; p++)
    if (load[p] > w->options->most)
      return false;
  return true;
}

/* One level: annealing, label propagation, then all parts at once or pairs of them; `depth` counts levels from the coarsest. */
static cm_status refine_level(work *w, uint32_t l, double depth, double hot, uint64_t stream, uint32_t *part,
                              cm_error *error)
{
  const cm_csr_graph *g = w->hierarchy.level[l];
  uint64_t *load = NULL, most = most_on(w, g);
  cm_label_propagation_options propagation = {
      .rounds = w->options->label_rounds, .most = most, .seed = w->options->seed, .stream = 5000 + stream};
  cm_status status = anneal(w, g, depth, hot, stream, part, error);
  if (status == CM_OK)
    status = count_loads(g, part, w->options->parts, w->run, &load, error);
  if (status == CM_OK)
    status = cm_label_propagation(g, &propagation, w->run, part, w->options->parts, load, error);
  bool all = w->options->fm_rounds > 0 && g->entry_count <= all_entries;
  if (status == CM_OK && all)
    status = refine_all(w, g, most, 7000 + stream, part, load, error);
  if (status == CM_OK && (!all || w->options->pairs_too))
    status = refine_pairs(w, g, most, stream, part, load, error);
  if (status == CM_OK && l == 0 && !fits(w, load))
    status = fit(w, g, 9000 + stream, part, load, error);
  cm_free(load);
  return status;
}

typedef struct starts {
  work *work;
  uint32_t **part; /* [starts][vertices of the coarsest level] */
  uint64_t *cut;   /* [starts] */
} starts;

static cm_status start_once(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  work *w = all->work;
  uint32_t l = w->hierarchy.levels - 1;
  cm_csr_graph *g = w->hierarchy.level[l];
  cm_initial_options options = {.parts = w->options->parts, .most = most_on(w, g), .tries = w->options->tries,
                                .passes = 4, .seed = w->options->seed, .stream = t};
  if (CM_NEW(w->run->memory, all->part[t], g->vertex_count, error) != CM_OK ||
      cm_initial_partition(g, &options, w->run, all->part[t], error) != CM_OK ||
      refine_level(w, l, 0, 0.5, 1000 + t, all->part[t], error) != CM_OK)
    return error->status;
  all->cut[t] = cm_csr_graph_cut(g, all->part[t]);
  return CM_OK;
}

static cm_status best_start(work *w, uint32_t *part, cm_error *error)
{
  uint32_t n = w->hierarchy.vertices[w->hierarchy.levels - 1], best = 0;
  bool many = w->options->starts_many > 0 && w->options->parts >= PARTS_MANY;
  uint32_t count = many ? w->options->starts_many : w->options->starts;
  starts all = {.work = w};
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, all.part, count, error);
  if (status == CM_OK)
    status = CM_NEW(w->run->memory, all.cut, count, error);
  if (status == CM_OK)
    status = cm_parallel(w->run, count, start_once, &all, error);
  for (uint32_t t = 1; t < count && status == CM_OK; t++)
    if (all.cut[t] < all.cut[best])
      best = t;
  if (status == CM_OK)
    memcpy(part, all.part[best], n * sizeof *part);
  for (uint32_t t = 0; all.part != NULL && t < count; t++)
    cm_free(all.part[t]);
  cm_free(all.part);
  cm_free(all.cut);
  return status;
}

/* A way down, by the temperature and the random streams of its levels. */
typedef struct descent {
  work *work;
  double hot;
  uint64_t stream;
} descent;

static cm_status refine_below(void *context, const cm_hierarchy *h, uint32_t l, uint32_t *part, cm_error *error)
{
  const descent *d = context;
  if (refine_level(d->work, l, h->levels - 1 - l, d->hot, d->stream + l, part, error) != CM_OK)
    return error->status;
  return cm_run_progress(d->work->run, 1 - (double)l / h->levels, (int)l, h->vertices[l], NAN, error);
}

static cm_status uncoarsen(work *w, uint64_t stream, uint32_t *part, cm_error *error)
{
  descent d = {w, 0.15, stream};
  cm_run_phase(w->run, "refine");
  return cm_hierarchy_descend(&w->hierarchy, refine_below, &d, part, error);
}

/* Another descent inside the partition that there is: coarsened without crossing it, refined on every level. */
static cm_status cycle(work *w, cm_csr_graph *graph, uint32_t number, uint32_t *part, cm_error *error)
{
  cm_hierarchy_free(&w->hierarchy);
  if (coarsen(w, graph, part, w->options->seed + number, error) != CM_OK)
    return error->status;
  cm_hierarchy_lift(&w->hierarchy, part);
  if (refine_level(w, w->hierarchy.levels - 1, 0, 0.25, 2000 * number, part, error) != CM_OK)
    return error->status;
  return uncoarsen(w, 2000 * number, part, error);
}

static cm_status run_all(work *w, cm_csr_graph *graph, uint32_t *part, uint32_t *best, cm_error *error)
{
  uint32_t n = graph->vertex_count, cycles = graph->entry_count < large_entries ? w->options->cycles : w->options->cycles / 2;
  w->draft = cycles > 0;
  if (coarsen(w, graph, NULL, w->options->seed, error) != CM_OK || best_start(w, part, error) != CM_OK ||
      uncoarsen(w, 1, part, error) != CM_OK)
    return error->status;
  uint64_t least = cm_csr_graph_cut(graph, part);
  memcpy(best, part, n * sizeof *best);
  w->draft = false;
  for (uint32_t c = 1; c <= cycles; c++) {
    if (cycle(w, graph, c, part, error) != CM_OK)
      return error->status;
    uint64_t cut = cm_csr_graph_cut(graph, part);
    if (cut <= least) {
      least = cut;
      memcpy(best, part, n * sizeof *best);
    } else
      memcpy(part, best, n * sizeof *best);
  }
  return CM_OK;
}

cm_status cm_partition_edges(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *part,
                             uint64_t *cut, cm_error *error)
{
  work w = {.options = options, .run = run};
  uint32_t *held = NULL, *best = NULL, n = graph->vertex_count;
  cm_status status = CM_NEW(run->memory, held, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, best, n, error);
  if (status == CM_OK && n > 0)
    status = run_all(&w, graph, held, best, error);
  if (status == CM_OK && n > 0)
    status = cm_fill_empty(graph, run, best, options->parts, error);
  if (status == CM_OK) {
    memcpy(part, best, n * sizeof *part);
    *cut = cm_csr_graph_cut(graph, part);
  }
  cm_hierarchy_free(&w.hierarchy);
  cm_free(held);
  cm_free(best);
  return status;
}
