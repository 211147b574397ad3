/* Happy path: rates with a floor -> a mapping -> one for rates of 1, both at the measured ones -> the better. What can fail: the mappings, memory, a stop. */
#include "core/solver/scenarios/at_rates.h"

#include "base/json.h"
#include "core/mapping/options.h"
#include "core/measure/step_by_step.h"

/* Of the mean rate, of silent neurons. */
static const double floor_share = 0.01;

/* Fills rate [nets] where some are 0 and others are not; *silent: how many. The mean is of all. */
static cm_status lift(const cm_demand *demand, cm_memory *memory, uint64_t **rate, uint32_t *silent, cm_error *error)
{
  const uint32_t nets = demand->network->net_count;
  uint64_t sum = 0;
  *silent = 0;
  for (uint32_t e = 0; demand->net_weight != NULL && e < nets; e++) {
    sum += demand->net_weight[e];
    *silent += demand->net_weight[e] == 0;
  }
  if (*silent == 0 || sum == 0)
    return CM_OK;
  CM_TRY(CM_NEW(memory, *rate, nets, error));
  const uint64_t mean = (uint64_t)((double)sum / nets * floor_share), least = mean > 0 ? mean : 1;
  for (uint32_t e = 0; e < nets; e++)
    (*rate)[e] = demand->net_weight[e] == 0 ? least : demand->net_weight[e];
  return CM_OK;
}

/* ---- for rates of 1 ---- */

/* A step's time: the mean of the job's own steps, unless it is about scenarios. */
static cm_status step_of(const cm_map_input *in, const cm_mapping *m, cm_run *run, double *ns, cm_error *error)
{
  cm_step_by_step steps;
  *ns = cm_mapping_aimed(m, cm_figure_step_ns);
  if (in->spikes == NULL || in->demand->scenario_count > 0)
    return CM_OK;
  CM_TRY(cm_step_by_step_measure(in, m, run, &steps, error));
  *ns = steps.mean_ns;
  cm_step_by_step_free(&steps);
  return CM_OK;
}

/* cost: what is minimised, and what decides between equals. */
static cm_status cost_of(const cm_map_input *in, const cm_mapping *m, cm_run *run, double cost[2], cm_error *error)
{
  const cm_metrics *f = &m->metrics;
  const cm_objective objective = cm_objective_resolve(in->options, in->demand->network->directed, true);
  const double energy = cm_mapping_aimed(m, cm_figure_energy_step_pj);
  cost[0] = objective == CM_OBJECTIVE_ENERGY ? energy : objective == CM_OBJECTIVE_AXON ? f->connectivity : f->edge_cut;
  cost[1] = in->options->traffic_model == CM_MULTICAST ? f->multicast_energy_pj : f->energy_pj;
  if (objective != CM_OBJECTIVE_TIME && objective != CM_OBJECTIVE_EDP && objective != CM_OBJECTIVE_KNEE)
    return CM_OK;
  CM_TRY(step_of(in, m, run, &cost[0], error));
  cost[0] *= objective == CM_OBJECTIVE_TIME ? 1 : energy;
  return CM_OK;
}

static json_t *figures(const cm_mapping *m)
{
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "step_ns", m->metrics.step_ns, "core_ns_max", m->metrics.core_ns_max, "energy_step_pj", m->metrics.energy_step_pj, "connectivity",
                   m->metrics.connectivity, "hop_traffic", m->metrics.hop_traffic, "link_load_max", m->metrics.link_load_max);
}

/* The same job for rates of 1, judged at the measured ones; the better of both becomes *mapping. */
static cm_status compare(const cm_map_input *input, cm_map_whole *whole, uint32_t silent, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_map_input at_one = *input;
  const uint32_t nets = input->demand->network->net_count;
  cm_mapping *one = NULL;
  CM_TRY(CM_NEW(run->memory, at_one.traffic, nets, error));
  for (uint32_t e = 0; e < nets; e++)
    at_one.traffic[e] = input->demand->network->weight_scale;
  cm_status status = whole(&at_one, run, &one, error);
  cm_free(at_one.traffic);
  double cost[2], cost_one[2];
  CM_THEN(status, cost_of(input, *mapping, run, cost, error));
  CM_THEN(status, cost_of(input, one, run, cost_one, error));
  CM_TRY_OR(status, cm_mapping_free(one));
  const bool better = cost_one[0] < cost[0] || (cost_one[0] == cost[0] && cost_one[1] < cost[1]);
  json_t *told = json_pack("{s:s, s:I, s:s, s:o, s:o}", "from", "profile", "silent", (json_int_t)silent, "kept", better ? "for_one" : "for_measured",
                           "for_measured", figures(*mapping), "for_one", figures(one));
  cm_mapping_free(better ? *mapping : one);
  *mapping = better ? one : *mapping;
  return cm_json_set((*mapping)->report, "rates", told, "the report", error);
}

/* ---- step by step ---- */

static cm_status tell_steps(const cm_map_input *input, cm_mapping *m, cm_run *run, cm_error *error)
{
  cm_step_by_step steps;
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  CM_TRY(cm_step_by_step_measure(input, m, run, &steps, error));
  char note[240];
  cm_status status = cm_json_set(m->report, "steps", cm_step_by_step_json(&steps, &mapped), "the report", error);
  if (status == CM_OK && json_object_get(m->report, "note") == NULL && cm_spikes_miss_inputs(input->spikes, input->demand->network, note, sizeof note))
    status = cm_json_set(m->report, "note", json_string(note), "the report", error);
  m->peak = steps.peak;
  steps.peak = NULL;
  cm_step_by_step_free(&steps);
  return status;
}

cm_status cm_map_measured(const cm_map_input *input, cm_map_whole *whole, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_map_input lifted = *input;
  uint32_t silent = 0;
  cm_mapping *made = NULL;
  const bool profiled = input->options->profile > 0, compared = profiled && input->options->objective != CM_OBJECTIVE_PARETO;
  const size_t mark = compared ? cm_run_enter(run, 0.5) : 0;
  cm_status status = profiled && input->traffic == NULL ? lift(input->demand, run->memory, &lifted.traffic, &silent, error) : CM_OK;
  CM_THEN(status, whole(&lifted, run, &made, error));
  if (lifted.traffic != input->traffic)
    cm_free(lifted.traffic);
  if (compared)
    cm_run_leave(run, mark);
  CM_THEN_IF(status, compared, compare(input, whole, silent, run, &made, error));
  CM_THEN_IF(status, input->spikes != NULL, tell_steps(input, made, run, error));
  CM_END(status, *mapping = made, cm_mapping_free(made));
}
