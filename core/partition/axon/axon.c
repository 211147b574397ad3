#include "core/partition/axon/axon.h"

#include <math.h>
#include <string.h>

#include "core/base/threads.h"
#include "core/partition/axon/anneal.h"
#include "core/partition/axon/axon_levels.h"
#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/fill.h"
#include "core/partition/axon/grow.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* On coarse levels parts look fuller than they are: refinement below will sort their axons. The limit is raised there
 * by this much a level. */
static const double slack_per_level = 0.025;

/* On coarse levels, from this one on, an excess is penalised by so much more. Where parts are as full as the limits allow,
 * they are not to grow beyond them there, only to be split below; on the finer levels it gains nothing. */
static const double steepness = 6;
enum { STEEP_LEVEL = 3 };

/* All starts together are paid for up to so many vertices, one at least. Beyond the smaller number, where parts are
 * many, luck evens out: the sweeps of the others are worth more in fewer starts. */
enum { PAID_VERTICES = 1 << 19, START_VERTICES = 1 << 11 };

/* The same while a part's members find their place among the others. */
static const double slack_of_dissolving = 0.02;

/* Where coarser levels have been annealed the finest one begins at so much of their temperature. */
static const double finest_hot = 0.5;

/* Of parts of fewer neurons a missing one would be too many. */
enum { ROOM_LEAST = 8 };

/* However large the network is, so many sweeps are made on the finest level, and so many on the others: they are cheaper
 * by far. */
enum { SWEEPS_LEAST = 4, COARSE_LEAST = 32 };

/* With places: few sweeps end warmer than many. */
static const double cold_of_few = 0.01, cold_of_many = 0.005;

/* With places, the search ends after so many cycles without gain. */
enum { VAIN_MOST = 3 };

typedef struct work {
  const cm_axon_options *options;
  cm_run *run;
  uint64_t seed;      /* of the attempt under way */
  uint32_t start_sweeps; /* with those of the starts that are paid for and not made */
  cm_axon_levels levels;
  uint32_t *scratch;  /* [vertices] */
  const cm_prices *prices; /* NULL: parts have no places yet */
  double mean_price;  /* of what is paid */
  bool flat;          /* nothing to coarsen by: no levels but the first */
} work;

/* One way down from the coarsest level. */
typedef struct descent {
  uint32_t number;    /* names its random stream */
  double slack;       /* of inbound axons, a level */
  double hot, cold;   /* temperatures */
  bool dissolve;      /* one part fewer, to begin with */
  double bias;        /* in mean prices: every part that an axon reaches costs so much more, wherever it is */
} descent;

static cm_limits slack_limits(const cm_limits *limits, double slack)
{
  cm_limits wide = *limits;
  wide.inbound_axons = (uint64_t)((double)limits->inbound_axons * (1 + slack));
  return wide;
}

static void set_penalties(cm_axon_state *s, double strength)
{
  double sum = 0;
  for (uint32_t e = 0; e < s->graph->net_count; e++)
    sum += (double)s->graph->net_weight[e];
  double mean = (s->graph->net_count > 0 ? sum / s->graph->net_count : 1) * cm_axon_mean_price(s);
  s->penalty_axons = strength * mean;
  s->penalty_size = 4 * strength * mean;
}

/* Towards the limits: single cold sweeps under a growing penalty, and between them a few of the fullest parts are
 * split, so that neighbours of the new ones can shift. What little stays on coarse levels is left to the finer ones. */
static cm_status settle(cm_axon_state *s, cm_anneal_options sweep, double strength, cm_random *random, cm_error *error)
{
  static const uint32_t rounds[] = {8, 3, 2};
  uint32_t level = sweep.level;
  double tolerance = 0.01 * level;
  cm_status status = CM_OK;
  for (uint32_t round = 0; status == CM_OK && round < rounds[level]; round++) {
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

static cm_status refine_level(work *w, const descent *d, bool dissolve, const cm_anneal_options *options,
                              cm_random *random, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  uint32_t l = options->level;
  double strength = l == 0 ? 2 : 1;
  cm_limits limits = slack_limits(&w->options->limits, d->slack * l);
  cm_axon_state *s;
  uint32_t n = w->levels.graph[l]->vertex_count, most = w->options->parts_max < n ? w->options->parts_max : n;
  uint32_t room = w->prices != NULL ? w->prices->parts : most > *parts ? most : *parts;
  cm_prices prices;
  if (w->prices != NULL) {
    prices = *w->prices;
    prices.base += (uint32_t)(d->bias * w->mean_price);
  }
  unsigned threads = options->silent ? 1 : w->run->threads; /* starts that run side by side */
  if (cm_axon_state_new(w->levels.graph[l], &limits, w->prices != NULL ? &prices : NULL, part, *parts, room, threads,
                        w->run, &s, error) != CM_OK)
    return error->status;
  s->parts_max = w->options->parts_max;
  s->steepness = l >= STEEP_LEVEL ? steepness : 0;
  set_penalties(s, strength);
  cm_status status = dissolve ? cm_dissolve_emptiest(s, error) : CM_OK;
  if (status == CM_OK)
    status = cm_anneal(s, options, random, error);
  if (status == CM_OK && l <= 2) {
    cm_anneal_options sweep = {
        .sweeps = 1, .overfull = !w->options->settle_all, .silent = options->silent, .level = l};
    status = settle(s, sweep, strength, random, error);
  }
  if (status == CM_OK && l == 0) {
    status = cm_repair(s, error);
    cm_anneal_options cold = {.sweeps = w->options->last_sweeps, .hard = true, .silent = options->silent};
    if (status == CM_OK)
      status = cm_anneal(s, &cold, random, error);
  }
  s->prices = w->prices;
  *objective = cm_axon_cost(s) + cm_axon_penalty(s);
  *parts = s->part_count;
  cm_axon_state_free(s);
  return status;
}

/* An initial partition: grown, then annealed. */
typedef struct start {
  cm_random random;
  uint32_t *part; /* [vertices of the coarsest level] */
  uint32_t parts;
  double objective;
} start;

typedef struct starts {
  work *work;
  start *start; /* [count] */
  uint32_t count;
  bool together; /* annealed side by side, a thread each */
} starts;

static cm_status grow_start(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  work *w = all->work;
  start *it = &all->start[t];
  uint32_t l = w->levels.count - 1;
  cm_limits limits = slack_limits(&w->options->limits, slack_per_level * l);
  cm_random_init(&it->random, w->seed, CM_STREAM_BISECTION, t);
  if (t % 4 != 3 && limits.neurons >= ROOM_LEAST) /* parts that are exactly full leave refinement no room */
    limits.neurons = (uint64_t)((double)limits.neurons * 0.96);
  if (CM_NEW(w->run->memory, it->part, w->levels.graph[l]->vertex_count, error) != CM_OK)
    return error->status;
  return cm_grow_parts(w->levels.graph[l], &limits, &it->random, w->run, it->part, &it->parts, error);
}

static cm_status anneal_start(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  start *it = &all->start[t];
  cm_anneal_options options = {.sweeps = all->work->start_sweeps,
                               .hot = 0.3,
                               .cold = 0.02,
                               .silent = all->together,
                               .level = all->work->levels.count - 1};
  descent d = {.slack = slack_per_level};
  return refine_level(all->work, &d, false, &options, &it->random, it->part, &it->parts, &it->objective, error);
}

/* Side by side when that keeps all threads busy, else one after another, on all threads each. */
static cm_status anneal_starts(starts *all, cm_error *error)
{
  cm_run *run = all->work->run;
  cm_status status = CM_OK;
  all->together = all->count % run->threads == 0;
  if (all->together)
    return cm_parallel(run, all->count, anneal_start, all, error);
  for (uint32_t t = 0; t < all->count && status == CM_OK; t++)
    status = anneal_start(all, t, error);
  return status;
}

/* Of `count` starts of n vertices those that take up to `most` together; one at least. */
static uint32_t fewer_starts(uint32_t count, uint32_t n, uint32_t most)
{
  return (uint64_t)n * count <= most ? count : n >= most ? 1 : most / n;
}

static cm_status best_start(work *w, uint32_t *part, uint32_t *parts, cm_error *error)
{
  uint32_t n = w->levels.graph[w->levels.count - 1]->vertex_count, count = w->options->starts, best = 0;
  uint32_t paid = fewer_starts(count, n, PAID_VERTICES);
  count = fewer_starts(count, n, START_VERTICES);
  starts all = {.work = w, .count = count};
  w->start_sweeps = w->options->start_sweeps * paid / count;
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, all.start, count, error);
  if (status == CM_OK)
    status = cm_parallel(w->run, count, grow_start, &all, error);
  if (status == CM_OK)
    status = anneal_starts(&all, error);
  for (uint32_t t = 1; t < count && status == CM_OK; t++)
    if (all.start[t].objective < all.start[best].objective)
      best = t;
  if (status == CM_OK) {
    memcpy(part, all.start[best].part, n * sizeof *part);
    *parts = all.start[best].parts;
  }
  for (uint32_t t = 0; all.start != NULL && t < count; t++)
    cm_free(all.start[t].part);
  cm_free(all.start);
  return status;
}

/* Turns part from the coarsest level to the next finer one; the coarsest is dropped. */
static void step_down(work *w, uint32_t *part)
{
  uint32_t fine = w->levels.count - 2, n = w->levels.graph[fine]->vertex_count;
  for (uint32_t v = 0; v < n; v++)
    w->scratch[v] = part[w->levels.map[fine][v]];
  memcpy(part, w->scratch, n * sizeof *part);
  cm_axon_levels_drop(&w->levels);
}

/* Visits of all vertices of level l, of `levels` levels. */
static uint32_t sweeps_on(const work *w, const descent *d, uint32_t l, uint32_t levels)
{
  const cm_axon_options *o = w->options;
  bool fewer = d->number > 0 && o->cycle_sweeps > 0;
  uint32_t fine = fewer ? o->cycle_sweeps : o->fine_sweeps;
  if (w->prices != NULL) /* no tables make coarse levels cheap */
    return fine + fine * l / levels;
  if (l == 0)
    return fine;
  return fewer ? (o->coarse_sweeps + 1) / 2 : o->coarse_sweeps;
}

/* Refines part, given for the coarsest level, on that level and all below, which are dropped one by one; part then is
 * of level 0. */
static cm_status descend(work *w, const descent *d, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  cm_random random;
  uint32_t from = w->levels.count - 1;
  cm_run_phase(w->run, "refine");
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, d->number);
  for (uint32_t l = from;; l--) {
    cm_anneal_options options = {.sweeps = sweeps_on(w, d, l, from + 1), .hot = d->hot, .cold = d->cold, .level = l};
    if (l == 0 && from > 0)
      options.hot *= finest_hot;
    if (refine_level(w, d, d->dissolve && l == from, &options, &random, part, parts, objective, error) != CM_OK)
      return error->status;
    if (l == 0)
      return CM_OK;
    step_down(w, part);
  }
}

static cm_status first_partition(work *w, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  descent d = {.slack = slack_per_level, .hot = 0.1, .cold = 0.01};
  if (cm_axon_levels_build(&w->levels, w->options, w->seed, NULL, w->run, error) != CM_OK ||
      best_start(w, part, parts, error) != CM_OK)
    return error->status;
  if (w->levels.count > 1)
    step_down(w, part);
  return descend(w, &d, part, parts, objective, error);
}

/* ---- places ---- */

/* What the axons pay, from scratch, and what they pay on average. */
static cm_status add_up(work *w, const uint32_t *part, double *cost, cm_error *error)
{
  const cm_hypergraph *g = w->levels.graph[0];
  double sum = 0, ways = 0;
  uint32_t *seen;
  if (CM_NEW(w->run->memory, seen, w->prices->parts, error) != CM_OK)
    return error->status;
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint64_t price = 0, reached = 0;
    uint32_t home = part[g->net_source[e]];
    for (uint64_t i = g->net_begin[e]; i < g->net_end[e]; i++) {
      uint32_t p = part[cm_hypergraph_pin(g, i)];
      bool new = seen[p] != e + 1;
      price += new ? cm_price(w->prices, home, p) : 0;
      reached += new && p != home;
      seen[p] = e + 1;
    }
    sum += (double)g->net_weight[e] * (double)price;
    ways += (double)g->net_weight[e] * (double)reached;
  }
  cm_free(seen);
  *cost = sum;
  w->mean_price = ways > 0 ? sum / ways : 1;
  return CM_OK;
}

/* Gives the parts of the network itself cores, or when they have some better ones. */
static cm_status take_places(work *w, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  const cm_axon_places *places = w->options->places;
  const cm_hypergraph *g = w->levels.graph[0];
  uint32_t *at;
  if (CM_NEW(w->run->memory, at, *parts, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    w->scratch[v] = part[g->number[v]];
  cm_status status = w->prices == NULL ? places->place(places->context, w->scratch, *parts, at, &w->prices, error)
                                       : places->rearrange(places->context, w->scratch, at, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < g->vertex_count; v++)
      part[v] = at[part[v]];
    *parts = w->prices->parts;
    status = add_up(w, part, objective, error);
  }
  cm_free(at);
  return status;
}

static void keep_better(work *w, const uint32_t *trial, uint32_t count, double reached, uint32_t *part, uint32_t *parts,
                        double *objective)
{
  if (reached >= *objective)
    return;
  memcpy(part, trial, w->levels.graph[0]->vertex_count * sizeof *part);
  *parts = count;
  *objective = reached;
}

/* Improves a legal partition: coarser levels whose vertices keep to their parts, and down again, every other time with
 * one part fewer. Keeps the better one. `trial` [vertices] is overwritten. */
static cm_status cycle(work *w, uint32_t number, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                       cm_error *error)
{
  uint32_t n = w->levels.graph[0]->vertex_count, count = *parts;
  descent d = {.number = number, .hot = 0.06, .cold = 0.01};
  if (w->prices != NULL) {
    d.hot = 0.03;
    d.cold = w->options->cycle_sweeps > 0 ? cold_of_many : cold_of_few;
    d.bias = 0.3;
  } else if (number % 2 == 0) {
    d.dissolve = true;
    d.slack = slack_of_dissolving;
  }
  double reached;
  memcpy(trial, part, n * sizeof *part);
  if (!w->flat && cm_axon_levels_build(&w->levels, w->options, w->seed + number, trial, w->run, error) != CM_OK)
    return error->status;
  cm_status status = descend(w, &d, trial, &count, &reached, error);
  if (status == CM_OK && w->prices != NULL && reached < *objective)
    status = take_places(w, trial, &count, &reached, error);
  if (status == CM_NO_ROOM && w->prices != NULL) /* no core is left for a part that must be split: the cycle was in vain */
    return CM_OK;
  if (status == CM_OK)
    keep_better(w, trial, count, reached, part, parts, objective);
  return status;
}

/* How many of `most` the network's size allows when all together may take so many pins; 0 pins: any. */
static uint32_t affordable(const work *w, uint32_t most, uint64_t pins)
{
  uint64_t each = w->levels.graph[0]->pin_count + 1;
  return pins != 0 && pins / each < most ? (uint32_t)(pins / each) : most;
}

/* The parts that the caller knows; *objective is INFINITY where they break a limit. */
static cm_status measure_start(work *w, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  const cm_hypergraph *g = w->levels.graph[0];
  cm_axon_state *s;
  *parts = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    part[g->number[v]] = w->options->start[v];
    *parts = w->options->start[v] >= *parts ? w->options->start[v] + 1 : *parts;
  }
  if (cm_axon_state_new(g, &w->options->limits, NULL, part, *parts, *parts, w->run->threads, w->run, &s, error) !=
      CM_OK)
    return error->status;
  *objective = *parts <= w->options->parts_max && cm_count_overfull(s) == 0 ? cm_axon_cost(s) : INFINITY;
  cm_axon_state_free(s);
  return CM_OK;
}

/* What partitions of the network itself cost, refined there by moves that pay and keep the limits; INFINITY where they
 * break one. */
static cm_status polish(work *w, uint32_t *part, uint32_t parts, uint32_t sweeps, double *objective, cm_error *error)
{
  cm_axon_state *s;
  cm_random random;
  cm_anneal_options cold = {.sweeps = sweeps, .hard = true};
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, 1 << 20);
  if (cm_axon_state_new(w->levels.graph[0], &w->options->limits, NULL, part, parts, parts, w->run->threads, w->run, &s,
                        error) != CM_OK)
    return error->status;
  cm_status status = sweeps > 0 ? cm_anneal(s, &cold, &random, error) : CM_OK;
  *objective = parts <= w->options->parts_max && cm_count_overfull(s) == 0 ? cm_axon_cost(s) : INFINITY;
  cm_axon_state_free(s);
  return status;
}

/* Parts grown on the network itself: where levels serve it badly, and is cheap on small ones. */
static cm_status grow_fine(work *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial, cm_error *error)
{
  cm_random random;
  uint32_t count = 0;
  double reached = INFINITY;
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, 1 << 20);
  cm_run_phase(w->run, "initial");
  cm_status status =
      cm_grow_parts(w->levels.graph[0], &w->options->limits, &random, w->run, trial, &count, error);
  if (status == CM_OK)
    status = polish(w, trial, count, w->options->last_sweeps, &reached, error);
  if (status == CM_OK)
    keep_better(w, trial, count, reached, part, parts, objective);
  return status;
}

/* Where there is nothing to coarsen by: parts filled on the network itself, by weights and numbers of axons in several
 * proportions. */
static cm_status fill(work *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial, cm_error *error)
{
  static const double weights[] = {0.5, 0, 1, 0.25, 2};
  const cm_axon_options *o = w->options;
  cm_status status = CM_OK;
  cm_run_phase(w->run, "initial");
  for (uint32_t i = 0; i < o->fills && i < sizeof weights / sizeof *weights && status == CM_OK; i++) {
    cm_fill_options options = {
        .limits = o->limits, .parts_max = o->parts_max, .weight = weights[i], .work = o->fill_work, .seed = o->seed};
    uint32_t count = 0;
    double reached = INFINITY;
    status = cm_fill_parts(w->levels.topology, w->levels.graph[0], &options, w->run, trial, &count, error);
    if (status == CM_OK)
      status = polish(w, trial, count, 0, &reached, error);
    if (status == CM_OK)
      keep_better(w, trial, count, reached, part, parts, objective);
    else if (status == CM_NO_ROOM && !isinf(*objective))
      status = CM_OK;
  }
  cm_run_phase(w->run, "refine");
  return status == CM_OK && o->last_sweeps > 0 ? polish(w, part, *parts, o->last_sweeps, objective, error) : status;
}

static uint32_t scaled(uint32_t count, double share, uint32_t least)
{
  uint32_t fewer = (uint32_t)lround(count * share);
  return count <= least ? count : fewer > least ? fewer : least;
}

/* Fewer sweeps and starts for a large network. */
static void spare_sweeps(cm_axon_options *o, uint64_t pins)
{
  double all = (double)pins * o->fine_sweeps;
  if (o->sweep_pins == 0 || all <= (double)o->sweep_pins)
    return;
  double share = (double)o->sweep_pins / all;
  o->fine_sweeps = scaled(o->fine_sweeps, share, SWEEPS_LEAST);
  o->coarse_sweeps = scaled(o->coarse_sweeps, share, COARSE_LEAST);
  o->cycle_sweeps = scaled(o->cycle_sweeps, share, SWEEPS_LEAST);
  o->starts = scaled(o->starts, share, 1);
}

static cm_status search(work *w, const cm_axon_options *options, uint32_t *part, uint32_t *parts, double *objective,
                        uint32_t *trial, cm_error *error);

/* What the effort below finds: its own way is not left out for what costs more. */
static cm_status search_below(work *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                              cm_error *error)
{
  const cm_axon_options *o = w->options;
  cm_axon_options below = *o->below;
  below.limits = o->limits;
  below.parts_max = o->parts_max;
  below.seed = o->seed;
  below.start = o->start;
  cm_status status = search(w, &below, part, parts, objective, trial, error);
  w->options = o;
  if (status != CM_NO_ROOM)
    return status;
  *objective = INFINITY;
  return CM_OK;
}

/* Whether pins are few enough; 0: any number is. */
static bool few_pins(const work *w, uint64_t most)
{
  return most == 0 || w->levels.graph[0]->pin_count <= most;
}

/* Attempts to make here: none where what the effort below has found is to be refined instead. */
static uint32_t attempts_left(const work *w, bool found)
{
  const cm_axon_options *o = w->options;
  uint32_t attempts = affordable(w, o->attempts, o->attempt_pins);
  return found && o->below != NULL && !few_pins(w, o->own_pins) ? 0 : attempts > 1 ? attempts : 1;
}

/* The caller's parts, those of the effort below and of several attempts: the best. */
static cm_status begin(work *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial, cm_error *error)
{
  const cm_axon_options *o = w->options;
  uint32_t count;
  double reached;
  bool below = o->below != NULL && o->places == NULL && !w->flat && few_pins(w, o->below_pins);
  *objective = INFINITY;
  cm_status status = below              ? search_below(w, part, parts, objective, trial, error)
                     : o->start != NULL ? measure_start(w, part, parts, objective, error)
                                        : CM_OK;
  if (status == CM_OK && w->flat)
    return fill(w, part, parts, objective, trial, error);
  if (status == CM_OK && o->grow_pins != 0 && o->places == NULL && few_pins(w, o->grow_pins))
    status = grow_fine(w, part, parts, objective, trial, error);
  uint32_t attempts = attempts_left(w, below && !isinf(*objective));
  w->seed = o->seed;
  for (uint32_t i = 0; status == CM_OK && i < attempts; i++) {
    bool first = isinf(*objective);
    w->seed = o->seed + i * (uint64_t)0x9e3779b9;
    status = first_partition(w, first ? part : trial, &count, &reached, error);
    if (status == CM_NO_ROOM && !first)
      return CM_OK;
    if (status == CM_OK && first) {
      *parts = count;
      *objective = reached;
    } else if (status == CM_OK)
      keep_better(w, trial, count, reached, part, parts, objective);
  }
  return status;
}

/* First partitions, then cycles. */
static cm_status search(work *w, const cm_axon_options *options, uint32_t *part, uint32_t *parts, double *objective,
                        uint32_t *trial, cm_error *error)
{
  cm_axon_options effort = *options;
  const cm_axon_options *o = &effort;
  double reached;
  w->options = o;
  spare_sweeps(&effort, w->levels.topology->pin_count);
  cm_status status = begin(w, part, parts, objective, trial, error);
  if (o->places != NULL && status == CM_OK)
    status = take_places(w, part, parts, objective, error);
  uint32_t vain = 0; /* cycles in a row that did not help */
  uint32_t cycles = w->flat && o->places == NULL ? 0 : affordable(w, o->cycles, o->cycle_pins);
  for (uint32_t i = 1; i <= cycles && status == CM_OK && (w->prices == NULL || vain < VAIN_MOST); i++) {
    reached = *objective;
    status = cycle(w, i, part, parts, objective, trial, error);
    vain = *objective < reached ? 0 : vain + 1;
  }
  return status;
}

cm_status cm_partition_axons(const cm_topology *topology, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error)
{
  work w = {.options = options, .run = run};
  uint32_t *held = NULL, *trial = NULL, count = 0, n = topology->vertex_count;
  double objective;
  cm_status status = cm_axon_levels_begin(topology, run, &w.levels, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, held, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.scratch, n, error);
  w.flat = status == CM_OK && n > 0 && options->fills > 0 && cm_fill_suits(w.levels.graph[0]);
  if (status == CM_OK && (options->attempts > 1 || options->cycles > 0 || options->start != NULL || options->below != NULL || options->grow_pins != 0 ||
                         w.flat))
    status = CM_NEW(run->memory, trial, n, error);
  if (status == CM_OK && n > 0)
    status = search(&w, options, held, &count, &objective, trial, error);
  if (status == CM_OK && options->places == NULL)
    status = cm_close_gaps(held, n, &count, run, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      part[v] = held[w.levels.graph[0]->number[v]];
    *parts = count;
  }
  cm_free(held);
  cm_free(trial);
  cm_free(w.scratch);
  cm_axon_levels_free(&w.levels);
  return status;
}
