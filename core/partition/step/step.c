/* Happy path: parts grown to shorter and shorter budgets while they find cores -> annealed for time -> annealed for
 * packets within that time. What can fail: no budget gives as few parts as there are cores; memory, a stop. */
#include "core/partition/step/step.h"

#include <math.h>
#include <string.h>

#include "core/partition/partition.h"
#include "core/partition/step/step_anneal.h"
#include "core/partition/step/step_bound.h"
#include "core/partition/step/step_grow.h"

/* Synapses of networks that are annealed from hot: for them heat finds more than growing. */
static const double visits_for_heat = 300;
static const double hot = 4, warm = 0.3;
/* Visits in which two of them change places; each costs two visits more. */
static const double swaps_when_hot = 0.35;
enum { SWEEPS_MIN = 4, SWEEPS_MAX = 20000 };
/* How many times the effort the fewest sweeps may take. Beyond it they visit a share of the neurons, from cold: heat would cost packets
 * that so few visits do not win back; and growing, which finds more in that time, goes on. */
static const double effort_max = 16;
enum { MORE_GROWTHS = 2 };

typedef struct search {
  const cm_step_options *o;
  cm_step_state s;
  uint32_t *best;     /* [vertices] the parts to go on with */
  uint32_t *expected; /* [nets] parts reached in the last growth */
  double best_ns;     /* of them; INFINITY: none yet */
  cm_step_window *window; /* that parts are grown along; NULL: all neurons are looked at */
} search;

static void keep(search *w)
{
  memcpy(w->best, w->s.part, w->s.demand->network->vertex_count * sizeof *w->best);
  w->best_ns = cm_step_longest_ns(&w->s);
}

static void adopt(search *w, const uint32_t *part)
{
  cm_step_state_clear(&w->s);
  for (uint32_t v = 0; v < w->s.demand->network->vertex_count; v++)
    cm_step_put(&w->s, v, part[v]);
}

/* Grows to one budget; *fits when there are cores enough. */
static cm_status grow_once(search *w, double budget, bool know, bool *fits, cm_error *error)
{
  uint32_t used;
  cm_step_state_clear(&w->s);
  CM_TRY(cm_step_grow(&w->s, budget, know ? w->expected : NULL, w->window, &used, error));
  *fits = used <= w->s.parts;
  if (*fits) {
    memcpy(w->expected, w->s.reached, w->s.demand->network->net_count * sizeof *w->expected);
    if (cm_step_longest_ns(&w->s) < w->best_ns && cm_step_is_legal(&w->s))
      keep(w);
  }
  return CM_OK;
}

/* Synapses that a sweep looks at, about: a visit looks at every input, and at the parts that its axon reaches. */
static double sweep_visits(const search *w)
{
  const cm_topology *t = w->s.demand->network;
  double reached = 1;
  for (uint32_t e = 0; e < t->net_count; e++)
    reached += (double)w->s.reached[e] / t->net_count;
  return (double)t->pin_count * (4 + reached / 4) + 64.0 * t->vertex_count;
}

/* So many sweeps as the effort allows. */
static uint32_t sweeps_of(const search *w)
{
  double sweeps = w->o->visits / sweep_visits(w);
  return sweeps < SWEEPS_MIN ? SWEEPS_MIN : sweeps > SWEEPS_MAX ? SWEEPS_MAX : (uint32_t)sweeps;
}

/* The share of the neurons that each of them visits. */
static double share_of(const search *w)
{
  return fmin(1, effort_max * w->o->visits / (SWEEPS_MIN * sweep_visits(w)));
}

/* More budgets where annealing is cut short. */
static uint32_t growths_of(const search *w)
{
  return w->o->growths + (w->o->growths > 0 && share_of(w) < 1 ? MORE_GROWTHS : 0);
}

/* The shortest budget that gives as few parts as there are cores, between a bound and what is possible. */
static cm_status grow(search *w, double bound_ns, cm_error *error)
{
  double low = bound_ns, high = INFINITY, budget = w->o->budget_ns > 0 ? w->o->budget_ns : bound_ns * 1.25;
  bool know = false;
  cm_run_phase(w->s.run, "grow");
  for (uint32_t i = 0; i < growths_of(w); i++) {
    bool fits;
    CM_TRY(grow_once(w, budget, know, &fits, error));
    know = know || fits;
    if (fits)
      high = budget;
    else
      low = budget;
    if (w->o->budget_ns > 0 && fits)
      break;
    budget = isinf(high) ? budget * (i < 4 ? 1.3 : 4) : sqrt(low * high);
    if (high / low < 1.01)
      break;
    (void)cm_run_progress(w->s.run, (i + 1.0) / growths_of(w), -1, w->s.demand->network->vertex_count, high, error);
  }
  bool fits;
  return isinf(w->best_ns) ? grow_once(w, INFINITY, false, &fits, error) : CM_OK;
}

static cm_status anneal(search *w, cm_error *error)
{
  cm_step_anneal_options o = {.budget_ns = w->o->budget_ns, .seed = w->o->seed, .sweeps = sweeps_of(w), .share = share_of(w)};
  double heat = o.share < 1 ? 0 : o.sweeps >= visits_for_heat ? hot : warm;
  o.swaps = o.sweeps >= visits_for_heat ? swaps_when_hot : 0;
  o.sweeps = (uint32_t)(o.sweeps / (1 + 2 * o.swaps));
  cm_run_phase(w->s.run, "anneal");
  if (w->o->budget_ns <= 0) {
    o.lower = true;
    o.budget_ns = w->best_ns * 0.98;
    o.heat = heat;
    const size_t mark = cm_run_within(w->s.run, 0.8); /* the second turn has a quarter of the sweeps */
    CM_TRY(cm_step_anneal(&w->s, &o, error));
    cm_run_leave(w->s.run, mark);
    o.lower = false;
    o.budget_ns = cm_step_longest_ns(&w->s);
    o.sweeps = o.sweeps / 4 + 1;
    heat = fmin(heat, warm);
  }
  o.heat = heat;
  o.seed++;
  return cm_step_anneal(&w->s, &o, error);
}

/* A time that no partition is below; with scenarios that of the longest, after all are put on one scale. */
static cm_status find_bound(search *w, double *ns, cm_error *error)
{
  cm_step_state *s = &w->s;
  cm_step_bound bound = {0};
  double each[CM_SCENARIOS_MAX], mean = 0;
  if (s->scenarios == 0) {
    cm_status status = cm_step_bound_compute(s->demand, s->costs, s->parts, 0, s->run, &bound, error);
    *ns = bound.ns;
    return status;
  }
  *ns = 0;
  for (uint32_t k = 0; k < s->scenarios; k++) {
    const cm_demand view = cm_demand_in_scenario(s->demand, k);
    CM_TRY(cm_step_bound_compute(&view, s->costs, s->parts, 0, s->run, &bound, error));
    each[k] = bound.ns;
    mean += bound.ns / s->scenarios;
    *ns = fmax(*ns, bound.ns);
  }
  if (!w->o->mean)
    return CM_OK;
  *ns = mean;
  for (uint32_t k = 0; k < s->scenarios; k++)
    s->scale[k] = each[k] > 0 ? mean / each[k] : 0;
  return CM_OK;
}

static cm_status run_search(search *w, cm_step_result *result, cm_error *error)
{
  double bound_ns = 0;
  cm_status status = find_bound(w, &bound_ns, error);
  w->s.run->bound = bound_ns;
  if (status == CM_OK && w->o->start != NULL) {
    adopt(w, w->o->start);
    if (cm_step_is_legal(&w->s))
      keep(w);
  }
  CM_THEN_IF(status, w->o->start == NULL || w->o->budget_ns <= 0 || w->best_ns > w->o->budget_ns, grow(w, bound_ns, error));
  if (status != CM_OK)
    return status;
  if (isinf(w->best_ns))
    return cm_fail(error, CM_NO_ROOM, "no parts within the core limits were grown on %u cores", w->s.parts);
  adopt(w, w->best);
  status = anneal(w, error);
  *result = (cm_step_result){cm_step_longest_ns(&w->s), w->s.packets};
  return status;
}

/* The window where growing needs one. */
static cm_status find_window(search *w, cm_step_window *window, cm_error *error)
{
  const cm_topology *t = w->s.demand->network;
  if (w->o->growth_looks <= 0 || t->vertex_count <= CM_STEP_WINDOW || cm_step_growth_looks(t, w->s.parts) <= w->o->growth_looks)
    return CM_OK;
  cm_status status = cm_step_window_new(&w->s, w->o->seed, window, error);
  if (status == CM_OK)
    w->window = window;
  return status;
}

cm_status cm_partition_for_steps(const cm_demand *demand, const cm_step_options *options, cm_run *run,
                                 uint32_t *part, uint32_t *parts, cm_step_result *result, cm_error *error)
{
  const cm_topology *topology = demand->network;
  search w = {.o = options, .best_ns = INFINITY};
  cm_step_window window = {0};
  uint32_t slots = options->parts_max < topology->vertex_count ? options->parts_max : topology->vertex_count;
  cm_run_phase(run, "grow");
  if (slots == 0)
    return cm_fail(error, CM_NO_ROOM, "there is no free core");
  cm_status status = cm_step_state_new(demand, options->costs, &options->limits, slots, run, &w.s, error);
  if (status == CM_OK && (CM_NEW(run->memory, w.best, topology->vertex_count, error) != CM_OK ||
                          CM_NEW(run->memory, w.expected, topology->net_count, error) != CM_OK))
    status = error->status;
  CM_THEN_IF(status, options->growths > 0 || options->start == NULL, find_window(&w, &window, error));
  CM_THEN(status, run_search(&w, result, error));
  run->bound = 0;
  if (status == CM_OK) {
    memcpy(part, w.s.part, topology->vertex_count * sizeof *part);
    *parts = slots;
    status = cm_close_gaps(part, topology->vertex_count, parts, run, error);
  }
  CM_FREE(w.best, w.expected);
  cm_step_window_free(&window);
  cm_step_state_free(&w.s);
  return status;
}
