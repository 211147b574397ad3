/* Packets of a mapping in motion. */
#include "base/json.h"
#include "core/deploy/deploy.h"
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
  CM_TRY(library_spikes_read(from, &ids, run, spikes, error));
  asked->options.spikes = spikes;
  return CM_OK;
}

/* A run of a mapping's images, and the files that it is written to ("": none). */
typedef struct function_run {
  char expected[CM_PATH_MAX], events[CM_PATH_MAX];
  cm_spikes spikes;
  json_t *told;
} function_run;

static cm_status check_files(const cm_simulate_request *asked, const function_run *f, cm_error *error)
{
  if (!asked->function && (f->expected[0] != '\0' || f->events[0] != '\0'))
    return cm_option_refuse(error, "function", "true where spikes or events of a run are to be written");
  return CM_OK;
}

static cm_status write_file(const cm_deployment *d, const char *path, bool events, cm_error *error)
{
  cm_file file;
  if (path[0] == '\0')
    return CM_OK;
  CM_TRY(cm_file_create(&file, path, error));
  if (events)
    cm_images_print_events(&d->images, &d->result, file.stream);
  else
    cm_images_print_spikes(&d->result, file.stream);
  return cm_file_commit(&file, error);
}

/* Runs the mapping's images: their spikes, and what is told of the run. */
static cm_status run_images(const coremap_mapping *m, const library_spikes *from, const cm_simulate_request *asked, cm_run *run, function_run *f, cm_error *error)
{
  const library_stimulus stimulus = {.spikes = *from};
  cm_profile_request how = {.steps = asked->options.steps, .running = asked->running, .seed = asked->options.seed};
  cm_profile reference = {.steps = 0};
  cm_deployment d = {.reference = NULL};
  how.running.spike_ids = asked->spike_ids;
  cm_status status = cm_deploy_check(m->mapped.chip, error);
  CM_THEN(status, library_profile(m->network->topology, &stimulus, &how, run, &reference, error));
  CM_THEN(status, cm_deploy_run(&reference, &m->mapped, f->events[0] != '\0', run, &d, error));
  CM_THEN(status, write_file(&d, f->expected, false, error));
  CM_THEN(status, write_file(&d, f->events, true, error));
  CM_THEN(status, cm_deployment_spikes(&d, run->memory, &f->spikes, error));
  if (status == CM_OK) {
    f->told = cm_deployment_report(&d);
    status = cm_json_set(f->told, "lost", json_integer((json_int_t)d.result.lost), "the report", error);
  }
  cm_deployment_free(&d);
  cm_profile_free(&reference);
  return status;
}

static cm_status simulate(const coremap_mapping *m, json_t *object, library_run *r, json_t **report, cm_error *error)
{
  library_spikes from;
  cm_simulate_request asked;
  cm_spikes spikes = {0};
  function_run f = {.told = NULL};
  if (library_spikes_take(object, &from, error) != CM_OK || library_take_text(object, "expected_file", f.expected, error) != CM_OK ||
      library_take_text(object, "events_file", f.events, error) != CM_OK || cm_simulate_options_read(object, &asked, error) != CM_OK ||
      check_files(&asked, &f, error) != CM_OK)
    return error->status;
  r->run->threads = json_object_get(object, "threads") != NULL ? asked.threads : r->run->threads;
  r->run->deadline = asked.time_limit > 0 ? cm_now() + asked.time_limit : 0;
  r->run->memory->limit_bytes = asked.memory_limit;
  cm_status status = asked.function ? run_images(m, &from, &asked, r->run, &f, error) : read_spikes(m, &from, r->run, &asked, &spikes, error);
  if (status == CM_OK && asked.function) {
    asked.options.spikes = &f.spikes;
    asked.options.steps = f.spikes.steps;
  }
  if (status == CM_OK && !asked.function && asked.options.spikes != NULL && json_object_get(object, "steps") == NULL)
    asked.options.steps = spikes.steps;
  CM_THEN(status, cm_packets_simulate(&m->mapped, &asked.options, r->run, report, error));
  if (status == CM_OK && f.told != NULL)
    status = cm_json_set(*report, "function", f.told, "the report", error);
  else
    json_decref(f.told);
  cm_spikes_free(&spikes);
  cm_spikes_free(&f.spikes);
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
  CM_THEN(status, simulate(mapping, object, &r, &made, &e));
  cm_run_finish(r.run);
  CM_THEN(status, cm_whole((text = cm_json_dumps(made, JSON_COMPACT | JSON_REAL_PRECISION(15))) != NULL, "the report", &e));
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
  CM_THEN_IF(status, !found, cm_refuse_scenario(scenario, known, count, &e));
  json_decref(read);
  return library_tell(status, &e, error);
}
