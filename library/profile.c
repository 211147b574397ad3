/* Networks that run. */
#include "base/json.h"
#include "core/network/rates.h"
#include "library/internal.h"

struct coremap_profile {
  coremap_network *network;
  cm_memory memory;
  cm_profile profile;
  bool peaks;
};

cm_status library_stimulus_take(json_t *object, library_stimulus *from, cm_error *error)
{
  return library_spikes_take(object, &from->spikes, error) == CM_OK ? library_take_text(object, "poisson_file", from->poisson, error) : error->status;
}

static cm_status make_stimulus(const cm_topology *t, const library_stimulus *from, const cm_profile_request *asked, cm_run *run,
                               cm_stimulus *stimulus, cm_error *error)
{
  const cm_running *how = &asked->running;
  cm_spikes spikes = {0};
  double *hertz = NULL;
  const cm_spike_ids ids = {.neurons = t->vertex_count, .topology = t, .as = (cm_spike_ids_as)how->spike_ids, .step_ms = how->dt * 1e3};
  if (library_spikes_are_given(&from->spikes))
    return library_spikes_read(&from->spikes, &ids, run, &spikes, error) == CM_OK
             ? cm_stimulus_given(t, &spikes, asked->steps, run, stimulus, error)
             : error->status;
  cm_status status = CM_OK;
  if (from->poisson[0] != '\0')
    status = how->dt > 0 ? cm_rates_values(from->poisson, t, run, &hertz, error)
                         : cm_option_refuse(error, "dt", "seconds of a time step, for spikes that come so often a second");
  CM_THEN(status, cm_stimulus_poisson(t, &(cm_poisson){hertz, how->poisson, how->dt, asked->seed}, run, stimulus, error));
  cm_free(hertz);
  return status;
}

cm_status library_profile(const cm_topology *t, const library_stimulus *from, const cm_profile_request *asked, cm_run *run, cm_profile *profile,
                          cm_error *error)
{
  cm_stimulus stimulus = {.inputs = 0};
  const cm_profile_setting setting = {&cm_semantics_table[asked->running.semantics], asked->running.dt, asked->steps, asked->sole_reader};
  cm_status status = cm_simulator_check(t, error);
  CM_THEN(status, make_stimulus(t, from, asked, run, &stimulus, error));
  CM_THEN(status, cm_profile_run(t, &setting, &stimulus, run, profile, error));
  cm_stimulus_free(&stimulus);
  return status;
}

static cm_status run_network(const cm_topology *t, json_t *object, library_run *r, coremap_profile *made, cm_error *error)
{
  library_stimulus from;
  cm_profile_request asked;
  const json_t *alone = json_object_get(object, "alone");
  const bool sole_reader = json_is_true(alone);
  if (alone != NULL && !json_is_boolean(alone))
    return cm_option_refuse(error, "alone", "true or false");
  (void)json_object_del(object, "alone");
  CM_TRY(library_stimulus_take(object, &from, error));
  CM_TRY(cm_profile_options_read(object, &asked, error));
  r->run->threads = json_object_get(object, "threads") != NULL ? asked.threads : r->run->threads;
  r->run->deadline = asked.time_limit > 0 ? cm_now() + asked.time_limit : 0;
  r->run->memory->limit_bytes = asked.memory_limit;
  asked.sole_reader = sole_reader;
  made->peaks = asked.peaks;
  return library_profile(t, &from, &asked, r->run, &made->profile, error);
}

int coremap_profile_run(const coremap_network *network, const char *options, coremap_progress progress, void *user, coremap_profile **profile,
                        coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL;
  coremap_profile *made = calloc(1, sizeof *made);
  library_begin(&r, progress, user);
  cm_status status = cm_whole(made != NULL, "a profile", &e);
  if (status == CM_OK) {
    cm_memory_init(&made->memory, 0);
    library_outlive(&r, &made->memory);
    made->network = (coremap_network *)(uintptr_t)network;
    atomic_fetch_add(&made->network->owners, 1);
    status = library_options(options, &object, &e);
  }
  CM_THEN(status, run_network(network->topology, object, &r, made, &e));
  cm_run_finish(r.run);
  json_decref(object);
  LIBRARY_END(status, *profile = made, coremap_profile_free(made));
}

int coremap_profile_report(const coremap_profile *profile, char **json, coremap_error **error)
{
  cm_error e;
  const uint64_t before = cm_json_refusals();
  json_t *report = cm_profile_report(&profile->profile, profile->peaks);
  cm_status status = cm_json_whole(before, "the report", &e);
  return library_tell(library_text_of(status, report, JSON_COMPACT | JSON_REAL_PRECISION(15), json, &e), &e, error);
}

const uint64_t *coremap_profile_counts(const coremap_profile *profile)
{
  return profile->profile.count;
}

uint32_t coremap_profile_spikes(const coremap_profile *profile, const uint64_t **first, const uint32_t **neuron)
{
  *first = profile->profile.spikes.first;
  *neuron = profile->profile.spikes.neuron;
  return profile->profile.steps;
}

int coremap_profile_write(const coremap_profile *profile, const char *what, const char *path, coremap_error **error)
{
  cm_error e;
  cm_status status;
  if (strcmp(what, "rates") == 0)
    status = cm_profile_write_rates(&profile->profile, path, &e);
  else if (strcmp(what, "spikes") == 0)
    status = cm_profile_write_spikes(&profile->profile, path, &e);
  else
    status = cm_fail(&e, CM_NOT_FOUND, "a profile has no \"%.40s\", but rates and spikes", what);
  return library_tell(status, &e, error);
}

void coremap_profile_free(coremap_profile *profile)
{
  if (profile == NULL)
    return;
  cm_profile_free(&profile->profile);
  coremap_network_free(profile->network);
  free(profile);
}
