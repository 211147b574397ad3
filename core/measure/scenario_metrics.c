/* What a mapping costs in every scenario of its network, in the worst one and on the mean. */
#include "core/measure/scenario_metrics.h"

#include "core/mapping/options.h"
#include "core/measure/measure.h"

static double energy_pj(const cm_metrics *m)
{
  return m->energy_pj;
}

cm_status cm_scenarios_measure(const cm_map_input *in, cm_run *run, cm_mapping *m, cm_error *error)
{
  uint32_t count = in->demand->scenario_count;
  if (count == 0) {
    (void)json_object_del(m->options, "scenarios");
    return CM_OK;
  }
  cm_free(m->scenario);
  m->scenario_count = 0;
  m->scenarios_worst = in->options->scenarios == CM_SCENARIOS_WORST;
  CM_TRY(CM_NEW(run->memory, m->scenario, count, error));
  for (uint32_t k = 0; k < count; k++) {
    const cm_demand view = cm_demand_in_scenario(in->demand, k);
    const cm_mapped seen = cm_mapped_by(m, &view, in->chip);
    cm_metrics_detail detail;
    CM_TRY(cm_metrics_compute(&seen, run, &m->scenario[k], &detail, error));
    cm_metrics_detail_free(&detail);
  }
  m->scenario_count = count;
  return CM_OK;
}

static json_t *figures_json(const cm_mapping *m, double (*over)(const cm_mapping *, cm_metric_figure *))
{
  return json_pack("{s:f, s:f, s:f, s:f}", "step_ns", over(m, cm_figure_step_ns), "core_ns_max",
                   over(m, cm_figure_core_ns_max), "energy_step_pj", over(m, cm_figure_energy_step_pj), "energy_pj",
                   over(m, energy_pj));
}

json_t *cm_scenarios_json(const cm_mapping *m, const cm_topology *topology)
{
  json_t *each = json_array();
  for (uint32_t k = 0; k < m->scenario_count; k++)
    if (json_array_append_new(each, json_pack("{s:s, s:o}", "name", topology->scenario_name[k], "metrics",
                                              cm_metrics_json(&m->scenario[k]))) != 0) {
      json_decref(each);
      return NULL;
    }
  return json_pack("{s:s, s:o, s:o, s:o}", "objective", m->scenarios_worst ? "worst" : "mean", "worst",
                   figures_json(m, cm_mapping_worst), "mean", figures_json(m, cm_mapping_mean), "each", each);
}
