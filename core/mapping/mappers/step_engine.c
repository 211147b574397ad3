/* Happy path of time: the least time that is found -> the fewest packets within it. Of energy: the parts of objective
 * axon -> fewer packets, whatever the time. Of edp: time, then longer and longer budgets while energy times time falls.
 * What can fail: no chip, undirected networks, no parts within the limits; memory, a stop. */
#include "core/mapping/mappers/step_engine.h"

#include <math.h>
#include <string.h>

#include "core/partition/flows.h"
#include "core/partition/step/loads.h"
#include "core/partition/step/step.h"

/* What the presets spend. */
typedef struct effort {
  uint32_t growths;
  double visits;
} effort;

static const effort efforts[] = {[CM_PRESET_REFERENCE] = {0},
                                 [CM_PRESET_FAST] = {6, 2.5e8},
                                 [CM_PRESET_BALANCED] = {8, 1e9},
                                 [CM_PRESET_BEST] = {10, 1.2e10}};

/* Each budget of objective edp over the one before. */
static const double edp_step = 1.3;
enum { EDP_BUDGETS_MAX = 24 };

static cm_status check(const cm_engine_task *task, cm_error *error)
{
  const cm_map_input *in = task->input;
  const char *name = cm_objective_name((cm_objective)in->options->objective);
  cm_status status = CM_OK;
  if (in->chip == NULL)
    status = cm_fail(error, CM_BAD_OPTION, "objective \"%s\" needs a chip, whose costs it counts: name one", name);
  else if (!in->topology->directed)
    status = cm_fail(error, CM_BAD_OPTION,
                     "objective \"%s\" counts spikes, and this network is undirected: give a directed one, or choose "
                     "objective \"edge\"",
                     name);
  return status == CM_OK ? CM_OK : cm_fail_at(error, "/options/objective");
}

static cm_step_options step_options(const cm_engine_task *task)
{
  const effort *e = &efforts[task->input->options->preset];
  return (cm_step_options){.costs = &task->input->chip->costs,
                           .limits = task->limits,
                           .parts_max = task->parts != 0 ? task->parts : task->parts_max,
                           .growths = e->growths,
                           .visits = e->visits,
                           .seed = task->input->options->seed};
}

/* Runs the search into a new partition. */
static cm_status search(const cm_engine_task *task, const cm_step_options *options, cm_run *run, cm_partition **made,
                        cm_step_result *result, cm_error *error)
{
  const cm_topology *t = task->input->topology;
  cm_partition *p;
  if (CM_NEW(run->memory, p, 1, error) != CM_OK)
    return error->status;
  p->vertex_count = t->vertex_count;
  cm_status status = CM_NEW(run->memory, p->part, t->vertex_count, error);
  if (status == CM_OK)
    status = cm_partition_for_steps(t, options, run, p->part, &p->part_count, result, error);
  if (status != CM_OK) {
    cm_partition_free(p);
    return status;
  }
  *made = p;
  return CM_OK;
}

static cm_status finish(const cm_engine_task *task, cm_run *run, cm_partition *made, cm_partition **partition,
                        cm_error *error)
{
  cm_status status = cm_graph_of_axons(task->input->topology, made->part, made->part_count, run, &made->parts, error);
  if (status != CM_OK) {
    cm_partition_free(made);
    return status;
  }
  *partition = made;
  return CM_OK;
}

static cm_status for_time(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                          cm_error *error)
{
  cm_partition *made;
  cm_step_result result;
  (void)attempt;
  if (check(task, error) != CM_OK)
    return error->status;
  cm_step_options options = step_options(task);
  cm_status status = search(task, &options, run, &made, &result, error);
  return status == CM_OK ? finish(task, run, made, partition, error) : status;
}

/* The parts of objective axon, NULL where it finds none. */
static cm_status start_of_axons(const cm_engine_task *task, cm_run *run, cm_partition **start, cm_error *error)
{
  const cm_engine *axons = cm_engine_find((cm_preset)task->input->options->preset, CM_OBJECTIVE_AXON);
  cm_attempt ignored = {0};
  *start = NULL;
  cm_status status = axons->partition(task, run, &ignored, start, error);
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
}

static cm_status for_energy(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                            cm_error *error)
{
  cm_partition *start, *made;
  cm_step_result result;
  (void)attempt;
  if (check(task, error) != CM_OK || start_of_axons(task, run, &start, error) != CM_OK)
    return error->status;
  cm_step_options options = step_options(task);
  options.budget_ns = INFINITY;
  if (start != NULL && start->part_count <= options.parts_max) {
    options.start = start->part;
    options.parts_max = start->part_count;
  }
  cm_status status = search(task, &options, run, &made, &result, error);
  cm_partition_free(start);
  return status == CM_OK ? finish(task, run, made, partition, error) : status;
}

/* Energy of a step but for hops, in pJ: all events by their prices. */
static double step_energy(const cm_engine_task *task, double packets)
{
  const cm_topology *t = task->input->topology;
  const cm_costs *c = &task->input->chip->costs;
  double energy = packets * (c->charge[CM_CHARGE_PACKET_SENT].pj + c->charge[CM_CHARGE_PACKET_RECEIVED].pj) +
                  (double)t->size_total * c->charge[CM_CHARGE_NEURON].pj;
  for (uint32_t e = 0; e < t->net_count; e++)
    energy += (double)cm_topology_net_weight(t, e) / (double)t->weight_scale *
              (c->charge[CM_CHARGE_SPIKE].pj + (double)(t->net_first[e + 1] - t->net_first[e]) * c->charge[CM_CHARGE_SYNAPSE].pj);
  return energy;
}

static cm_status for_edp(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                         cm_error *error)
{
  cm_partition *best, *made;
  cm_step_result result;
  (void)attempt;
  if (check(task, error) != CM_OK)
    return error->status;
  cm_step_options options = step_options(task);
  cm_status status = search(task, &options, run, &best, &result, error);
  if (status != CM_OK)
    return status;
  double least = result.busiest_ns * step_energy(task, result.packets), budget = result.busiest_ns;
  for (uint32_t i = 0; i < EDP_BUDGETS_MAX && status == CM_OK; i++) {
    budget *= edp_step;
    options.budget_ns = budget;
    status = search(task, &options, run, &made, &result, error);
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
  if (status != CM_OK) {
    cm_partition_free(best);
    return status;
  }
  return finish(task, run, best, partition, error);
}

/* Nets by target, parts by net, and the copies that are kept. */
static uint64_t step_bytes(const cm_engine_task *task)
{
  const cm_topology *t = task->input->topology;
  return t->pin_count * UINT64_C(12) + t->net_count * UINT64_C(28) + t->vertex_count * UINT64_C(80);
}

#define OF_STEPS(method) {method, cm_graph_of_axons, step_bytes, step_bytes, .takes_parts = true, .keeps_limits = true, .mends = true}

const cm_engine cm_engine_time = OF_STEPS(for_time), cm_engine_energy = OF_STEPS(for_energy),
                cm_engine_edp = OF_STEPS(for_edp);
