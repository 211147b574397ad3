#include "core/partition/axon/axon_search.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/options.h"
#include "core/partition/refiner.h"

/* Sweeps towards the limits on a level. */
enum { SETTLE_ROUNDS = 8 };

/* In limits, of all parts together: what may be too much on coarse levels. */
static const double excess_left = 0.1;

/* Parts take their shape on the levels where they have up to so many vertices each: more cost too much. There a first descent spends the
 * effort's shaping on visits that begin hotter. */
static const double shaping_max = 64;

cm_limits cm_axon_level_limits(const cm_axon_search *w, uint32_t level, double slack)
{
  const cm_limits *limits = &w->options->limits;
  double share = 1 + slack * level;
  cm_limits made = *limits;
  made.inbound_axons = (uint64_t)((double)limits->inbound_axons * share);
  if (w->levels.graph[level]->reach_max != 0) /* axons are copies of their sources there */
    made.neurons = (uint64_t)((double)limits->neurons * share);
  if (limits->axon_bits != 0)
    made.memory_bits = (uint64_t)((double)limits->memory_bits * share);
  return made;
}

/* A neuron too many costs as much as so many axons: it brings many along. A copy of one brings none. */
static const double neuron_axons = 4;

static void set_penalties(cm_axon_state *s, double strength)
{
  double sum = 0;
  uint32_t nets = s->graph->net_count;
  for (uint32_t e = 0; e < nets; e++)
    sum += (double)s->graph->net_weight[e];
  double mean = (nets > 0 ? sum / nets : 1) * cm_axon_mean_price(s);
  s->penalty_axons = strength * mean;
  s->penalty_size = (s->copies != NULL ? 1 : neuron_axons) * strength * mean;
}

/* What refiners work on. */
typedef struct level {
  const cm_axon_search *search;
  const cm_axon_descent *descent;
  const cm_anneal_options *annealing;
  cm_axon_state *state;
  cm_random *random;
  double strength; /* of penalties */
} level;

static bool always(CM_UNUSED const void *on)
{
  return true;
}

static bool suits_dissolving(const void *on)
{
  const level *l = on;
  return l->descent->dissolve;
}

static cm_status dissolve(void *on, cm_error *error)
{
  const level *l = on;
  return cm_dissolve_emptiest(l->state, error);
}

static cm_status anneal(void *on, cm_error *error)
{
  const level *l = on;
  return cm_anneal(l->state, l->annealing, l->random, error);
}

/* Towards the limits: single sweeps under a growing penalty. They are warm at first, or what is too much stays where it
 * is: one vertex takes few axons along where nets reach many. Splitting adds the axons that both halves need, and is
 * for where much is too much on a coarse level. As many are split as limits are too much. What little stays
 * on coarse levels is left to the finer ones. */
static cm_status settle(void *on, cm_error *error)
{
  const level *l = on;
  cm_axon_state *s = l->state;
  uint32_t at = l->annealing->level;
  cm_anneal_options sweep = {.sweeps = 1, .cold = CM_AXON_COLD, .silent = l->annealing->silent, .level = at};
  double tolerance = 0.01 * at;
  cm_status status = CM_OK;
  for (uint32_t round = 0; status == CM_OK && round < SETTLE_ROUNDS; round++) {
    double excess = cm_total_excess(s);
    set_penalties(s, l->strength * (2 << (round < 4 ? round : 4)));
    if (excess <= 0)
      break;
    uint32_t split;
    if (at > 0 && excess > excess_left)
      status = cm_split_overfull(s, tolerance, 1 + (uint32_t)excess, &split, error);
    CM_THEN(status, cm_anneal(s, &sweep, l->random, error));
  }
  return status;
}

/* The finest level ends within the limits, by moves that pay. */
static bool is_finest(const void *on)
{
  const level *l = on;
  return l->annealing->level == 0;
}

static cm_status repair(void *on, cm_error *error)
{
  const level *l = on;
  return cm_repair(l->state, error);
}

static cm_status polish(void *on, cm_error *error)
{
  const level *l = on;
  cm_anneal_options cold = {.sweeps = cm_axon_last_sweeps(l->search), .hard = true, .silent = l->annealing->silent};
  return cm_anneal(l->state, &cold, l->random, error);
}

cm_status cm_axon_refine_level(cm_axon_search *w, const cm_axon_descent *d, const cm_anneal_options *options, cm_random *random,
                               cm_axon_solution *solution, cm_error *error)
{
  uint32_t l = options->level;
  double strength = l == 0 ? 2 : 1;
  cm_limits limits = cm_axon_level_limits(w, l, d->slack);
  cm_axon_state *s;
  uint32_t n = w->levels.graph[l]->vertex_count, most = w->options->parts_max < n ? w->options->parts_max : n;
  cm_prices prices;
  if (w->prices != NULL) {
    prices = *w->prices;
    prices.base += (uint32_t)(d->bias * w->mean_price);
  }
  cm_axon_state_options made = {.limits = &limits,
                                .prices = w->prices != NULL ? &prices : NULL,
                                .part = solution->part,
                                .parts = solution->parts,
                                .parts_max = w->prices != NULL ? w->prices->parts : most,
                                .threads =
                                  options->silent ? 1 : 0}; /* starts that run side by side: inbound nets are listed then */
  CM_TRY(cm_axon_levels_list(&w->levels, l, w->run, error));
  CM_TRY(cm_axon_state_new(w->levels.graph[l], &made, w->run, &s, error));
  s->parts_max = w->options->parts_max;
  set_penalties(s, strength);
  static const cm_refiner row[] = {
    {suits_dissolving, dissolve}, {always, anneal}, {always, settle}, {is_finest, repair}, {is_finest, polish}};
  level on = {.search = w, .descent = d, .annealing = options, .state = s, .random = random, .strength = strength};
  cm_status status = cm_refine(row, sizeof row / sizeof *row, &on, error);
  s->prices = w->prices;
  solution->cost = cm_axon_cost(s) + cm_axon_penalty(s);
  solution->parts = s->part_count;
  cm_axon_state_free(s);
  return status;
}

void cm_axon_step_down(cm_axon_search *w, uint32_t *part)
{
  uint32_t fine = w->levels.count - 2, n = w->levels.graph[fine]->vertex_count;
  for (uint32_t v = 0; v < n; v++)
    w->scratch[v] = part[w->levels.map[fine][v]];
  memcpy(part, w->scratch, n * sizeof *part);
  cm_axon_levels_drop(&w->levels, w->levels.count - 1);
}

/* Visits of all vertices of level l, of `levels` levels. */
static uint32_t sweeps_on(const cm_axon_search *w, const cm_axon_descent *d, uint32_t l, uint32_t levels)
{
  uint32_t half = d->number > 0 && w->options->attempts > 1 ? 2 : 1;
  uint32_t fine = (w->options->fine_sweeps + half - 1) / half, coarse = (w->options->sweeps + half - 1) / half;
  if (w->prices != NULL) /* no tables make coarse levels cheap */
    return fine + fine * l / levels;
  return l == 0 ? fine : l == 1 && 2 * fine < coarse ? 2 * fine : coarse;
}

/* More and hotter visits where parts take their shape. */
static void shape(const cm_axon_search *w, uint32_t parts, cm_anneal_options *options)
{
  const cm_hypergraph *g = w->levels.graph[options->level];
  double each = (double)g->vertex_count / parts, sweeps = w->options->shaping * (double)w->levels.graph[0]->pin_count / ((double)g->pin_count + 1);
  if (each >= shaping_max || sweeps <= options->sweeps)
    return;
  options->sweeps = (uint32_t)sweeps;
  options->hot = w->options->shaping_hot;
}

cm_status cm_axon_descend(cm_axon_search *w, const cm_axon_descent *d, cm_axon_solution *s, cm_error *error)
{
  cm_random random;
  cm_axon_descent on_level = *d; /* a part is dissolved on the coarsest one */
  uint32_t from = w->levels.count - 1;
  cm_run_phase(w->run, "refine");
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, d->number);
  for (uint32_t l = from;; l--) {
    cm_anneal_options options = {.sweeps = sweeps_on(w, d, l, from + 1), .hot = d->hot, .cold = d->cold, .level = l};
    if (l > 0 && d->number == 0 && w->prices == NULL)
      shape(w, s->parts, &options);
    const size_t mark = cm_run_within(w->run, 1 / (1 + 1.5 * l));
    CM_TRY(cm_axon_refine_level(w, &on_level, &options, &random, s, error));
    cm_run_leave(w->run, mark);
    on_level.dissolve = false;
    if (l == 0)
      return CM_OK;
    cm_axon_step_down(w, s->part);
  }
}
