/* Packets of a mapping in motion. */
#include <string.h>

#include "base/json.h"
#include "core/simulate/simulate_request.h"
#include "library/internal.h"
#include "library/private/stored.h"

/* Where spikes are given in a file: "" otherwise. */
typedef struct spike_source {
  char file[CM_PATH_MAX], name[CM_PATH_MAX];
  bool confined; /* this process is, as "confined" says of networks */
} spike_source;

static cm_status take_source(json_t *object, spike_source *from, cm_error *error)
{
  from->confined = json_is_true(json_object_get(object, "confined"));
  (void)json_object_del(object, "confined");
  return library_take_text(object, "spikes_file", from->file, error) == CM_OK
           ? library_take_text(object, "spikes_name", from->name, error)
           : error->status;
}

/* The spikes that are given, if any. */
static cm_status read_spikes(const coremap_mapping *m, const json_t *object, const spike_source *from, cm_run *run,
                             cm_simulate_request *asked, cm_spikes *spikes, cm_error *error)
{
  if (from->file[0] == '\0' && !asked->spikes.text)
    return asked->spikes.upload[0] == '\0' ? CM_OK : cm_option_refuse(error, "spikes", "text: uploads are a server's");
  if (from->file[0] != '\0' && cm_options_check(&cm_simulate_option_table, asked, CM_SIMULATE_SPIKES, NULL, error) != CM_OK)
    return cm_fail_at(error, "/options/spikes_file");
  const cm_spike_ids ids = {.neurons = m->network->topology->vertex_count,
                            .topology = m->network->topology,
                            .as = (cm_spike_ids_as)asked->spike_ids,
                            .confined = from->confined,
                            .step_ms = asked->spike_step_ms};
  cm_status status =
    from->file[0] != '\0'
      ? cm_spikes_read(from->file, from->name[0] != '\0' ? from->name : from->file, &ids, run, spikes, error)
      : cm_spikes_parse(json_string_value(json_object_get(object, "spikes")), "option spikes", &ids, run, spikes, error);
  if (status != CM_OK)
    return status;
  asked->options.spikes = spikes;
  if (json_object_get(object, "steps") == NULL)
    asked->options.steps = spikes->steps;
  return CM_OK;
}

static cm_status simulate(const coremap_mapping *m, json_t *object, library_run *r, json_t **report, cm_error *error)
{
  spike_source from;
  cm_simulate_request asked;
  cm_spikes spikes = {0};
  if (take_source(object, &from, error) != CM_OK || cm_simulate_options_read(object, &asked, error) != CM_OK)
    return error->status;
  r->run->threads = json_object_get(object, "threads") != NULL ? asked.threads : r->run->threads;
  r->run->deadline = asked.time_limit > 0 ? cm_now() + asked.time_limit : 0;
  r->run->memory->limit_bytes = asked.memory_limit;
  cm_status status = read_spikes(m, object, &from, r->run, &asked, &spikes, error);
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

int library_spikes_check(const char *text, uint32_t neurons, bool named, coremap_error **error)
{
  cm_error e;
  cm_spikes spikes;
  library_run r;
  library_begin(&r, NULL, NULL);
  const cm_spike_ids ids = {.neurons = neurons, .any = named};
  cm_status status = cm_spikes_parse(text, "option spikes", &ids, r.run, &spikes, &e);
  if (status == CM_OK)
    cm_spikes_free(&spikes);
  return library_tell(status, &e, error);
}

int coremap_spikes_check(const char *text, uint32_t neurons, coremap_error **error)
{
  return library_spikes_check(text, neurons, false, error);
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
