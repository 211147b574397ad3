/* Happy path of time: the least time that is found -> the fewest packets within it. Of energy: the parts of objective
 * axon -> fewer packets, whatever the time or within a budget. Of edp: time, then longer and longer budgets while energy times time falls.
 * What can fail: no chip, undirected networks, no parts within the limits; memory, a stop. */
#include "core/solver/mappers/step_engine.h"

#include <math.h>

#include "core/partition/flows.h"
#include "core/partition/step/loads.h"
#include "core/solver/presets.h"

/* Within a budget two starts share the effort of one that looks for the shortest time too. */
static const double share_of_budgets = 0.3;

/* Each budget of objective edp over the one before. */
static const double edp_step = 1.3;
enum { EDP_BUDGETS_MAX = 24 };

static cm_step_options step_options(const cm_engine_task *task)
{
  cm_step_options options = cm_effort_of(task->input->options)->steps;
  options.costs = &task->input->chip->costs;
  options.limits = task->limits;
  options.parts_max = task->parts != 0 ? task->parts : task->parts_max;
  options.visits *= task->input->share > 0 ? task->input->share : 1;
  options.mean = task->input->options->scenarios == CM_SCENARIOS_MEAN;
  options.seed = task->input->options->seed;
  return options;
}

/* Runs the search into a new partition. */
static cm_status search(const cm_engine_task *task, const cm_step_options *options, cm_run *run, cm_partition **made,
                        cm_step_result *result, cm_error *error)
{
  const cm_topology *t = task->input->demand->network;
  cm_partition *p;
  CM_TRY(cm_partition_new(t->vertex_count, run, &p, error));
  cm_status status = cm_partition_for_steps(task->input->demand, options, run, p->part, &p->part_count, result, error);
  CM_END(status, *made = p, cm_partition_free(p));
}

/* What of the time that is left, about: parts of objective axon take beside annealing them; annealing them takes beside parts that are grown
 * too; a first search takes beside longer budgets, and each of these. */
static const double share_of_start = 0.15, share_of_axons = 0.55, share_of_first = 0.6, share_of_longer = 0.6;

/* The parts of objective axon, as many as it likes up to the number that is asked for; NULL where it finds none. */
static cm_status start_of_axons(const cm_engine_task *task, cm_run *run, cm_partition **start, cm_error *error)
{
  cm_engine_task any = *task;
  if (any.parts != 0)
    any.parts_max = any.parts;
  any.parts = 0;
  const cm_engine *axons = cm_engine_find((cm_preset)task->input->options->preset, CM_OBJECTIVE_AXON);
  cm_attempt ignored = {0};
  *start = NULL;
  const size_t mark = cm_run_enter(run, share_of_start);
  cm_status status = axons->partition(&any, run, &ignored, start, error);
  cm_run_leave(run, mark);
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
}

/* Time of the busiest of some parts, in ns. */
static cm_status busiest_of(const cm_engine_task *task, const cm_partition *p, cm_run *run, double *ns, cm_error *error)
{
  const cm_costs *costs = &task->input->chip->costs;
  const cm_demand *demand = task->input->demand;
  bool mean = task->input->options->scenarios == CM_SCENARIOS_MEAN;
  cm_core_events *events;
  cm_status status = CM_OK;
  CM_TRY(CM_NEW(run->memory, events, p->part_count, error));
  *ns = 0;
  for (uint32_t k = 0; status == CM_OK && (k == 0 || k < demand->scenario_count); k++) {
    const cm_demand view = demand->scenario_count > 0 ? cm_demand_in_scenario(demand, k) : *demand;
    double longest = 0;
    status = cm_step_loads(&view, p->part, p->part_count, run, events, error);
    for (uint32_t i = 0; status == CM_OK && i < p->part_count; i++)
      longest = fmax(longest, cm_core_ns(costs, cm_receive_ns(costs, &events[i]), cm_send_ns(costs, &events[i])));
    *ns = demand->scenario_count > 0 && mean ? *ns + longest / demand->scenario_count : fmax(*ns, longest);
  }
  cm_free(events);
  return status;
}

/* Neurons a part, on average. */
static uint64_t mean_part(const cm_demand *demand, const cm_partition *p)
{
  return (demand->size_total + p->part_count - 1) / p->part_count;
}

/* Parts of objective axon whose busiest core takes about as long as the budget: smaller and smaller ones, until it does.
 * NULL where it finds none. */
static cm_status start_within(const cm_engine_task *task, double budget_ns, cm_run *run, cm_partition **start,
                              cm_error *error)
{
  enum { TRIES = 4 };
  static const double near = 1.08; /* annealing does the rest */
  cm_engine_task smaller = *task;
  *start = NULL;
  for (uint32_t i = 0; i < TRIES; i++) {
    cm_partition *made;
    double ns;
    CM_TRY(start_of_axons(&smaller, run, &made, error));
    if (made == NULL)
      return CM_OK;
    cm_status status = busiest_of(&smaller, made, run, &ns, error);
    if (status == CM_OK && ns <= budget_ns * near) {
      *start = made;
      return CM_OK;
    }
    uint64_t mean = mean_part(task->input->demand, made);
    cm_partition_free(made);
    if (status != CM_OK)
      return status;
    smaller.limits.neurons = (uint64_t)((double)mean * budget_ns / ns);
    if (smaller.limits.neurons < task->input->demand->size_total / task->parts_max + 1)
      return CM_OK;
  }
  return CM_OK;
}

/* Fewer packets within a budget, from the parts of objective axon. NULL: these are no help. */
static cm_status from_axons(const cm_engine_task *task, cm_step_options options, cm_run *run, cm_partition **made,
                            cm_step_result *result, cm_error *error)
{
  cm_partition *start;
  bool any = isinf(options.budget_ns);
  *made = NULL;
  if ((any ? start_of_axons(task, run, &start, error) : start_within(task, options.budget_ns, run, &start, error)) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  if (start != NULL && start->part_count <= options.parts_max) {
    uint32_t spare = any ? 0 : start->part_count / 16 + 1;
    options.start = start->part;
    options.growths = 0;
    if (start->part_count + spare < options.parts_max)
      options.parts_max = start->part_count + spare;
    status = search(task, &options, run, made, result, error);
  }
  cm_partition_free(start);
  return status;
}

/* The shortest step that was found. */
typedef struct shortest {
  cm_partition *partition;
  double ns; /* what of a step it decides */
} shortest;

/* Takes what was made over; true where its step is shorter. */
static bool keep_shorter(const cm_engine_task *task, cm_partition *made, const cm_step_result *result, shortest *s)
{
  const double ns = result->busiest_ns + cm_between_ns(&task->input->chip->costs.barrier, made->part_count, 0, result->packets);
  const bool better = s->partition == NULL || ns < s->ns;
  cm_partition_free(better ? s->partition : made);
  if (better)
    *s = (shortest){made, ns};
  return better;
}

/* Neurons in their order, as many on each of as many cores, then fewer packets within their time. */
static cm_status from_order(const cm_engine_task *task, cm_step_options options, cm_run *run, shortest *s, cm_error *error)
{
  const uint32_t n = task->input->demand->network->vertex_count, parts = s->partition->part_count;
  cm_partition *order, *made;
  cm_step_result result;
  CM_TRY(cm_partition_new(n, run, &order, error));
  order->part_count = parts;
  for (uint32_t v = 0; v < n; v++)
    order->part[v] = (uint32_t)((uint64_t)v * parts / n);
  options.start = order->part;
  options.parts_max = parts;
  options.growths = 0;
  options.visits *= share_of_budgets;
  cm_status status = busiest_of(task, order, run, &options.budget_ns, error);
  CM_THEN(status, search(task, &options, run, &made, &result, error));
  cm_partition_free(order);
  if (status == CM_OK)
    (void)keep_shorter(task, made, &result, s);
  return status;
}

/* Where packets go one after another between steps: the fewest packets; twice as many cores as they take while that shortens the step; neurons in
 * their order. */
static cm_status for_queue(const cm_engine_task *task, cm_step_options options, cm_run *run, shortest *s, cm_error *error)
{
  const uint32_t most = options.parts_max;
  cm_partition *made;
  cm_step_result result;
  bool better = true;
  options.budget_ns = INFINITY;
  CM_TRY(from_axons(task, options, run, &made, &result, error));
  options.budget_ns = 0;
  if (made != NULL) {
    options.parts_max = made->part_count;
    (void)keep_shorter(task, made, &result, s);
    while (better && options.parts_max < most / 2) {
      options.parts_max *= 2;
      CM_TRY(search(task, &options, run, &made, &result, error));
      better = keep_shorter(task, made, &result, s);
    }
  }
  return from_order(task, options, run, s, error);
}

/* The shortest time of the busiest core, or of that with packets between steps. */
static cm_status for_time(const cm_engine_task *task, cm_run *run, CM_UNUSED cm_attempt *attempt, cm_partition **partition,
                          cm_error *error)
{
  const bool queue = task->input->chip->costs.barrier.packet_ns > 0;
  const cm_step_options options = step_options(task);
  shortest s = {0};
  cm_partition *made;
  cm_step_result result;
  const size_t mark = cm_run_enter(run, queue ? share_of_first : 1);
  cm_status status = search(task, &options, run, &made, &result, error);
  cm_run_leave(run, mark);
  if (status != CM_OK)
    return status;
  (void)keep_shorter(task, made, &result, &s);
  if (queue)
    status = for_queue(task, options, run, &s, error);
  if (status != CM_OK && status != CM_NO_ROOM) {
    cm_partition_free(s.partition);
    return status;
  }
  *partition = s.partition;
  return CM_OK;
}

/* The shortest step that was found where the budget is out of reach. No other method is asked for it then. */
static cm_status refuse_budget(double budget_ns, double found_ns, cm_error *error)
{
  cm_fail(error, CM_BAD_OPTION,
          "no parts were found whose busiest core takes %.6g ns or less; it takes %.6g ns in what was found: allow more, or "
          "more cores",
          budget_ns, found_ns);
  return cm_fail_at(error, "/options/step_budget_ns");
}

static cm_status for_energy(const cm_engine_task *task, cm_run *run, CM_UNUSED cm_attempt *attempt, cm_partition **partition,
                            cm_error *error)
{
  cm_partition *made, *grown = NULL;
  cm_step_result result = {0}, other;
  double budget = task->input->options->step_budget_ns > 0 ? task->input->options->step_budget_ns : INFINITY,
         within = budget * (1 + 1e-9);
  cm_step_options options = step_options(task);
  options.budget_ns = budget;
  if (isfinite(budget))
    options.visits *= share_of_budgets;
  const size_t mark = cm_run_enter(run, isfinite(budget) ? share_of_axons : 1);
  cm_status status = from_axons(task, options, run, &made, &result, error);
  cm_run_leave(run, mark);
  CM_THEN_IF(status, made == NULL || isfinite(budget), search(task, &options, run, &grown, &other, error));
  if (status == CM_OK && grown != NULL) {
    bool better = made == NULL || (result.busiest_ns > within ? other.busiest_ns < result.busiest_ns
                                                              : other.busiest_ns <= within && other.packets < result.packets);
    cm_partition_free(better ? made : grown);
    made = better ? grown : made;
    result = better ? other : result;
    grown = NULL;
  }
  CM_THEN_IF(status, result.busiest_ns > within, refuse_budget(budget, result.busiest_ns, error));
  CM_END(status, *partition = made, cm_partition_free(made));
}

/* Energy of a step but for hops, in pJ: all events by their prices. */
static double step_energy(const cm_engine_task *task, double packets)
{
  const cm_topology *t = task->input->demand->network;
  const cm_costs *c = &task->input->chip->costs;
  double energy = packets * (c->charge[CM_CHARGE_PACKET_SENT].pj + c->charge[CM_CHARGE_PACKET_RECEIVED].pj) +
                  (double)task->input->demand->size_total * c->charge[CM_CHARGE_NEURON].pj;
  for (uint32_t e = 0; e < t->net_count; e++)
    energy += (double)cm_demand_net_weight(task->input->demand, e) / (double)t->weight_scale *
              (c->charge[CM_CHARGE_SPIKE].pj + (double)(t->net_first[e + 1] - t->net_first[e]) * c->charge[CM_CHARGE_SYNAPSE].pj);
  return energy;
}

static cm_status for_edp(const cm_engine_task *task, cm_run *run, CM_UNUSED cm_attempt *attempt, cm_partition **partition,
                         cm_error *error)
{
  cm_partition *best, *made;
  cm_step_result result;
  cm_step_options options = step_options(task);
  size_t mark = cm_run_enter(run, share_of_first);
  cm_status status = search(task, &options, run, &best, &result, error);
  cm_run_leave(run, mark);
  if (status != CM_OK)
    return status;
  double least = result.busiest_ns * step_energy(task, result.packets), budget = result.busiest_ns;
  for (uint32_t i = 0; i < EDP_BUDGETS_MAX && status == CM_OK; i++) {
    budget *= edp_step;
    options.budget_ns = budget;
    mark = cm_run_enter(run, share_of_longer);
    status = search(task, &options, run, &made, &result, error);
    cm_run_leave(run, mark);
    if (status != CM_OK)
      break;
    double product = result.busiest_ns * step_energy(task, result.packets);
    cm_partition *worse = product < least ? best : made;
    best = product < least ? made : best;
    cm_partition_free(worse);
    if (product >= least)
      break;
    least = product;
  }
  CM_END(status, *partition = best, cm_partition_free(best));
}

/* Nets by target, parts by net, and the copies that are kept. */
static uint64_t step_bytes(const cm_engine_task *task)
{
  const cm_topology *t = task->input->demand->network;
  return t->pin_count * UINT64_C(12) + t->net_count * UINT64_C(32) + t->vertex_count * UINT64_C(80) +
         task->input->demand->scenario_count * (t->net_count * UINT64_C(8) + t->vertex_count * UINT64_C(32));
}

#define OF_STEPS(method)                                                                                                         \
  {                                                                                                                              \
#method, method, cm_graph_of_axons, step_bytes, step_bytes, .takes_parts = true, .keeps_limits = true, .counts_cores = true, \
                                                                .mends = true                                                    \
  }

const cm_engine cm_engine_time = OF_STEPS(for_time), cm_engine_energy = OF_STEPS(for_energy),
                cm_engine_edp = OF_STEPS(for_edp);
