/* Swaps, then annealing that tries what may help: cores near a node's own, in a window as wide as keeps half of what is
 * tried acceptable. */
#include "core/learning/agent/placement_refinement.h"

#include <math.h>

#include "base/annealing.h"
#include "core/learning/agent/trade.h"
#include "core/partition/options.h"
#include "core/placement/swaps.h"
#include "core/placement/qap/qap.h"

enum { SWAP_ROUNDS = 60, SAMPLES = 500, ADJUST_EVERY = 64, CHECK_EVERY = 1 << 16,
       SWEEPS_MAX = 2000 /* of annealing all pairs */ };

#define HEAT 0.5        /* standard deviations of the change of a trade anywhere: the first temperature */
#define COLDEST 1e-4    /* of it is the last */
#define ACCEPTANCE 0.44 /* Lam's */
#define MEMORY 512      /* tries over which acceptance is averaged */
#define LOOKS_A_TRY 12  /* what a try costs besides its neighbours, in neighbours */

typedef struct annealer {
  const cm_environment *environment;
  uint32_t *at;   /* [nodes] site */
  uint32_t *on;   /* [sites] node, CM_NOBODY: none */
  uint32_t *best; /* [nodes] */
  cm_random random;
  double window, accepted;
} annealer;

static void trade(annealer *a, uint32_t v, uint32_t to)
{
  uint32_t other = a->on[to], from = a->at[v];
  a->on[from] = other;
  a->on[to] = v;
  a->at[v] = to;
  if (other != CM_NOBODY)
    a->at[other] = from;
}

/* A site within the window around v's, other than its own; CM_NOBODY when the draw fails. */
static uint32_t draw(annealer *a, uint32_t v)
{
  const cm_environment *s = a->environment;
  uint32_t core = s->site[a->at[v]], window = (uint32_t)a->window;
  uint64_t wide = 2 * (uint64_t)window + 1, number = cm_random_below(&a->random, wide * wide);
  int64_t x = (int64_t)(core % s->chip->width) + (int64_t)(number % wide) - window;
  int64_t y = (int64_t)(core / s->chip->width) + (int64_t)(number / wide) - window;
  if (x < 0 || y < 0 || x >= s->chip->width || y >= s->chip->height)
    return CM_NOBODY;
  uint32_t to = s->site_on[(size_t)y * s->chip->width + (size_t)x];
  return to != a->at[v] ? to : CM_NOBODY;
}

/* Standard deviation of what trades change. */
static double spread_of_changes(annealer *a)
{
  double sum = 0, squares = 0;
  uint32_t count = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t v = (uint32_t)cm_random_below(&a->random, a->environment->nodes), to = draw(a, v);
    double change = to == CM_NOBODY ? 0 : (double)cm_trade_change(a->environment, a->at, a->on, v, to);
    sum += change;
    squares += change * change;
    count += to != CM_NOBODY;
  }
  return count == 0 ? 0 : sqrt(fmax(squares / count - sum / count * (sum / count), 0));
}

/* The sites around which everything lies. */
static double widest(const cm_environment *s)
{
  uint32_t columns = s->axes->columns, rows = s->axes->rows;
  return columns > rows ? columns : rows;
}

static cm_status cool(annealer *a, uint64_t tries, cm_run *run, cm_error *error)
{
  const double start = HEAT * spread_of_changes(a), most = a->window;
  const uint32_t nodes = a->environment->nodes;
  double heat = start;
  int64_t cost = 0, best = 0;
  memcpy(a->best, a->at, nodes * sizeof *a->best);
  for (uint64_t k = 0; k < tries; k++) {
    if (k % ADJUST_EVERY == 0) {
      heat = cm_cooled(start, COLDEST, (double)k / (double)tries);
      a->window = fmin(fmax(a->window * (1 - ACCEPTANCE + a->accepted), 1), most);
    }
    if (k % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
    uint32_t v = (uint32_t)cm_random_below(&a->random, nodes), to = draw(a, v);
    if (to == CM_NOBODY)
      continue;
    int64_t change = cm_trade_change(a->environment, a->at, a->on, v, to);
    bool take = (double)change <= -heat * log(1 - cm_random_unit(&a->random));
    a->accepted += ((take ? 1.0 : 0.0) - a->accepted) / MEMORY;
    if (!take)
      continue;
    trade(a, v, to);
    cost += change;
    if (cost < best && 2 * k > tries) { /* the way down in the first half is not worth noting */
      best = cost;
      memcpy(a->best, a->at, nodes * sizeof *a->best);
    }
  }
  return CM_OK;
}

/* By the placement engine, at the low temperature of its children; kept when better. */
static cm_status anneal_all_pairs(const cm_environment *environment, const cm_refine_options *options, cm_run *run, uint32_t *at,
                                  cm_error *error)
{
  uint32_t sites = environment->sites, *tried;
  double pairs = (double)sites * (sites > 1 ? sites - 1 : 1) / 2, sweeps = options->looks / pairs;
  cm_qap_options cold = {.population = 1,
                         .sweeps = sweeps > SWEEPS_MAX ? SWEEPS_MAX : (uint32_t)sweeps,
                         .seed = options->seed,
                         .start = at};
  if (cold.sweeps == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, tried, environment->nodes, error));
  cm_status status = cm_place_by_annealing(environment->graph, environment->axes, &cold, run, tried, error);
  if (status == CM_OK && cm_environment_hops(environment, tried) < cm_environment_hops(environment, at))
    memcpy(at, tried, environment->nodes * sizeof *at);
  cm_free(tried);
  return status;
}

static cm_status anneal_in_window(const cm_environment *environment, const cm_refine_options *options, cm_run *run, uint32_t *at,
                                  cm_error *error)
{
  double each = 2.0 * (double)environment->graph->entry_count / environment->nodes + LOOKS_A_TRY, tries = options->looks / each;
  annealer a = {.environment = environment, .at = at, .window = widest(environment), .accepted = ACCEPTANCE};
  if (environment->nodes < 2 || tries < 1)
    return CM_OK;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(a.on, environment->sites), CM_ARRAY(a.best, environment->nodes));
  if (status == CM_OK) {
    memset(a.on, 0xff, environment->sites * sizeof *a.on);
    for (uint32_t v = 0; v < environment->nodes; v++)
      a.on[at[v]] = v;
    cm_random_init(&a.random, options->seed, CM_STREAM_HOPS, 0);
    status = cool(&a, (uint64_t)tries, run, error);
    memcpy(at, a.best, environment->nodes * sizeof *at);
  }
  CM_FREE(a.on, a.best);
  return status;
}

cm_status cm_environment_refine(const cm_environment *environment, const cm_refine_options *options, cm_run *run, uint32_t *at,
                          cm_error *error)
{
  cm_swaps_result swapped;
  cm_region region = cm_environment_region(environment);
  cm_place_task task = {.chip = environment->chip, .region = &region, .axes = environment->axes, .run = run};
  CM_TRY(cm_place_by_swaps(environment->graph, &task, SWAP_ROUNDS, at, &swapped, error));
  return environment->sites <= CM_REFINE_FEW_SITES ? anneal_all_pairs(environment, options, run, at, error)
                                   : anneal_in_window(environment, options, run, at, error);
}

cm_status cm_acted_refine(const cm_environment *environment, const cm_refine_options *options, cm_run *run, cm_acted *acted,
                          cm_error *error)
{
  bool few = environment->sites <= CM_REFINE_FEW_SITES;
  cm_refine_options each = {few ? options->looks : 0, options->seed};
  cm_refine_options all = {CM_LAYOUTS * options->looks, options->seed};
  for (uint32_t l = 0; l < CM_LAYOUTS; l++) {
    CM_TRY(cm_environment_refine(environment, &each, run, acted[l].at, error));
    acted[l].after = cm_environment_hops(environment, acted[l].at);
  }
  cm_acted *best = &acted[cm_acted_best(acted)];
  if (few || options->looks <= 0)
    return CM_OK;
  CM_TRY(cm_environment_refine(environment, &all, run, best->at, error));
  best->after = cm_environment_hops(environment, best->at);
  return CM_OK;
}
