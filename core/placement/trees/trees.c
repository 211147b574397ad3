/* Happy path: the budget says how many sweeps all casts allow, or how many casts so many sweeps -> a few annealings from
 * where the parts are, on those casts -> the best of them descends on all casts -> kept when it costs less. */
#include "core/placement/trees/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/annealing.h"
#include "base/order.h"
#include "base/threads.h"
#include "core/partition/options.h"
#include "core/placement/trees/tree_walk.h"

enum { STARTS_MAX = 4 };

/* What a walk may take: looks in all, visits of every part in one annealing, and in the descent on all casts where a sample was annealed. */
typedef struct walk_budget {
  double looks, sweeps_min, sweeps_max, sweeps_last;
} walk_budget;

/* Over ways a sample of the casts is annealed where all of them allow fewer sweeps, and nothing follows. */
static const double way_sweeps_min = 40;

/* One annealing; several stand beside each other. */
typedef struct start {
  uint32_t *core;
  int64_t cost;
  uint64_t swaps;
} start;

typedef struct search {
  const cm_tree_walk_kind *kind;
  const cm_place_task *task;
  const cm_casts *casts;   /* those that are annealed */
  const uint32_t *core;    /* [parts] where the parts begin */
  uint32_t sweeps;
  double looks; /* that one annealing may take where they are counted */
  start start[STARTS_MAX];
} search;

/* ---- one walk ---- */

static cm_status sit(cm_tree_walk *w, const uint32_t *core, cm_error *error)
{
  const cm_region *r = w->region;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->seat, w->casts->parts), CM_ARRAY(w->occupant, r->core_count)));
  for (uint32_t i = 0; i < r->core_count; i++)
    w->occupant[i] = CM_NO_PART;
  for (uint32_t p = 0; p < w->casts->parts; p++) {
    const uint32_t *found = bsearch(&core[p], r->cores, r->core_count, sizeof *r->cores, cm_ascending);
    w->seat[p] = (uint32_t)(found - r->cores);
    w->occupant[w->seat[p]] = p;
  }
  return CM_OK;
}

static void walk_free(cm_tree_walk *w)
{
  CM_FREE(w->seat, w->occupant, w->number, w->chance, w->drawn, w->cell, w->price, w->least, w->at_home, w->first_slot, w->slot);
  cm_tree_prices_free(w->prices);
  cm_trees_free(w->trees);
  cm_way_trees_free(w->ways);
  *w = (cm_tree_walk){0};
}

/* From where `core` [parts] says; `stream` of random numbers. */
static cm_status walk_new(const search *s, const cm_casts *casts, const uint32_t *core, uint64_t stream, cm_tree_walk *w, cm_error *error)
{
  const cm_place_task *task = s->task;
  *w = (cm_tree_walk){.run = task->run, .chip = task->chip, .region = task->region, .casts = casts};
  cm_random_init(&w->random, task->seed, CM_STREAM_TREES, stream);
  cm_status status = sit(w, core, error);
  CM_THEN(status, s->kind->begin(w, core, error));
  CM_END(status, , walk_free(w));
}

/* At a temperature that falls, or at none. */
static cm_status sweep(cm_tree_walk *w, const search *s, uint32_t sweeps, bool cools, bool tells, cm_error *error)
{
  uint32_t parts = w->casts->parts;
  double unit = cools ? s->kind->typical(w) * s->kind->hot : 0, last = s->kind->cold / s->kind->hot, begin = s->kind->looked(w), done = 0;
  for (uint32_t k = 0; k < sweeps && done <= 1; k++) {
    done = fmax(sweeps > 1 ? (double)k / (sweeps - 1) : 1, (s->kind->looked(w) - begin) / s->looks);
    double temperature = cools ? cm_cooled(unit, last, fmin(done, 1)) : 0;
    for (uint32_t u = 0; u < parts; u++)
      if (s->kind->visit(w, u, temperature, error) != CM_OK || cm_run_check(w->run, error) != CM_OK)
        return error->status;
    CM_TRY_IF(tells, cm_run_progress(w->run, (double)k / sweeps, -1, parts, NAN, error));
  }
  return CM_OK;
}

/* Where the parts of a walk stand. */
static void take_cores(const cm_tree_walk *w, start *one)
{
  for (uint32_t p = 0; p < w->casts->parts; p++)
    one->core[p] = w->region->cores[w->seat[p]];
  one->swaps += w->swaps;
}

static cm_status anneal_one(void *context, size_t index, cm_error *error)
{
  search *s = context;
  start *one = &s->start[index];
  cm_tree_walk w;
  CM_TRY(walk_new(s, s->casts, s->core, index, &w, error));
  cm_status status = sweep(&w, s, s->sweeps, true, s->kind->starts_max == 1, error);
  CM_THEN(status, sweep(&w, s, 1 + s->sweeps / 20, false, false, error));
  if (status == CM_OK) {
    take_cores(&w, one);
    one->cost = s->kind->sum(&w);
  }
  walk_free(&w);
  return status;
}

/* Downhill on all casts. */
static cm_status descend(search *s, const cm_casts *all, uint32_t sweeps, start *best, cm_error *error)
{
  cm_tree_walk w;
  CM_TRY(walk_new(s, all, best->core, STARTS_MAX, &w, error));
  cm_status status = sweep(&w, s, sweeps, false, true, error);
  if (status == CM_OK)
    take_cores(&w, best);
  walk_free(&w);
  return status;
}

/* ---- effort ---- */

typedef struct plan {
  double share;    /* of the casts that are annealed */
  uint32_t sweeps, starts, last;
} plan;

/* Where trials tell: an exchange that is made looks at others than one that is not. */
static cm_status looks_of(const search *s, const cm_casts *casts, double *looks, cm_error *error)
{
  cm_tree_walk w;
  if (s->kind->looks != NULL) {
    *looks = s->kind->looks(casts, s->task);
    return CM_OK;
  }
  CM_TRY(walk_new(s, casts, s->core, 0, &w, error));
  double before = s->kind->looked(&w);
  (void)s->kind->typical(&w);
  *looks = (1 + (s->kind->looked(&w) - before) / s->kind->tried) * casts->parts;
  walk_free(&w);
  return CM_OK;
}

static cm_status plan_for(const search *s, const cm_casts *casts, const walk_budget *b, plan *made, cm_error *error)
{
  double whole, share = 1;
  CM_TRY(looks_of(s, casts, &whole, error));
  double sweeps = b->looks / whole;
  if (sweeps < b->sweeps_min) {
    double least = s->kind->casts_min * casts->parts / ((double)casts->first[casts->count] + 1);
    share = fmin(fmax(sweeps / b->sweeps_min, least), 1);
    sweeps = fmax(sweeps / share, 2);
  }
  double last = fmin(fmax(b->looks / whole, 1), b->sweeps_last);
  double starts = fmin(fmax(sweeps / b->sweeps_max, 1), s->kind->starts_max);
  *made = (plan){
    .share = share, .starts = (uint32_t)starts, .sweeps = (uint32_t)fmin(sweeps, b->sweeps_max), .last = (uint32_t)last};
  return CM_OK;
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
  CM_THEN(status, cm_parallel(s->task->run, p->starts, anneal_one, s, error));
  cm_casts_free(sample);
  *best = &s->start[0];
  for (uint32_t i = 1; i < p->starts; i++)
    *best = s->start[i].cost < (*best)->cost ? &s->start[i] : *best;
  return status == CM_OK && p->share < 1 && p->last > 0 ? descend(s, casts, p->last, *best, error) : status;
}

static const cm_tree_walk_kind *const kinds[CM_GEOMETRIES] = {&cm_mesh_walk, &cm_way_walk};

cm_status cm_trees_cost(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                        cm_error *error)
{
  return kinds[cm_geometry_of(chip)]->cost(casts, chip, core, run, cost, error);
}

static cm_status improve(search *s, const cm_casts *casts, const walk_budget *b, uint32_t *core, cm_trees_result *result,
                         cm_error *error)
{
  plan p = {0};
  start *best;
  CM_TRY(cm_trees_cost(casts, s->task->chip, core, s->task->run, &result->before, error));
  CM_TRY(plan_for(s, casts, b, &p, error));
  CM_TRY(anneal(s, casts, &p, &best, error));
  CM_TRY(cm_trees_cost(casts, s->task->chip, best->core, s->task->run, &result->after, error));
  *result = (cm_trees_result){.before = result->before, .after = result->after, .sweeps = p.sweeps, .starts = p.starts,
                              .swaps = best->swaps, .sampled = p.share < 1};
  if (result->after < result->before)
    memcpy(core, best->core, casts->parts * sizeof *core);
  else
    result->after = result->before;
  return CM_OK;
}

/* Parts one by one, from where they stand. */
static cm_status place_parts(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                             cm_trees_result *result, cm_error *error)
{
  const walk_budget of[CM_GEOMETRIES] = {{budget->looks, budget->sweeps_min, budget->sweeps_max, budget->sweeps_last},
                                         {budget->way_looks, way_sweeps_min, budget->way_sweeps, 0}};
  const walk_budget *b = &of[cm_geometry_of(task->chip)];
  search s = {.kind = kinds[cm_geometry_of(task->chip)], .task = task, .core = core, .looks = b->looks};
  cm_trees_result found = {0};
  cm_status status = improve(&s, casts, b, core, &found, error);
  for (uint32_t i = 0; i < STARTS_MAX; i++)
    cm_free(s.start[i].core);
  CM_END(status, *result = found, );
}

/* ---- whole routers ---- */

/* Parts are moved one by one too where the entries of whole routers are less than this of their cost, or these are no better; not
 * where links are at most this much of what the number of targets alone asks for. */
static const double few_entries = 0.2, near_bound = 1.05;

/* A cast needs a link to each router but one of so many as its targets fill. */
static double bound_of(const cm_casts *casts, const cm_chip *chip)
{
  uint32_t room = chip->router_x * chip->router_y;
  double sum = 0;
  for (uint32_t e = 0; e < casts->count; e++)
    sum += (double)casts->weight[e] * (double)((casts->first[e + 1] - casts->first[e]) / room);
  return sum * cm_cheapest_hop_units(chip);
}

/* Whole routers where they cost less than where the parts stand, and then the parts one by one, where that costs still less. */
static cm_status place_groups(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                              cm_trees_result *result, cm_error *error)
{
  cm_group_cost cost, trial_cost = {0};
  cm_trees_result made = {.starts = 1}, refined = {0};
  uint32_t *trial;
  const size_t bytes = casts->parts * sizeof *core;
  double steps = fmin(budget->group_looks * casts->parts, budget->group_looks_max);
  CM_TRY(CM_NEW(task->run->memory, trial, casts->parts, error));
  cm_status status = cm_group_cost_of(casts, task->chip, core, task->run, &cost, error);
  CM_THEN(status, cm_place_by_groups(casts, task, steps, trial, &trial_cost, error));
  if (status == CM_OK) {
    made.before = (uint64_t)cost.links;
    if (trial_cost.sum < cost.sum) {
      memcpy(core, trial, bytes);
      cost = trial_cost;
      made.groups = cost.order;
    }
  }
  bool by_links = status == CM_OK && (cost.sum - cost.links < few_entries * cost.sum || made.groups == NULL);
  if (by_links && cost.links > near_bound * bound_of(casts, task->chip)) {
    memcpy(trial, core, bytes);
    status = place_parts(casts, task, budget, trial, &refined, error);
    CM_THEN(status, cm_group_cost_of(casts, task->chip, trial, task->run, &trial_cost, error));
    if (status == CM_OK && trial_cost.sum < cost.sum) {
      memcpy(core, trial, bytes);
      cost = trial_cost;
      refined.before = made.before;
      refined.groups = made.groups;
      made = refined;
    }
  }
  cm_free(trial);
  made.after = status == CM_OK ? (uint64_t)cost.links : 0;
  CM_END(status, *result = made, );
}

bool cm_has_groups(const cm_chip *chip)
{
  return kinds[cm_geometry_of(chip)]->groups && chip->table_entries != 0 && chip->class_of == NULL && chip->router_x * chip->router_y > 1;
}

cm_status cm_place_by_trees(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                            cm_trees_result *result, cm_error *error)
{
  cm_run_phase(task->run, "trees");
  if (casts->count == 0) {
    *result = (cm_trees_result){0};
    return CM_OK;
  }
  return cm_has_groups(task->chip) ? place_groups(casts, task, budget, core, result, error)
                                   : place_parts(casts, task, budget, core, result, error);
}
