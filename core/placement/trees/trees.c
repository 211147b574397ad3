/* Happy path: the budget says how many sweeps all casts allow, or how many casts so many sweeps -> a few annealings from
 * where the parts are, on those casts -> the best of them descends on all casts -> kept when it costs less. */
#include "core/placement/trees/trees.h"

#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/partition/options.h"
#include "core/placement/trees/tree_state.h"

enum { CHANCES = 4096, SAMPLES = 256, STARTS_MAX = 4 };

/* Temperatures in mean changes of a swap of neighbours; casts a part that a sample keeps at least. */
static const double hot = 2, cold = 0.05, casts_least = 300;


typedef struct effort {
  double looks;                     /* at casts, in all */
  double sweeps_least, sweeps_most; /* proposals for every part, of one annealing */
  double sweeps_last;               /* of the descent on all casts, where a sample was annealed */
} effort;

static const effort efforts[] = {
  [CM_ARRANGE_FAST] = {2e7, 10, 60, 1},
  [CM_ARRANGE_BALANCED] = {1e8, 60, 300, 2},
  [CM_ARRANGE_BEST] = {1.5e9, 300, 3000, 4},
};

/* One annealing; several stand beside each other. */
typedef struct start {
  uint32_t *core;
  int64_t cost;
  uint64_t swaps;
} start;

typedef struct search {
  const cm_chip *chip;
  const cm_region *region;
  cm_run *run;
  const cm_casts *casts;   /* those that are annealed */
  const uint32_t *core;    /* [parts] where the parts begin */
  uint32_t sweeps;
  double hot, cold;
  uint64_t seed;
  double *chance;          /* [CHANCES] -log of evenly spaced chances */
  start start[STARTS_MAX];
} search;

typedef struct walker {
  const search *search;
  cm_trees *trees;
  uint32_t *occupant;      /* [cores of the region's box] CM_NO_PART: empty or not of the region */
  uint8_t *usable;         /* [cores of the box] 1: of the region */
  cm_random random;
  uint64_t swaps;
} walker;

/* ---- proposals ---- */

typedef struct point {
  int64_t x, y;
} point;

static point point_of(const walker *w, uint32_t core)
{
  uint32_t width = w->search->chip->width;
  return (point){core % width, core / width};
}

/* The cell of the region's box at a point, SIZE_MAX outside. */
static size_t cell_at(const walker *w, point p)
{
  const cm_region *r = w->search->region;
  int64_t x = p.x - r->x0, y = p.y - r->y0;
  return x < 0 || y < 0 || x >= r->width || y >= r->height ? SIZE_MAX : (size_t)y * r->width + (size_t)x;
}

static int64_t middle(int64_t a, int64_t b, int64_t c)
{
  int64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/* A part that u sends to or hears from, drawn from all its casts; u itself when it has none. */
static uint32_t relative(walker *w, uint32_t u)
{
  const cm_trees *t = w->trees;
  const cm_casts *c = t->casts;
  uint64_t heard = t->in_first[u + 1] - t->in_first[u], begin = c->first[c->of_part[u]];
  uint64_t sent = c->first[c->of_part[u + 1]] - begin;
  if (heard + sent == 0)
    return u;
  uint64_t k = cm_random_below(&w->random, heard + sent);
  return k < heard ? t->net[t->in_net[t->in_first[u] + k]].sender : c->target[begin + k - heard];
}

/* A core to look at for u: beside its own, or near where three of its relatives are in the middle. */
static point propose(walker *w, uint32_t u)
{
  const uint32_t *core = w->trees->core;
  uint64_t bits = cm_random_next(&w->random);
  point p = point_of(w, core[u]);
  uint32_t reach = 1 + (bits & 1 && bits & 2);
  if (!(bits & 1)) {
    point a = point_of(w, core[relative(w, u)]), b = point_of(w, core[relative(w, u)]),
          c = point_of(w, core[relative(w, u)]);
    point to = {middle(a.x, b.x, c.x), middle(a.y, b.y, c.y)};
    p = bits & 4 ? (point){(p.x + to.x) / 2, (p.y + to.y) / 2} : to;
  }
  uint32_t side = 2 * reach + 1;
  p.x += (int64_t)((bits >> 8 & 0xffffff) * side >> 24) - reach;
  p.y += (int64_t)((bits >> 32 & 0xffffff) * side >> 24) - reach;
  return p;
}

/* ---- annealing ---- */

/* Looks at one swap of u; false when there was none to look at. */
static bool look(walker *w, uint32_t u, double temperature, double *change)
{
  cm_trees *t = w->trees;
  point p = propose(w, u);
  size_t there = cell_at(w, p), here = cell_at(w, point_of(w, t->core[u]));
  if (there == SIZE_MAX || there == here || !w->usable[there])
    return false;
  uint32_t v = w->occupant[there], core = (uint32_t)(p.y * w->search->chip->width + p.x);
  *change = (double)cm_trees_look(t, u, v, core);
  if (*change > 0 && *change > temperature * w->search->chance[cm_random_next(&w->random) >> 52])
    return true;
  cm_trees_swap(t, u, v, core);
  w->occupant[there] = u;
  w->occupant[here] = v;
  w->swaps++;
  return true;
}

/* The mean change of a swap of neighbours from where the parts are. */
static double typical(walker *w)
{
  double sum = 0, count = 0;
  uint32_t parts = w->trees->casts->parts;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    cm_trees *t = w->trees;
    uint32_t u = (uint32_t)cm_random_below(&w->random, parts);
    point p = point_of(w, t->core[u]);
    uint64_t bits = cm_random_next(&w->random);
    p.x += bits & 1 ? 0 : bits & 2 ? 1 : -1;
    p.y += !(bits & 1) ? 0 : bits & 2 ? 1 : -1;
    size_t there = cell_at(w, p);
    if (there == SIZE_MAX || !w->usable[there])
      continue;
    sum += fabs((double)cm_trees_look(t, u, w->occupant[there], (uint32_t)(p.y * w->search->chip->width + p.x)));
    count++;
  }
  return count > 0 ? sum / count : 0;
}

static cm_status sweep(walker *w, uint32_t sweeps, double from, double to, bool tells, cm_error *error)
{
  const search *s = w->search;
  uint32_t parts = w->trees->casts->parts;
  double change, unit = from > 0 ? typical(w) : 0;
  for (uint32_t k = 0; k < sweeps; k++) {
    double temperature = from > 0 ? unit * from * pow(to / from, sweeps > 1 ? (double)k / (sweeps - 1) : 1) : 0;
    for (uint32_t u = 0; u < parts; u++) {
      (void)look(w, u, temperature, &change);
      if (cm_run_check(s->run, error) != CM_OK)
        return error->status;
    }
    if (tells && cm_run_progress(s->run, (double)k / sweeps, -1, parts, NAN, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status walker_new(const search *s, const cm_casts *casts, const uint32_t *core, uint64_t stream, walker *w,
                            cm_error *error)
{
  const cm_region *r = s->region;
  size_t box = (size_t)r->width * r->height;
  *w = (walker){.search = s};
  cm_random_init(&w->random, s->seed, CM_STREAM_TREES, stream);
  if (CM_NEW(s->run->memory, w->occupant, box, error) != CM_OK || CM_NEW(s->run->memory, w->usable, box, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < box; i++)
    w->occupant[i] = CM_NO_PART;
  for (uint32_t i = 0; i < r->core_count; i++)
    w->usable[cell_at(w, point_of(w, r->cores[i]))] = 1;
  for (uint32_t p = 0; p < casts->parts; p++)
    w->occupant[cell_at(w, point_of(w, core[p]))] = p;
  return cm_trees_new(casts, s->chip, core, s->run, &w->trees, error);
}

static void walker_free(walker *w)
{
  cm_free(w->occupant);
  cm_free(w->usable);
  cm_trees_free(w->trees);
}

static cm_status anneal_one(void *context, size_t index, cm_error *error)
{
  search *s = context;
  start *one = &s->start[index];
  walker w;
  cm_status status = walker_new(s, s->casts, s->core, index, &w, error);
  if (status == CM_OK)
    status = sweep(&w, s->sweeps, s->hot, s->cold, false, error);
  if (status == CM_OK)
    status = sweep(&w, 1 + s->sweeps / 20, 0, 0, false, error);
  if (status == CM_OK) {
    memcpy(one->core, w.trees->core, s->casts->parts * sizeof *one->core);
    one->cost = cm_trees_sum(w.trees);
    one->swaps = w.swaps;
  }
  walker_free(&w);
  return status;
}

/* Downhill on all casts. */
static cm_status descend(search *s, const cm_casts *all, uint32_t sweeps, start *best, cm_error *error)
{
  walker w;
  cm_status status = walker_new(s, all, best->core, STARTS_MAX, &w, error);
  if (status == CM_OK)
    status = sweep(&w, sweeps, 0, 0, true, error);
  if (status == CM_OK) {
    memcpy(best->core, w.trees->core, all->parts * sizeof *best->core);
    best->swaps += w.swaps;
  }
  walker_free(&w);
  return status;
}

/* ---- effort ---- */

/* Looks at casts that a proposal for every part takes: those of both parts, and every target of their own. */
static double looks_of(const cm_casts *casts)
{
  return 4.0 * (double)casts->first[casts->count] + casts->parts;
}

typedef struct plan {
  double share;    /* of the casts that are annealed */
  uint32_t sweeps, starts;
} plan;

static plan plan_for(const cm_casts *casts, const effort *e)
{
  double whole = looks_of(casts), sweeps = e->looks / whole, share = 1;
  if (sweeps < e->sweeps_least) {
    double least = casts_least * casts->parts / ((double)casts->first[casts->count] + 1);
    share = fmin(fmax(sweeps / e->sweeps_least, least), 1);
    sweeps = fmax(sweeps / share, 2);
  }
  double starts = fmin(fmax(sweeps / e->sweeps_most, 1), STARTS_MAX);
  return (plan){.share = share, .starts = (uint32_t)starts, .sweeps = (uint32_t)fmin(sweeps, e->sweeps_most)};
}

static cm_status anneal(search *s, const cm_casts *casts, const plan *p, const effort *e, start **best, cm_error *error)
{
  uint32_t parts = casts->parts;
  cm_casts *sample = NULL;
  s->casts = casts;
  s->sweeps = p->sweeps;
  cm_status status = CM_OK;
  if (p->share < 1) {
    status = cm_casts_sample(casts, (uint64_t)(p->share * (double)casts->first[casts->count]), s->seed, s->run, &sample,
                             error);
    s->casts = sample;
  }
  for (uint32_t i = 0; status == CM_OK && i < p->starts; i++)
    status = CM_NEW(s->run->memory, s->start[i].core, parts, error);
  if (status == CM_OK)
    status = cm_parallel(s->run, p->starts, anneal_one, s, error);
  cm_casts_free(sample);
  *best = &s->start[0];
  for (uint32_t i = 1; i < p->starts; i++)
    *best = s->start[i].cost < (*best)->cost ? &s->start[i] : *best;
  return status == CM_OK && p->share < 1 ? descend(s, casts, (uint32_t)e->sweeps_last, *best, error) : status;
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

static cm_status improve(search *s, const cm_casts *casts, const effort *e, uint32_t *core, cm_trees_result *result,
                         cm_error *error)
{
  plan p = plan_for(casts, e);
  start *best;
  if (cm_trees_cost(casts, s->chip, core, s->run, &result->before, error) != CM_OK ||
      CM_NEW(s->run->memory, s->chance, CHANCES, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < CHANCES; i++)
    s->chance[i] = -log((i + 0.5) / CHANCES);
  if (anneal(s, casts, &p, e, &best, error) != CM_OK ||
      cm_trees_cost(casts, s->chip, best->core, s->run, &result->after, error) != CM_OK)
    return error->status;
  *result = (cm_trees_result){.before = result->before, .after = result->after, .sweeps = p.sweeps, .starts = p.starts,
                              .swaps = best->swaps, .sampled = p.share < 1};
  if (result->after < result->before)
    memcpy(core, best->core, casts->parts * sizeof *core);
  else
    result->after = result->before;
  return CM_OK;
}

cm_status cm_place_by_trees(const cm_casts *casts, const cm_chip *chip, const cm_region *region,
                            cm_arrange_effort effort_wanted, uint64_t seed, cm_run *run, uint32_t *core,
                            cm_trees_result *result, cm_error *error)
{
  search s = {.chip = chip, .region = region, .run = run, .core = core, .hot = hot, .cold = cold, .seed = seed};
  cm_trees_result found = {0};
  cm_status status = CM_OK;
  cm_run_phase(run, "trees");
  if (casts->count > 0)
    status = improve(&s, casts, &efforts[effort_wanted], core, &found, error);
  cm_free(s.chance);
  for (uint32_t i = 0; i < STARTS_MAX; i++)
    cm_free(s.start[i].core);
  if (status == CM_OK)
    *result = found;
  return status;
}
