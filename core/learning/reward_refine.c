/* Annealing and descent on the reward. Tries are drawn where they may help: beside the nodes that one talks to, and in
 * a window around oneself that closes as it gets colder. */
#include <math.h>

#include "base/annealing.h"
#include "base/members.h"
#include "base/threads.h"
#include "core/learning/reward.h"
#include "core/partition/options.h"

enum {
  NOBODY = UINT32_MAX,
  TRIES_PER_NODE = 16, /* in a sweep */
  TRIES_MIN = 2048,    /* and on small graphs */
  CYCLE_MIN = 40,      /* sweeps of an annealing; longer on larger graphs */
  SAMPLES = 256,       /* tries that tell how large changes are */
  DESCENT_ROUNDS = 64,
  NEAR = 2,        /* steps around a neighbour's site, or one's own, that a descent looks at */
  TALKERS = 8,     /* heaviest neighbours whose surroundings it looks at */
  EXACT_NODES = 64 /* up to so many nodes every trade is looked at with its channels */
};

#define COLDEST 0.01 /* of the first temperature is the last */
#define HEAT 1 /* mean rises of the first temperature: a bad fold is to open */
#define CHANNELS_COUNT 0.02 /* dl_ratio from which on channels are worth looking at one by one */

typedef struct refiner {
  cm_reward_state *state;
  const cm_graph *parts;
  cm_run *run;
  cm_random random;
  uint32_t nodes, sites;
  uint32_t columns, rows;  /* routers of the box around the sites */
  uint32_t *column, *row;  /* [sites] inside the box */
  uint32_t *first;         /* [columns * rows + 1] sites of each router in `site_of` */
  uint32_t *site_of;       /* [sites] */
  uint64_t *weight_before; /* [entries] sums of weights along each row, to draw neighbours by weight */
  uint32_t *best;          /* [nodes] sites */
  uint32_t sweeps;         /* in all */
  int64_t least;           /* loss of the best */
  uint64_t tries, trades;
} refiner;

/* ---- where to try ---- */

/* A random site behind the router (x, y) of the box; NOBODY outside it, and where none is. */
static uint32_t site_behind(refiner *r, int64_t x, int64_t y)
{
  if (x < 0 || y < 0 || x >= r->columns || y >= r->rows)
    return NOBODY;
  uint32_t router = (uint32_t)y * r->columns + (uint32_t)x, count = r->first[router + 1] - r->first[router];
  if (count == 0)
    return NOBODY;
  return r->site_of[r->first[router] + (count > 1 ? (uint32_t)cm_random_below(&r->random, count) : 0)];
}

static uint32_t site_within(refiner *r, uint32_t site, uint32_t reach)
{
  uint64_t wide = 2 * (uint64_t)reach + 1, draw = cm_random_below(&r->random, wide * wide);
  return site_behind(r, (int64_t)r->column[site] + (int64_t)(draw % wide) - reach,
                     (int64_t)r->row[site] + (int64_t)(draw / wide) - reach);
}

/* A neighbour of v, drawn by weight; NOBODY when it talks to none. */
static uint32_t draw_neighbour(refiner *r, uint32_t v)
{
  const cm_graph *g = r->parts;
  uint64_t low = g->first[v], high = g->first[v + 1];
  if (low == high || r->weight_before[high - 1] == 0)
    return NOBODY;
  uint64_t draw = cm_random_below(&r->random, r->weight_before[high - 1]);
  while (low + 1 < high) { /* the last entry before whose end the draw lies */
    uint64_t middle = low + (high - low) / 2;
    if (r->weight_before[middle - 1] <= draw)
      low = middle;
    else
      high = middle;
  }
  return g->neighbour[low];
}

/* A site for v to trade with: beside somebody that it talks to, or within reach of its own. */
static uint32_t draw_site(refiner *r, uint32_t v, uint32_t reach)
{
  uint32_t beside = cm_random_next(&r->random) & 1 ? draw_neighbour(r, v) : NOBODY;
  if (beside != NOBODY)
    return site_within(r, cm_reward_state_site(r->state, beside), 1);
  return site_within(r, cm_reward_state_site(r->state, v), reach);
}

/* ---- annealing ---- */

/* Mean of the changes that make things worse. */
static double mean_rise(refiner *r, uint32_t reach)
{
  double sum = 0;
  uint32_t rises = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t v = (uint32_t)cm_random_below(&r->random, r->nodes), site = draw_site(r, v, reach);
    int64_t change = site == NOBODY ? 0 : cm_reward_try(r->state, cm_reward_state_site(r->state, v), site);
    sum += change > 0 ? (double)change : 0;
    rises += change > 0;
  }
  return rises > 0 ? sum / rises : 0;
}

static void keep(refiner *r)
{
  for (uint32_t v = 0; v < r->nodes; v++)
    r->best[v] = cm_reward_state_site(r->state, v);
}

/* Puts everybody back to the site kept. */
static void restore(refiner *r)
{
  for (uint32_t v = 0; v < r->nodes; v++)
    if (cm_reward_state_site(r->state, v) != r->best[v])
      (void)cm_reward_trade(r->state, cm_reward_state_site(r->state, v), r->best[v]);
}

static void sweep(refiner *r, double heat, uint32_t reach)
{
  uint64_t tries = (uint64_t)r->nodes * TRIES_PER_NODE;
  tries = tries < TRIES_MIN ? TRIES_MIN : tries;
  for (uint64_t k = 0; k < tries; k++) {
    uint32_t v = (uint32_t)cm_random_below(&r->random, r->nodes), from = cm_reward_state_site(r->state, v);
    uint32_t to = draw_site(r, v, reach);
    if (to == NOBODY || to == from)
      continue;
    r->tries++;
    double most = -heat * log(1 - cm_random_unit(&r->random));
    if ((double)cm_reward_try(r->state, from, to) > most)
      continue;
    (void)cm_reward_trade(r->state, from, to);
    r->trades++;
  }
}

/* One annealing from where things stand; the best is kept. */
static cm_status anneal_once(refiner *r, double heat, uint32_t begin, uint32_t end, cm_error *error)
{
  uint32_t widest = r->columns > r->rows ? r->columns : r->rows;
  for (uint32_t k = begin; k < end; k++) {
    double done = (double)(k - begin) / (end - begin);
    sweep(r, cm_cooled(heat, COLDEST, done), 1 + (uint32_t)((1 - done) * (1 - done) * widest / 2));
    if (cm_reward_state_loss(r->state) < r->least) {
      r->least = cm_reward_state_loss(r->state);
      keep(r);
    }
    CM_TRY(cm_run_progress(r->run, (double)k / r->sweeps, -1, r->nodes, (double)r->least / cm_reward_state_unit(r->state), error));
  }
  return CM_OK;
}

/* Small graphs are annealed again and again from the best so far, now hotter, now colder; large ones once. */
static cm_status anneal(refiner *r, const cm_reward_refine_options *options, cm_error *error)
{
  static const double heats[] = {1, 0.25, 4, 0.5, 2};
  uint32_t widest = r->columns > r->rows ? r->columns : r->rows, cycle = r->nodes > CYCLE_MIN ? r->nodes : CYCLE_MIN;
  uint32_t cycles = options->sweeps / cycle > 0 ? options->sweeps / cycle : 1;
  r->sweeps = options->sweeps;
  r->least = cm_reward_state_loss(r->state);
  double start = (options->heat > 0 ? options->heat : HEAT) * mean_rise(r, widest);
  for (uint32_t c = 0; c < cycles && options->sweeps > 0; c++) {
    double heat = start * heats[c % (sizeof heats / sizeof *heats)];
    CM_TRY(anneal_once(r, heat, (uint32_t)cm_slice_begin(options->sweeps, c, cycles),
                       (uint32_t)cm_slice_begin(options->sweeps, c + 1, cycles), error));
    restore(r);
  }
  return CM_OK;
}

/* ---- descent ---- */

/* Trades v for the best of the sites around `around`, if that helps. */
static bool improve_near(refiner *r, uint32_t v, uint32_t around, int64_t *best, uint32_t *to)
{
  uint32_t from = cm_reward_state_site(r->state, v), x = r->column[around], y = r->row[around];
  for (uint32_t j = y < NEAR ? 0 : y - NEAR; j <= y + NEAR && j < r->rows; j++)
    for (uint32_t i = x < NEAR ? 0 : x - NEAR; i <= x + NEAR && i < r->columns; i++)
      for (uint32_t k = r->first[j * r->columns + i]; k < r->first[j * r->columns + i + 1]; k++) {
        int64_t change = cm_reward_try(r->state, from, r->site_of[k]);
        r->tries++;
        if (change < *best) {
          *best = change;
          *to = r->site_of[k];
        }
      }
  return *best < 0;
}

/* The neighbours that v talks to most, heaviest first, in talker [TALKERS]; returns how many. */
static uint32_t find_talkers(const refiner *r, uint32_t v, uint32_t *talker)
{
  const cm_graph *g = r->parts;
  uint64_t weight[TALKERS];
  uint32_t count = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    if (count == TALKERS && g->weight[i] <= weight[count - 1])
      continue;
    uint32_t at = count < TALKERS ? count++ : count - 1;
    for (; at > 0 && weight[at - 1] < g->weight[i]; at--) {
      weight[at] = weight[at - 1];
      talker[at] = talker[at - 1];
    }
    weight[at] = g->weight[i];
    talker[at] = g->neighbour[i];
  }
  return count;
}

static bool improve(refiner *r, uint32_t v)
{
  uint32_t talker[TALKERS], to = NOBODY, own = cm_reward_state_site(r->state, v);
  uint32_t count = find_talkers(r, v, talker);
  int64_t best = 0;
  bool better = improve_near(r, v, own, &best, &to);
  for (uint32_t k = 0; k < count; k++)
    better |= improve_near(r, v, cm_reward_state_site(r->state, talker[k]), &best, &to);
  if (!better)
    return false;
  (void)cm_reward_trade(r->state, own, to);
  r->trades++;
  return true;
}

static cm_status descend(refiner *r, cm_error *error)
{
  bool better = true;
  for (uint32_t round = 0; round < DESCENT_ROUNDS && better; round++) {
    better = false;
    for (uint32_t v = 0; v < r->nodes; v++)
      better |= improve(r, v);
    CM_TRY(cm_run_check(r->run, error));
  }
  return CM_OK;
}

/* Trades that raise the reward, channels and all. */
static cm_status descend_exactly(refiner *r, cm_error *error)
{
  cm_reward now, then;
  CM_TRY(cm_reward_state_reward(r->state, &now, error));
  bool better = r->nodes <= EXACT_NODES && now.dl_ratio >= CHANNELS_COUNT;
  for (uint32_t round = 0; round < DESCENT_ROUNDS && better; round++) {
    better = false;
    for (uint32_t v = 0; v < r->nodes; v++)
      for (uint32_t site = 0; site < r->sites; site++) {
        uint32_t from = cm_reward_state_site(r->state, v);
        (void)cm_reward_trade(r->state, from, site);
        CM_TRY(cm_reward_state_reward(r->state, &then, error));
        r->tries++;
        if (then.reward > now.reward) {
          now = then;
          r->trades++;
          better = true;
        } else {
          (void)cm_reward_trade(r->state, from, site);
        }
      }
    CM_TRY(cm_run_check(r->run, error));
  }
  return CM_OK;
}

/* ---- all ---- */

static cm_status box_new(refiner *r, const cm_reward_task *task, cm_error *error)
{
  const cm_chip *chip = task->chip;
  uint32_t west = UINT32_MAX, north = UINT32_MAX, east = 0, south = 0;
  for (uint32_t k = 0; k < r->sites; k++) {
    uint32_t x = task->site[k] % chip->width / chip->router_x, y = task->site[k] / chip->width / chip->router_y;
    r->column[k] = x;
    r->row[k] = y;
    west = x < west ? x : west;
    east = x > east ? x : east;
    north = y < north ? y : north;
    south = y > south ? y : south;
  }
  r->columns = east - west + 1;
  r->rows = south - north + 1;
  uint32_t *router, routers = r->columns * r->rows;
  CM_TRY(CM_NEW_ALL(r->run->memory, error, CM_ARRAY(r->first, (size_t)routers + 2), CM_ARRAY(router, r->sites)));
  for (uint32_t k = 0; k < r->sites; k++) {
    r->column[k] -= west;
    r->row[k] -= north;
    router[k] = r->row[k] * r->columns + r->column[k];
  }
  cm_sort_members(router, r->sites, routers, r->first, r->site_of);
  cm_free(router);
  return CM_OK;
}

static cm_status refiner_fill(refiner *r, const cm_reward_task *task, const uint32_t *core, cm_error *error)
{
  const cm_graph *g = task->parts;
  CM_TRY(cm_reward_state_new(task, core, r->run, &r->state, error));
  CM_TRY(CM_NEW_ALL(r->run->memory, error, CM_ARRAY(r->column, r->sites), CM_ARRAY(r->row, r->sites), CM_ARRAY(r->site_of, r->sites),
                    CM_ARRAY(r->weight_before, g->entry_count), CM_ARRAY(r->best, r->nodes)));
  CM_TRY(box_new(r, task, error));
  for (uint32_t v = 0; v < r->nodes; v++) {
    uint64_t sum = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      r->weight_before[i] = sum += g->weight[i];
  }
  keep(r);
  return CM_OK;
}

static void refiner_free(refiner *r)
{
  cm_reward_state_free(r->state);
  CM_FREE(r->column, r->row, r->first, r->site_of, r->weight_before, r->best);
}

/* Anneals and descends; what came in stands again where the reward did not rise. */
static cm_status refine(refiner *r, const cm_reward_refine_options *options, cm_reward_refined *result,
                        cm_error *error)
{
  if (cm_reward_state_reward(r->state, &result->before, error) != CM_OK || anneal(r, options, error) != CM_OK ||
      descend(r, error) != CM_OK || descend_exactly(r, error) != CM_OK)
    return error->status;
  result->tries = r->tries;
  result->trades = r->trades;
  return cm_reward_state_reward(r->state, &result->after, error);
}

cm_status cm_reward_refine(const cm_reward_task *task, const cm_reward_refine_options *options, cm_run *run, uint32_t *core,
                           cm_reward_refined *result, cm_error *error)
{
  cm_reward_refined found = {0};
  refiner r = {.parts = task->parts, .run = run, .nodes = task->parts->vertex_count, .sites = task->sites};
  if (r.nodes == 0) {
    *result = found;
    return CM_OK;
  }
  cm_run_phase(run, "refine");
  cm_random_init(&r.random, options->seed, CM_STREAM_REWARD, 0);
  cm_status status = refiner_fill(&r, task, core, error);
  CM_THEN(status, refine(&r, options, &found, error));
  if (status == CM_OK) {
    if (found.after.reward > found.before.reward)
      for (uint32_t v = 0; v < r.nodes; v++)
        core[v] = task->site[cm_reward_state_site(r.state, v)];
    else
      found.after = found.before;
    *result = found;
  }
  refiner_free(&r);
  return status;
}
