/* Happy path: the score of the placement given -> of the others within the tolerance -> annealing of the best one by
 * its score, a swap or a move to an empty core at a time. What can fail: memory, cancel. */
#include "core/placement/relief/relief.h"

#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "core/partition/options.h"
#include "core/placement/trades.h"

const double cm_relief_dearer = 1.01;

/* Powers of the highest load in the score. */
static const double rate = 0.2;

/* Temperatures in mean changes of the cost by a random swap. A swap that costs more than it may and this, as a share of
 * all, is not looked at closer: loads will not make up for it. */
static const double hot = 0.1, cold = 0.01, hopeless = 0.02;

enum { SAMPLES = 200, CHECK_EVERY = 256 };

typedef struct state {
  const cm_graph *parts;
  const cm_place_task *task;
  const cm_axes *axes;
  cm_loads *loads;
  uint32_t *at;       /* [parts] */
  uint32_t *occupant; /* [cores] CM_NOBODY: empty */
  double *held;       /* [routers] loads before a swap */
  double cost, highest;
} state;

typedef struct record {
  uint32_t *at; /* [parts] */
  double cost, highest;
} record;

double cm_relief_score(double cost, double highest)
{
  return log(fmax(cost, 1)) + rate * log(fmax(highest, 1));
}

static void keep(record *best, const state *s)
{
  memcpy(best->at, s->at, s->parts->vertex_count * sizeof *best->at);
  best->cost = s->cost;
  best->highest = s->highest;
}

static void stand(state *s, const uint32_t *at, double cost)
{
  uint32_t n = s->parts->vertex_count;
  memcpy(s->at, at, n * sizeof *at);
  for (uint32_t c = 0; c < s->axes->count; c++)
    s->occupant[c] = CM_NOBODY;
  for (uint32_t p = 0; p < n; p++)
    s->occupant[at[p]] = p;
  s->cost = cost;
  cm_loads_fill(s->loads, at);
  s->highest = cm_loads_highest(s->loads);
}

/* What part u pays more on core `there`, when what stands there, if anything, takes its core. */
static double dearer(const state *s, uint32_t u, uint32_t there)
{
  const cm_graph *g = s->parts;
  uint32_t here = s->at[u], other = s->occupant[there];
  int64_t sum = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t v = g->neighbour[i];
    if (v != other)
      sum += (int64_t)g->weight[i] * ((int64_t)cm_axes_distance(s->axes, there, s->at[v]) -
                                      (int64_t)cm_axes_distance(s->axes, here, s->at[v]));
  }
  return (double)sum;
}

static double swap_cost(const state *s, uint32_t u, uint32_t there)
{
  uint32_t other = s->occupant[there];
  return dearer(s, u, there) + (other != CM_NOBODY ? dearer(s, other, s->at[u]) : 0);
}

/* A swap with its loads; they are as before again where its score rises by more than `allowed`. */
static bool try_swap(state *s, uint32_t u, uint32_t there, double change, double allowed)
{
  uint32_t here = s->at[u], other = s->occupant[there];
  size_t routers = (size_t)s->loads->x.length * s->loads->y.length;
  memcpy(s->held, s->loads->load, routers * sizeof *s->held);
  for (int turn = 0; turn < 2; turn++) {
    cm_loads_book(s->loads, s->at, u, CM_NOBODY, turn == 0 ? -1 : 1);
    if (other != CM_NOBODY)
      cm_loads_book(s->loads, s->at, other, u, turn == 0 ? -1 : 1);
    if (turn == 0)
      cm_trade_places(s->at, s->occupant, u, there);
  }
  double highest = cm_loads_highest(s->loads);
  if (cm_relief_score(s->cost + change, highest) - cm_relief_score(s->cost, s->highest) <= allowed) {
    s->cost += change;
    s->highest = highest;
    return true;
  }
  cm_trade_places(s->at, s->occupant, u, here);
  memcpy(s->loads->load, s->held, routers * sizeof *s->held);
  return false;
}

/* The mean change of the cost by a random swap, as a share of all. */
static double unit_of(const state *s, cm_random *random)
{
  double sum = 0;
  for (int i = 0; i < SAMPLES; i++) {
    uint32_t u = (uint32_t)cm_random_below(random, s->parts->vertex_count);
    uint32_t there = (uint32_t)cm_random_below(random, s->axes->count);
    if (there != s->at[u])
      sum += fabs(swap_cost(s, u, there));
  }
  return sum / SAMPLES / s->cost;
}

static cm_status anneal(state *s, double least, const cm_relief_options *o, record *best, cm_error *error)
{
  cm_random random;
  cm_random_init(&random, s->task->seed, CM_STREAM_RELIEF, 0);
  double unit = unit_of(s, &random), begin = s->loads->touched, part = 0, looks = 0;
  for (uint64_t k = 0; part < 1; k++) {
    CM_TRY_IF(k % CHECK_EVERY == 0, cm_run_check(s->task->run, error));
    double warmth = cm_cooled(hot, cold / hot, part) * unit;
    uint32_t u = (uint32_t)cm_random_below(&random, s->parts->vertex_count);
    uint32_t there = (uint32_t)cm_random_below(&random, s->axes->count);
    double allowed = -log(1 - cm_random_unit(&random)) * warmth;
    looks += 16 + (double)(s->parts->first[u + 1] - s->parts->first[u]);
    part = (s->loads->touched - begin + looks) / o->work;
    if (there == s->at[u])
      continue;
    double change = swap_cost(s, u, there);
    if (change > (allowed + hopeless) * s->cost || !try_swap(s, u, there, change, allowed))
      continue;
    if (s->cost <= least * cm_relief_dearer &&
        cm_relief_score(s->cost, s->highest) < cm_relief_score(best->cost, best->highest))
      keep(best, s);
  }
  return CM_OK;
}

static cm_status search(state *s, const cm_relief_options *o, record *best, double *before, cm_error *error)
{
  double least = (double)cm_axes_cost(s->parts, s->axes, best->at);
  stand(s, best->at, least);
  keep(best, s);
  *before = s->highest;
  for (uint32_t i = 0; o->others != NULL && i < o->others->count; i++) {
    if ((double)o->others->cost[i] > least * cm_relief_dearer)
      continue;
    stand(s, o->others->at + (size_t)i * s->parts->vertex_count, (double)o->others->cost[i]);
    if (cm_relief_score(s->cost, s->highest) < cm_relief_score(best->cost, best->highest))
      keep(best, s);
    CM_TRY(cm_run_check(s->task->run, error));
  }
  if (best->cost == 0 || best->highest == 0)
    return CM_OK;
  stand(s, best->at, best->cost);
  return anneal(s, least, o, best, error);
}

cm_status cm_relieve(const cm_graph *parts, const cm_place_task *task, const cm_relief_options *options, uint32_t *at,
                     cm_relief_result *result, cm_error *error)
{
  state s = {.parts = parts, .task = task, .axes = task->axes, .loads = options->loads};
  record best = {.at = at};
  cm_relief_result made = {.least = cm_axes_cost(parts, task->axes, at)};
  cm_status status = CM_NEW_ALL(task->run->memory, error, CM_ARRAY(s.at, parts->vertex_count), CM_ARRAY(s.occupant, task->axes->count),
                                CM_ARRAY(s.held, (size_t)s.loads->x.length * s.loads->y.length));
  CM_THEN_IF(status, parts->vertex_count > 0, search(&s, options, &best, &made.before, error));
  CM_FREE(s.at, s.occupant, s.held);
  CM_TRY(status);
  made.cost = cm_axes_cost(parts, task->axes, at);
  made.highest = best.highest;
  *result = made;
  return CM_OK;
}
