/* Packets of a mapping in motion. */
#include <string.h>

#include "base/json.h"
#include "core/simulate/simulate_request.h"
#include "library/internal.h"

/* The spikes that are given, if any. */
static cm_status read_spikes(const coremap_mapping *m, const library_spikes *from, cm_run *run,
                             cm_simulate_request *asked, cm_spikes *spikes, cm_error *error)
{
  if (!library_spikes_are_given(from))
    return CM_OK;
  if (from->file[0] != '\0' && cm_options_check(&cm_simulate_option_table, asked, CM_SIMULATE_SPIKES, NULL, error) != CM_OK)
    return cm_fail_at(error, "/options/spikes_file");
  const cm_spike_ids ids = {.neurons = m->network->topology->vertex_count,
                            .topology = m->network->topology,
                            .as = (cm_spike_ids_as)asked->spike_ids,
                            .step_ms = asked->spike_step_ms};
  if (library_spikes_read(from, &ids, run, spikes, error) != CM_OK)
    return error->status;
  asked->options.spikes = spikes;
  return CM_OK;
}

static cm_status simulate(const coremap_mapping *m, json_t *object, library_run *r, json_t **report, cm_error *error)
{
  library_spikes from;
  cm_simulate_request asked;
  cm_spikes spikes = {0};
  if (library_spikes_take(object, &from, error) != CM_OK || cm_simulate_options_read(object, &asked, error) != CM_OK)
    return error->status;
  r->run->threads = json_object_get(object, "threads") != NULL ? asked.threads : r->run->threads;
  r->run->deadline = asked.time_limit > 0 ? cm_now() + asked.time_limit : 0;
  r->run->memory->limit_bytes = asked.memory_limit;
  cm_status status = read_spikes(m, &from, r->run, &asked, &spikes, error);
  if (status == CM_OK && asked.options.spikes != NULL && json_object_get(object, "steps") == NULL)
    asked.options.steps = spikes.steps;
  if (status == CM_OK)
    status = cm_packets_simulate(&m->mapped, &asked.options, r->run, report, error);
  cm_spikes_free(&spikes);
  return status;
}

int coremap_simulate(const coremap_mapping *mapping, const char *options, coremap_progress progress, void *user, char **report,
                     coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL, *made = NULL;
  char *text = NULL;
  library_begin(&r, progress, user);
  cm_status status = library_options(options, &object, &e);
  if (status == CM_OK)
    status = simulate(mapping, object, &r, &made, &e);
  cm_run_finish(r.run);
  if (status == CM_OK)
    status = cm_whole((text = cm_json_dumps(made, JSON_COMPACT | JSON_REAL_PRECISION(15))) != NULL, "the report", &e);
  json_decref(made);
  json_decref(object);
  if (status == CM_OK)
    *report = text;
  return library_tell(status, &e, error);
}

int coremap_scenario_check(const char *scenario, const char *summary, coremap_error **error)
{
  cm_error e;
  const char *known[CM_SCENARIOS_MAX];
  size_t i, count = 0;
  json_t *read = cm_json_loadb(summary, strlen(summary), 0, NULL), *one;
  cm_status status = read != NULL ? CM_OK : cm_fail(&e, CM_BAD_MAPPING, "the mapping's summary is no JSON");
  bool found = false;
  json_array_foreach(json_object_get(json_object_get(read, "scenarios"), "each"), i, one) {
    const char *name = json_string_value(json_object_get(one, "name"));
    if (name == NULL)
      continue;
    found = found || strcmp(name, scenario) == 0;
    if (count < CM_SCENARIOS_MAX)
      known[count++] = name;
  }
  if (status == CM_OK && !found)
    status = cm_refuse_scenario(scenario, known, count, &e);
  json_decref(read);
  return library_tell(status, &e, error);
}
