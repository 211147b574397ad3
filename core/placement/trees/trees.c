/* Happy path: the budget says how many sweeps all casts allow, or how many casts so many sweeps -> a few annealings from
 * where the parts are, on those casts -> the best of them descends on all casts -> kept when it costs less. */
#include "core/placement/trees/trees.h"

#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "base/threads.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/partition/options.h"
#include "core/placement/axes.h"
#include "core/placement/trees/tree_walk.h"
#include "core/placement/trees/way_trees.h"

enum { SAMPLES = 256, STARTS_MAX = 4 };

/* Temperatures in mean changes of a swap of neighbours; casts a part that a sample keeps at least. */
static const double hot = 6, cold = 0.15, casts_min = 150;

/* One annealing; several stand beside each other. */
typedef struct start {
  uint32_t *core;
  int64_t cost;
  uint64_t swaps;
} start;

typedef struct search {
  const cm_place_task *task;
  const cm_casts *casts;   /* those that are annealed */
  const uint32_t *core;    /* [parts] where the parts begin */
  uint32_t sweeps;
  start start[STARTS_MAX];
} search;

static cm_status sweep(cm_tree_walk *w, uint32_t sweeps, double from, double to, bool tells, cm_error *error)
{
  uint32_t parts = w->trees->casts->parts;
  double unit = from > 0 ? cm_tree_walk_typical(w, SAMPLES) : 0;
  for (uint32_t k = 0; k < sweeps; k++) {
    double temperature = from > 0 ? cm_cooled(unit * from, to / from, sweeps > 1 ? (double)k / (sweeps - 1) : 1) : 0;
    for (uint32_t u = 0; u < parts; u++) {
      cm_tree_walk_visit(w, u, temperature);
      if (cm_run_check(w->run, error) != CM_OK)
        return error->status;
    }
    if (tells && cm_run_progress(w->run, (double)k / sweeps, -1, parts, NAN, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status anneal_one(void *context, size_t index, cm_error *error)
{
  search *s = context;
  start *one = &s->start[index];
  cm_tree_walk *w;
  if (cm_tree_walk_new(s->casts, s->task, s->core, index, &w, error) != CM_OK)
    return error->status;
  cm_status status = sweep(w, s->sweeps, hot, cold, false, error);
  if (status == CM_OK)
    status = sweep(w, 1 + s->sweeps / 20, 0, 0, false, error);
  if (status == CM_OK) {
    memcpy(one->core, w->trees->core, s->casts->parts * sizeof *one->core);
    one->cost = cm_trees_sum(w->trees);
    one->swaps = w->swaps;
  }
  cm_tree_walk_free(w);
  return status;
}

/* Downhill on all casts. */
static cm_status descend(search *s, const cm_casts *all, uint32_t sweeps, start *best, cm_error *error)
{
  cm_tree_walk *w;
  if (cm_tree_walk_new(all, s->task, best->core, STARTS_MAX, &w, error) != CM_OK)
    return error->status;
  cm_status status = sweep(w, sweeps, 0, 0, true, error);
  if (status == CM_OK) {
    memcpy(best->core, w->trees->core, all->parts * sizeof *best->core);
    best->swaps += w->swaps;
  }
  cm_tree_walk_free(w);
  return status;
}

/* ---- effort ---- */

/* What a visit of every part takes, in looks at casts: those of both parts of a swap, and every target of their own;
 * guided, all targets of all casts for the prices, but a swap only now and then. */
static double looks_of(const search *s, const cm_casts *casts)
{
  double targets = (double)casts->first[casts->count], squares = 0,
         cells = s->task->region->width * (double)s->task->region->height;
  if (!cm_tree_walk_guided(s->task->chip, s->task->region, casts->parts))
    return 4 * targets + casts->parts;
  for (uint32_t e = 0; e < casts->count; e++)
    squares += pow((double)(casts->first[e + 1] - casts->first[e]), 2);
  return 3 * targets + 0.08 * squares + casts->parts * (1 + 0.3 * cells);
}

typedef struct plan {
  double share;    /* of the casts that are annealed */
  uint32_t sweeps, starts, last;
} plan;

static plan plan_for(const search *s, const cm_casts *casts, const cm_trees_budget *b)
{
  double whole = looks_of(s, casts), sweeps = b->looks / whole, share = 1;
  if (sweeps < b->sweeps_min) {
    double least = casts_min * casts->parts / ((double)casts->first[casts->count] + 1);
    share = fmin(fmax(sweeps / b->sweeps_min, least), 1);
    sweeps = fmax(sweeps / share, 2);
  }
  double last = fmin(fmax(b->looks / whole, 1), b->sweeps_last);
  double starts = fmin(fmax(sweeps / b->sweeps_max, 1), STARTS_MAX);
  return (plan){
    .share = share, .starts = (uint32_t)starts, .sweeps = (uint32_t)fmin(sweeps, b->sweeps_max), .last = (uint32_t)last};
}

static cm_status anneal(search *s, const cm_casts *casts, const plan *p, start **best, cm_error *error)
{
  uint32_t parts = casts->parts;
  cm_casts *sample = NULL;
  s->casts = casts;
  s->sweeps = p->sweeps;
  cm_status status = CM_OK;
  if (p->share < 1) {
    status = cm_casts_sample(casts, (uint64_t)(p->share * (double)casts->first[casts->count]), s->task->seed, s->task->run,
                             &sample, error);
    s->casts = sample;
  }
  for (uint32_t i = 0; status == CM_OK && i < p->starts; i++)
    status = CM_NEW(s->task->run->memory, s->start[i].core, parts, error);
  if (status == CM_OK)
    status = cm_parallel(s->task->run, p->starts, anneal_one, s, error);
  cm_casts_free(sample);
  *best = &s->start[0];
  for (uint32_t i = 1; i < p->starts; i++)
    *best = s->start[i].cost < (*best)->cost ? &s->start[i] : *best;
  return status == CM_OK && p->share < 1 ? descend(s, casts, p->last, *best, error) : status;
}

cm_status cm_trees_cost(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                        cm_error *error)
{
  cm_trees *trees;
  if (cm_trees_new(casts, chip, core, run, &trees, error) != CM_OK)
    return error->status;
  *cost = (uint64_t)cm_trees_sum(trees) << trees->weight_shift;
  cm_trees_free(trees);
  return CM_OK;
}

static cm_status improve(search *s, const cm_casts *casts, const cm_trees_budget *b, uint32_t *core, cm_trees_result *result,
                         cm_error *error)
{
  plan p = plan_for(s, casts, b);
  start *best;
  if (cm_trees_cost(casts, s->task->chip, core, s->task->run, &result->before, error) != CM_OK ||
      anneal(s, casts, &p, &best, error) != CM_OK ||
      cm_trees_cost(casts, s->task->chip, best->core, s->task->run, &result->after, error) != CM_OK)
    return error->status;
  *result = (cm_trees_result){.before = result->before, .after = result->after, .sweeps = p.sweeps, .starts = p.starts,
                              .swaps = best->swaps, .sampled = p.share < 1};
  if (result->after < result->before)
    memcpy(core, best->core, casts->parts * sizeof *core);
  else
    result->after = result->before;
  return CM_OK;
}

cm_status cm_place_by_trees(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                            cm_trees_result *result, cm_error *error)
{
  search s = {.task = task, .core = core};
  cm_trees_result found = {0};
  cm_status status = CM_OK;
  cm_run_phase(task->run, "trees");
  if (casts->count > 0 && cm_geometry_of(task->chip) == CM_BY_WAYS)
    status = cm_place_by_way_trees(casts, task, budget, core, &found, error);
  else if (casts->count > 0)
    status = improve(&s, casts, budget, core, &found, error);
  for (uint32_t i = 0; i < STARTS_MAX; i++)
    cm_free(s.start[i].core);
  if (status == CM_OK)
    *result = found;
  return status;
}
