/* The check's own figures of a network's scenarios: each is measured as a network with these rates. */
#include <math.h>

#include "core/metrics/metrics.h"
#include "core/verify/checker.h"

/* Figures that are told of all scenarios together. */
typedef struct together {
  double step_ns, core_ns_max, energy_step_pj, energy_pj;
} together;

static json_t *together_json(const together *t)
{
  return json_pack("{s:f, s:f, s:f, s:f}", "step_ns", t->step_ns, "core_ns_max", t->core_ns_max, "energy_step_pj",
                   t->energy_step_pj, "energy_pj", t->energy_pj);
}

/* What the file says of one scenario's step_limit. */
static void check_sentence(cm_checker *c, const cm_check_truth *truth, const json_t *stated, const char *name)
{
  const char *limit = json_string_value(json_object_get(json_object_get(stated, "metrics"), "step_limit"));
  if (limit == NULL || !cm_check_step_limit(&c->mapped, truth, limit))
    violation(c, "scenario %s: step_limit is stated as %.100s, which is not what takes as long as the step", name,
              limit != NULL ? limit : "no text");
}

cm_status cm_checker_scenarios(cm_checker *c, cm_error *error)
{
  const json_t *stated = json_object_get(c->file.rest, "scenarios"), *each = json_object_get(stated, "each");
  const cm_topology *topology = c->given->demand->network;
  uint32_t count = c->given->demand->scenario_count;
  cm_check_comparison comparison = {.result = &c->result, .what = "scenarios", .partial = true};
  together worst = {0}, mean = {0};
  json_t *list = json_array();
  if (count == 0 && stated != NULL)
    violation(c, "scenarios are stated, but the network's rates do not vary");
  cm_status status = CM_OK;
  for (uint32_t k = 0; k < count && status == CM_OK; k++) {
    cm_check_truth truth = {0};
    const cm_demand view = cm_demand_in_scenario(c->given->demand, k);
    cm_mapped mapped = c->mapped;
    mapped.demand = &view;
    status = cm_check_measure(&mapped, c->given->run, &truth, error);
    if (status == CM_OK) {
      const cm_metrics *m = &truth.metrics;
      worst = (together){fmax(worst.step_ns, m->step_ns), fmax(worst.core_ns_max, m->core_ns_max),
                         fmax(worst.energy_step_pj, m->energy_step_pj), fmax(worst.energy_pj, m->energy_pj)};
      mean = (together){mean.step_ns + m->step_ns / count, mean.core_ns_max + m->core_ns_max / count,
                        mean.energy_step_pj + m->energy_step_pj / count, mean.energy_pj + m->energy_pj / count};
      check_sentence(c, &truth, json_array_get(each, k), topology->scenario_name[k]);
      json_t *metrics = cm_metrics_json(m);
      (void)json_object_del(metrics, "step_limit");
      c->result.out_of_memory |=
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", topology->scenario_name[k], "metrics", metrics)) != 0;
    }
    cm_free(truth.core);
  }
  if (status == CM_OK && count > 0) {
    json_t *right = json_pack("{s:o, s:o, s:O}", "worst", together_json(&worst), "mean", together_json(&mean), "each", list);
    if (right == NULL)
      c->result.out_of_memory = true;
    else if (stated == NULL)
      violation(c, "scenarios are missing; the network has %u", count);
    else
      cm_check_compare(&comparison, "", stated, right);
    json_decref(right);
  }
  json_decref(list);
  return status;
}
