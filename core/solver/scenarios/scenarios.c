/* Happy path: rates to go by -> a mapping -> its metrics in every scenario -> again where another scenario is worse. What can
 * fail: the mappings, memory, a stop. */
#include "core/solver/scenarios/scenarios.h"

#include <string.h>

#include "core/mapping/options.h"
#include "core/solver/pareto/pareto.h"

/* Mappings that objectives without time may take. */
enum { ROUNDS = 3 };

/* ---- the worst scenario ---- */

/* Rate of all synapse events. */
static double events_in(const cm_topology *t, uint32_t k)
{
  double sum = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    sum += (double)t->scenario_rate[(size_t)k * t->net_count + e] * (double)(t->net_first[e + 1] - t->net_first[e]);
  return sum;
}

/* What is to be small in a scenario. */
static double cost_in(const cm_map_input *in, const cm_metrics *m)
{
  switch (in->options->objective) {
    case CM_OBJECTIVE_TIME: return m->step_ns;
    case CM_OBJECTIVE_EDP: return m->step_ns * m->energy_step_pj;
    case CM_OBJECTIVE_ENERGY: return m->energy_packets_pj + m->energy_pj;
    default: return in->options->traffic_model == CM_MULTICAST ? m->multicast_energy_pj : m->energy_pj;
  }
}

static uint32_t worst_scenario(const cm_map_input *in, const cm_mapping *m)
{
  uint32_t worst = 0;
  for (uint32_t k = 1; k < m->scenario_count; k++)
    if (cost_in(in, &m->scenario[k]) > cost_in(in, &m->scenario[worst]))
      worst = k;
  return worst;
}

/* The mean rates of the scenarios that are chosen. */
static void mix(const cm_demand *demand, const bool *chosen, uint64_t *rate)
{
  const cm_topology *t = demand->network;
  uint64_t count = 0;
  memset(rate, 0, t->net_count * sizeof *rate);
  for (uint32_t k = 0; k < demand->scenario_count; k++) {
    count += chosen[k];
    for (uint32_t e = 0; chosen[k] && e < t->net_count; e++)
      rate[e] += t->scenario_rate[(size_t)k * t->net_count + e];
  }
  for (uint32_t e = 0; e < t->net_count; e++)
    rate[e] = (rate[e] + count / 2) / count;
}

cm_status cm_map_worst(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run,
                       cm_mapping **mapping, cm_error *error)
{
  const cm_topology *t = input->demand->network;
  cm_map_input in = *input;
  bool chosen[CM_SCENARIOS_MAX] = {false};
  bool timed = in.options->objective == CM_OBJECTIVE_TIME || in.options->objective == CM_OBJECTIVE_EDP ||
               in.options->objective == CM_OBJECTIVE_PARETO;
  uint32_t worst = 0;
  uint64_t *rate;
  cm_mapping *best = NULL;
  for (uint32_t k = 1; k < input->demand->scenario_count; k++)
    worst = events_in(t, k) > events_in(t, worst) ? k : worst;
  CM_TRY(CM_NEW(run->memory, rate, t->net_count, error));
  in.traffic = rate;
  cm_status status = CM_OK;
  for (uint32_t round = 0; round < (timed ? 1 : ROUNDS) && status == CM_OK && !chosen[worst]; round++) {
    cm_mapping *made;
    chosen[worst] = true;
    mix(input->demand, chosen, rate);
    status = in.options->objective == CM_OBJECTIVE_PARETO ? cm_map_pareto(&in, once, bound, run, &made, error)
                                                          : once(&in, NULL, run, &made, error);
    if (status != CM_OK)
      break;
    worst = worst_scenario(&in, made);
    bool better = best == NULL || cost_in(&in, &made->scenario[worst]) < cost_in(&in, &best->scenario[worst_scenario(&in, best)]);
    cm_mapping_free(better ? best : made);
    best = better ? made : best;
  }
  cm_free(rate);
  CM_END(status, *mapping = best, cm_mapping_free(best));
}

/* ---- bounds ---- */

cm_status cm_scenarios_bound(const cm_map_input *in, uint32_t cores, double work, cm_run *run, cm_step_bound *bound,
                             cm_error *error)
{
  uint32_t count = in->demand->scenario_count;
  cm_step_bound sum = {0}, most = {0};
  for (uint32_t k = 0; k < count; k++) {
    const cm_demand view = cm_demand_in_scenario(in->demand, k);
    cm_step_bound b;
    CM_TRY(cm_step_bound_compute(&view, &in->chip->costs, cores, work / count, run, &b, error));
    sum.ns += b.ns / count;
    sum.neuron_ns += b.neuron_ns / count;
    sum.shared_ns += b.shared_ns / count;
    sum.overlap_ns += b.overlap_ns / count;
    sum.send_ns += b.send_ns / count;
    sum.fixed_ns += b.fixed_ns / count;
    most = b.ns >= most.ns ? b : most;
  }
  *bound = in->options->scenarios == CM_SCENARIOS_WORST ? most : sum;
  return CM_OK;
}
