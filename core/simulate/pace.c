/* Happy path: the packets of the mapping -> an order of turns by what targets miss -> steps simulated under some pacings -> the shortest. What
 * can fail: memory, a stop. */
#include "core/simulate/pace.h"

#include <math.h>

#include "core/simulate/outcomes.h"
#include "core/simulate/turn_order.h"

/* STEPS: that are simulated for the figure; one for a choice. Lengths are share_least + share_step * i of the busiest core's time. They are chosen for buffers that
 * are TIGHT times smaller than those of the figure: what then still flows does so on chips whose routers hold less than it seems. */
enum { STEPS = 2, FIRST = 7, LENGTHS = 12, TIGHT = 2 };
static const double share_least = 0.66, share_step = 0.05, share_blind = 1.04;
static const uint64_t looks_max = 50000000;
static const double hops_of_search = 2e6, hops_of_step = 5e7; /* packet hops of a step, up to which pacings are searched, one is simulated */

typedef enum order { AS_NUMBERED, CHOSEN, ORDERS } order;

typedef struct pace {
  cm_traffic traffic;
  cm_simulate_options options;
  cm_run *run;
  double busiest_ns, barrier_ns;
  uint32_t *turn[ORDERS]; /* [vertices] */
  cm_pacing best;
  json_t *tried;
} pace;

bool cm_pace_is_possible(const cm_demand *demand, const cm_chip *chip)
{
  return demand->network->directed && demand->scenario_count == 0 && demand->target_cores_max == 0 && chip->costs.side_by_side;
}

/* The time of a step under a pacing, mean of so many. */
static cm_status foresee(pace *p, const cm_pacing *pacing, uint32_t steps, double *ns, cm_error *error)
{
  cm_status status = CM_OK;
  *ns = p->barrier_ns;
  p->traffic.pacing = pacing;
  for (uint32_t i = 0; i < steps; i++) {
    cm_step_outcome o;
    status = cm_simulate_step(&p->traffic, &p->options, i, p->run, &o, error);
    if (status != CM_OK)
      break;
    *ns += o.stuck > 0 ? INFINITY : o.ns / steps;
    CM_FREE(o.latency, o.carried);
  }
  p->traffic.pacing = NULL;
  return status;
}

/* A pacing by an order and a number of lengths; it becomes the best if it is. */
static cm_status attempt(pace *p, order o, double length, double *ns, cm_error *error)
{
  static const char *const names[ORDERS] = {"numbered", "chosen"};
  const cm_pacing pacing = {.ns = length * p->busiest_ns, .turn = p->turn[o]};
  CM_TRY(foresee(p, &pacing, 1, ns, error));
  if (isfinite(*ns) && *ns < p->best.step_ns) {
    p->best = pacing;
    p->best.step_ns = *ns;
  }
  json_t *told = json_pack("{s:s, s:f, s:f}", "order", names[o], "ns", pacing.ns, "step_ns", isfinite(*ns) ? *ns : 0);
  return cm_whole(json_array_append_new(p->tried, told) == 0, "the report", error);
}

/* Lengths from the first on, in one direction while steps get shorter; *next comes after those. */
static cm_status descend(pace *p, order o, int by, double before, int *next, cm_error *error)
{
  bool shorter = true;
  for (*next = FIRST + by; *next >= 0 && *next < LENGTHS && shorter; *next += by) {
    double ns;
    CM_TRY(attempt(p, o, share_least + share_step * *next, &ns, error));
    shorter = ns < before;
    before = ns;
  }
  return CM_OK;
}

/* What stands in a step's way may go at some length at once: longer ones in both orders, as long as they can be the shortest. */
static cm_status lengthen(pace *p, const int *next, cm_error *error)
{
  for (order o = 0; o < ORDERS; o++)
    for (int i = next[o]; i < LENGTHS && (share_least + share_step * i) * p->busiest_ns + p->barrier_ns < p->best.step_ns; i++) {
      double ns;
      CM_TRY(attempt(p, o, share_least + share_step * i, &ns, error));
    }
  return CM_OK;
}

static cm_status search(pace *p, cm_error *error)
{
  double at_once, ns[ORDERS];
  int shorter, next[ORDERS] = {FIRST + 1, FIRST + 1};
  p->options.buffers = cm_simulate_defaults.buffers / TIGHT;
  CM_TRY(attempt(p, AS_NUMBERED, 0, &at_once, error));
  for (order o = 0; o < ORDERS; o++)
    CM_TRY(attempt(p, o, share_least + share_step * FIRST, &ns[o], error));
  const order o = ns[CHOSEN] <= ns[AS_NUMBERED] ? CHOSEN : AS_NUMBERED;
  CM_TRY(descend(p, o, -1, ns[o], &shorter, error));
  CM_TRY(descend(p, o, 1, ns[o], &next[o], error));
  cm_pacing near = p->best, far;
  CM_TRY(lengthen(p, next, error));
  far = p->best;
  p->options.buffers = cm_simulate_defaults.buffers;
  CM_TRY_IF(near.turn != NULL, foresee(p, &(cm_pacing){.ns = near.ns, .turn = near.turn}, STEPS, &near.step_ns, error));
  if (far.turn != near.turn || far.ns != near.ns)
    CM_TRY(foresee(p, &(cm_pacing){.ns = far.ns, .turn = far.turn}, STEPS, &far.step_ns, error));
  p->best = far.step_ns < near.step_ns ? far : near;
  return CM_OK;
}

static cm_status prepare(pace *p, const cm_mapped *mapped, cm_error *error)
{
  const uint32_t vertices = mapped->demand->network->vertex_count;
  cm_memory *memory = p->run->memory;
  CM_TRY(CM_NEW(memory, p->turn[AS_NUMBERED], vertices, error));
  CM_TRY(CM_NEW(memory, p->turn[CHOSEN], vertices, error));
  CM_TRY(cm_turns_choose(&p->traffic, p->options.seed, looks_max, p->run, p->turn[CHOSEN], error));
  for (uint32_t part = 0; part < mapped->parts; part++)
    for (uint32_t first = p->traffic.member_first[part], i = first; i < p->traffic.member_first[part + 1]; i++)
      p->turn[AS_NUMBERED][p->traffic.member[i]] = i - first;
  return CM_OK;
}

cm_status cm_pace_choose(const cm_mapped *mapped, const cm_pace_task *task, cm_run *run, cm_pacing *pacing, json_t **report,
                         cm_error *error)
{
  const double blind_ns = task->busiest_ns * share_blind;
  double step_ns = fmax(blind_ns, task->links_ns) + task->barrier_ns;
  pace p = {.options = cm_simulate_defaults, .run = run, .busiest_ns = task->busiest_ns, .barrier_ns = task->barrier_ns, .best.step_ns = INFINITY, .tried = json_array()};
  CM_TRY_OR(cm_traffic_new(mapped, task->multicast, run, &p.traffic, error), json_decref(p.tried));
  p.options.multicast = task->multicast;
  p.options.frames = 0;
  cm_status status = prepare(&p, mapped, error);
  if (task->packet_hops <= hops_of_search) {
    CM_THEN(status, search(&p, error));
  } else if (status == CM_OK) {
    cm_pacing blind = {.ns = blind_ns, .turn = p.turn[CHOSEN]};
    if (task->packet_hops <= hops_of_step)
      status = foresee(&p, &blind, 1, &step_ns, error);
    blind.step_ns = step_ns;
    if (isfinite(step_ns))
      p.best = blind;
  }
  for (order o = 0; o < ORDERS; o++)
    if (status != CM_OK || p.turn[o] != p.best.turn)
      cm_free(p.turn[o]);
  cm_traffic_free(&p.traffic);
  CM_TRY_OR(status, json_decref(p.tried));
  *pacing = p.best.turn != NULL ? p.best : (cm_pacing){0};
  *report = p.tried;
  return CM_OK;
}
