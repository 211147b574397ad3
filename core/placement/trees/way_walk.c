/* Over the ways of an interconnect: a part goes some random links from one that it talks to. What can fail: memory. */
#include "core/placement/trees/tree_walk.h"

#include <math.h>

#include "base/annealing.h"

enum { SAMPLES = 400, STEPS_MAX = 3 };

static uint32_t slots_of(const cm_tree_walk *w, uint32_t router)
{
  return router < w->chip->interconnect->columns * w->chip->interconnect->rows ? w->first_slot[router + 1] - w->first_slot[router] : 0;
}

/* A router with cores of the region some random living links from one: the last that was met. */
static uint32_t wander(cm_tree_walk *w, uint32_t router, unsigned steps)
{
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t found = router;
  for (unsigned i = 0; i < steps + STEPS_MAX && (i < steps || slots_of(w, router) == 0); i++) {
    uint32_t degree = net->first[router + 1] - net->first[router];
    if (degree == 0)
      break;
    const cm_link *link = &net->link[net->first[router] + (uint32_t)cm_random_below(&w->random, degree)];
    router = link->dead ? router : link->to;
    found = slots_of(w, router) > 0 ? router : found;
  }
  return found;
}

/* Draws a core behind another router for part u to look at: CM_NO_PART, none. */
static uint32_t propose(cm_tree_walk *w, uint32_t u)
{
  const cm_way_trees *t = w->ways;
  uint64_t bits = cm_random_next(&w->random);
  uint32_t near = bits & 3 ? cm_relative_part(t->casts, &t->inbound, &w->random, u) : u;
  uint32_t router = wander(w, t->router[near], bits & 12 ? (unsigned)(bits >> 4 & 1) : 1 + (unsigned)(bits >> 4 & 1));
  if (router == t->router[u])
    return CM_NO_PART;
  uint32_t there = w->slot[w->first_slot[router] + (uint32_t)cm_random_below(&w->random, slots_of(w, router))];
  return cm_tree_walk_alike(w, w->seat[u], there) ? there : CM_NO_PART;
}

static int64_t look(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  return cm_way_trees_look(w->ways, u, w->occupant[there], cm_router_of(w->chip, w->region->cores[there]));
}

static cm_status visit(cm_tree_walk *w, uint32_t u, double temperature, cm_error *error)
{
  uint32_t there = propose(w, u);
  if (there == CM_NO_PART)
    return CM_OK;
  int64_t change = look(w, u, there);
  if (!cm_metropolis(&w->random, (double)change, temperature, CM_HOPELESS))
    return CM_OK;
  CM_TRY(cm_way_trees_swap(w->ways, u, w->occupant[there], cm_router_of(w->chip, w->region->cores[there]), change, error));
  cm_tree_walk_seat(w, u, there);
  return CM_OK;
}

static double typical(cm_tree_walk *w)
{
  double sum = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    uint32_t u = (uint32_t)cm_random_below(&w->random, w->casts->parts), there = propose(w, u);
    if (there == CM_NO_PART)
      continue;
    sum += fabs((double)look(w, u, there));
    counted++;
  }
  return counted > 0 ? sum / counted : 0;
}

/* ---- making ---- */

static cm_status begin(cm_tree_walk *w, const uint32_t *core, cm_error *error)
{
  const cm_region *r = w->region;
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t grid = net->columns * net->rows;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->first_slot, (size_t)grid + 2), CM_ARRAY(w->slot, r->core_count)));
  for (uint32_t i = 0; i < r->core_count; i++)
    w->first_slot[cm_router_of(w->chip, r->cores[i]) + 2]++;
  for (uint32_t at = 0; at < grid; at++)
    w->first_slot[at + 2] += w->first_slot[at + 1];
  for (uint32_t i = 0; i < r->core_count; i++)
    w->slot[w->first_slot[cm_router_of(w->chip, r->cores[i]) + 1]++] = i;
  return cm_way_trees_new(w->casts, w->chip, core, w->run, &w->ways, error);
}

static double looked(const cm_tree_walk *w)
{
  return w->ways->steps;
}

static int64_t sum(const cm_tree_walk *w)
{
  return w->ways->sum;
}

static cm_status cost_of(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                         cm_error *error)
{
  cm_way_trees *trees;
  CM_TRY(cm_way_trees_new(casts, chip, core, run, &trees, error));
  *cost = (uint64_t)trees->sum << trees->weight_shift;
  cm_way_trees_free(trees);
  return CM_OK;
}

/* By some that are tried; an exchange that is made looks at others than one that is not. */
static cm_status looks_of(const cm_casts *casts, const cm_place_task *task, const uint32_t *core, double *looks, cm_error *error)
{
  cm_tree_walk *w;
  CM_TRY(cm_tree_walk_new(&(cm_tree_start){&cm_way_walk, casts, task, core, 0}, &w, error));
  double before = w->ways->steps;
  (void)typical(w);
  *looks = (1 + (w->ways->steps - before) / SAMPLES) * casts->parts;
  cm_tree_walk_free(w);
  return CM_OK;
}

const cm_tree_walk_kind cm_way_walk = {.cost = cost_of, .looks = looks_of, .begin = begin, .typical = typical, .visit = visit, .looked = looked, .sum = sum,
                                       .hot = 0.3, .cold = 0.01, .casts_min = 20, .starts_max = 1};
