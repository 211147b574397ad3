/* What a mapping that was just made has to tell. */
#include "core/solver/scenarios/scenarios.h"
#include "library/internal.h"

json_t *library_shown(const json_t *metrics)
{
  json_t *names = json_array();
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)metrics, name, value)
    if (cm_metric_is_of_interest(name, metrics))
      (void)json_array_append_new(names, json_string(name));
  return names;
}

cm_status library_metric(json_t *metrics, const char *name, double *value, cm_error *error)
{
  const json_t *found = json_object_get(metrics, name);
  cm_status status = cm_whole(metrics != NULL, "the metrics", error);
  if (status == CM_OK && json_is_number(found))
    *value = json_number_value(found);
  else if (status == CM_OK)
    status = cm_fail(error, CM_NOT_FOUND, found != NULL ? "metric \"%.60s\" is a text; the summary has it"
                                                        : "there is no metric \"%.60s\" here; the table \"metrics\" has their names", name);
  json_decref(metrics);
  return status;
}

int coremap_mapping_metric(const coremap_mapping *mapping, const char *name, double *value, coremap_error **error)
{
  cm_error e;
  json_t *metrics = mapping->mapping != NULL ? cm_metrics_json(&mapping->mapping->metrics) : json_incref(json_object_get(mapping->summary, "metrics"));
  return library_tell(library_metric(metrics, name, value, &e), &e, error);
}

/* How much of each limit of a core the fullest one uses, and how many cores. */
static json_t *limits_json(const cm_mapping *of, const cm_chip *chip)
{
  const cm_limits limits = cm_chip_widest_limits(chip);
  const cm_metrics *m = &of->metrics;
  uint64_t sources = 0;
  for (uint32_t p = 0; p < of->part_count; p++)
    sources = of->detail.core[p].source_cores > sources ? of->detail.core[p].source_cores : sources;
  const struct {
    const char *name;
    uint64_t most, limit;
  } rows[] = {{"neurons", m->largest_part, limits.neurons},
              {"synapses", m->most_synapses, limits.synapses},
              {"inbound_axons", m->most_inbound_axons, limits.inbound_axons},
              {"outbound_axons", m->most_outbound_axons, limits.outbound_axons},
              {"target_cores", m->most_target_cores, limits.target_cores},
              {"source_cores", sources, limits.source_cores},
              {"cores", m->cores_used, cm_chip_cores(chip)}};
  json_t *made = json_object();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].limit > 0)
      (void)json_object_set_new(made, rows[i].name, json_pack("{s:I, s:I}", "most", (json_int_t)rows[i].most, "limit", (json_int_t)rows[i].limit));
  return made;
}

json_t *library_mapping_report(const coremap_mapping *of)
{
  const cm_mapping *m = of->mapping;
  json_t *metrics = cm_metrics_json(&m->metrics);
  json_t *region = json_pack("{s:I, s:I, s:I, s:I}", "width", (json_int_t)m->region->width, "height", (json_int_t)m->region->height, "x",
                             (json_int_t)m->region->x0, "y", (json_int_t)m->region->y0);
  return json_pack("{s:I, s:o, s:o, s:o, s:O, s:o, s:o, s:o*, s:o}", "parts", (json_int_t)m->part_count, "bound", cm_bound_json(&m->bound),
                   "metrics", metrics, "attempts", cm_attempts_json(m->attempts, m->attempt_count, true), "report", m->report, "limits",
                   limits_json(m, of->chip->chip), "region", region, "scenarios",
                   m->scenario_count > 0 ? cm_scenarios_json(m, of->network->topology) : NULL, "shown", library_shown(metrics));
}
