/* One search for a small edge cut: coarsen, start, uncoarsen, and the same again inside what was found. */
#include "core/partition/edge/edge_search.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "core/partition/edge/clustering.h"
#include "core/partition/edge/initial.h"

/* On graphs from this size on, a cycle costs more than it brings: half as many are made. */
static const uint64_t large_entries = 20000000;

/* So many parts are as good from one start as from the better one of two. */
enum { PARTS_MANY = 64 };

typedef struct starts {
  cm_edge_search *work;
  uint32_t **part; /* [starts][vertices of the coarsest level] */
  uint64_t *cut;   /* [starts] */
  uint32_t count;
} starts;

/* A way down, by the temperature and the random streams of its levels. */
typedef struct descent {
  cm_edge_search *work;
  double hot;
  uint64_t stream;
} descent;

static cm_status coarsen(cm_edge_search *w, cm_csr_graph *graph, const uint32_t *label, uint64_t seed, cm_error *error)
{
  double least = w->options->coarse_vertices * w->options->parts;
  cm_csr_coarsen_options options = {.vertices_min = least < 200 ? 200 : (uint32_t)fmin(least, 4e9),
                                    .growth = 4,
                                    .label = label,
                                    .share = 1,
                                    .seed = seed};
  double most = 2.0 * (double)graph->size_total / options.vertices_min;
  options.size_max = most > 1 ? (uint64_t)most : 1;
  const size_t mark = cm_run_enter(w->run, 0.12);
  cm_run_phase(w->run, "coarsen");
  cm_status status = cm_csr_coarsen(graph, &options, w->run, &w->hierarchy, error);
  cm_run_leave(w->run, mark);
  return status;
}

static cm_status start_once(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  cm_edge_search *w = all->work;
  uint32_t l = w->hierarchy.levels - 1;
  cm_csr_graph *g = w->hierarchy.level[l];
  cm_initial_options options = {.parts = w->options->parts, .most = cm_edge_most_on(w, g), .tries = w->options->tries,
                                .passes = 4, .seed = w->options->seed, .stream = t};
  CM_TRY(CM_NEW(w->run->memory, all->part[t], g->vertex_count, error));
  CM_TRY(cm_initial_partition(g, &options, w->run, all->part[t], error));
  CM_TRY(cm_edge_refine_level(w, &(cm_edge_level){l, 0, 0.5, 1000 + t}, all->part[t], error));
  all->cut[t] = cm_csr_graph_cut(g, all->part[t]);
  cm_run_add(w->run, 1.0 / all->count);
  return CM_OK;
}

static cm_status best_start(cm_edge_search *w, uint32_t *part, cm_error *error)
{
  uint32_t n = w->hierarchy.vertices[w->hierarchy.levels - 1], best = 0;
  bool many = w->options->starts_many > 0 && w->options->parts >= PARTS_MANY;
  uint32_t count = many ? w->options->starts_many : w->options->starts;
  starts all = {.work = w, .count = count};
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, all.part, count, error);
  CM_THEN(status, CM_NEW(w->run->memory, all.cut, count, error));
  CM_THEN(status, cm_parallel(w->run, count, start_once, &all, error));
  for (uint32_t t = 1; t < count && status == CM_OK; t++)
    if (all.cut[t] < all.cut[best])
      best = t;
  if (status == CM_OK)
    memcpy(part, all.part[best], n * sizeof *part);
  for (uint32_t t = 0; all.part != NULL && t < count; t++)
    cm_free(all.part[t]);
  CM_FREE(all.part, all.cut);
  return status;
}

/* How much work a level is. */
static double entries_on(const cm_hierarchy *h, uint32_t l)
{
  const cm_csr_graph *g = h->level[l];
  return (double)g->entry_count + 1;
}

static cm_status refine_below(void *context, const cm_hierarchy *h, uint32_t l, uint32_t *part, cm_error *error)
{
  const descent *d = context;
  double left = 0;
  for (uint32_t k = 0; k <= l; k++)
    left += entries_on(h, k);
  const size_t mark = cm_run_within(d->work->run, entries_on(h, l) / left);
  d->work->tells = true;
  cm_status status = cm_edge_refine_level(d->work, &(cm_edge_level){l, h->levels - 1 - l, d->hot, d->stream + l}, part, error);
  d->work->tells = false;
  CM_THEN(status, cm_run_progress(d->work->run, 1, (int)l, h->vertices[l], NAN, error));
  cm_run_leave(d->work->run, mark);
  return status;
}

static cm_status uncoarsen(cm_edge_search *w, uint64_t stream, uint32_t *part, cm_error *error)
{
  descent d = {w, 0.15, stream};
  cm_run_phase(w->run, "refine");
  return cm_hierarchy_descend(&w->hierarchy, refine_below, &d, part, error);
}

/* Another descent inside the labels, by a hierarchy of its own. */
static cm_status cycle(cm_edge_search *w, cm_csr_graph *graph, const uint32_t *label, uint32_t number, uint32_t *part, cm_error *error)
{
  cm_hierarchy_free(&w->hierarchy);
  CM_TRY(coarsen(w, graph, label, w->options->seed + number, error));
  cm_hierarchy_lift(&w->hierarchy, part);
  const cm_edge_level coarsest = {w->hierarchy.levels - 1, 0, 0.25, UINT64_C(2000) * number};
  CM_TRY(cm_edge_refine_level(w, &coarsest, part, error));
  return uncoarsen(w, UINT64_C(2000) * number, part, error);
}

cm_status cm_edge_search_inside(cm_csr_graph *graph, const cm_edge_options *options, const uint32_t *label, uint32_t number,
                                cm_run *run, uint32_t *part, cm_error *error)
{
  cm_edge_search w = {.options = options, .run = run};
  cm_status status = cycle(&w, graph, label, number, part, error);
  cm_hierarchy_free(&w.hierarchy);
  return status;
}

static cm_status run_all(cm_edge_search *w, cm_csr_graph *graph, uint32_t *part, uint32_t *best, cm_error *error)
{
  uint32_t n = graph->vertex_count, cycles = graph->entry_count < large_entries ? w->options->cycles : w->options->cycles / 2;
  w->draft = cycles > 0;
  size_t mark = cm_run_enter(w->run, 1.0 / (1 + cycles));
  CM_TRY(coarsen(w, graph, NULL, w->options->seed, error));
  CM_TRY(best_start(w, part, error));
  CM_TRY(uncoarsen(w, 1, part, error));
  cm_run_leave(w->run, mark);
  uint64_t least = cm_csr_graph_cut(graph, part);
  memcpy(best, part, n * sizeof *best);
  w->draft = false;
  for (uint32_t c = 1; c <= cycles; c++) {
    mark = cm_run_enter(w->run, 1.0 / (cycles - c + 1));
    CM_TRY(cycle(w, graph, part, c, part, error));
    cm_run_leave(w->run, mark);
    uint64_t cut = cm_csr_graph_cut(graph, part);
    if (cut <= least) {
      least = cut;
      memcpy(best, part, n * sizeof *best);
    } else
      memcpy(part, best, n * sizeof *best);
  }
  return CM_OK;
}

cm_status cm_edge_search_anew(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *part, uint32_t *best,
                              cm_error *error)
{
  cm_edge_search w = {.options = options, .run = run};
  cm_status status = run_all(&w, graph, part, best, error);
  cm_hierarchy_free(&w.hierarchy);
  return status;
}
