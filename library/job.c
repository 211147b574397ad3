/* What is asked of a mapping or a partition: options, and what they name. */
#include "core/mapping/combinations.h"
#include "core/mapping/options.h"
#include "core/partition/part_file.h"
#include "library/internal.h"
#include "library/private/base.h"

static const uint64_t CACHE_BYTES_MAX = UINT64_C(1) << 30;

static cm_status read_options(library_job *job, const char *text, cm_error *error)
{
  CM_TRY(library_options(text, &job->given, error));
  json_t *object = job->given;
  const json_t *alone = json_object_get(object, "alone");
  job->alone = json_is_true(alone);
  cm_status status = alone == NULL || json_is_boolean(alone) ? CM_OK : cm_option_refuse(error, "alone", "true or false");
  (void)json_object_del(object, "alone");
  CM_THEN(status, library_take_text(object, "from", job->from, error));
  CM_THEN(status, library_take_text(object, "part", job->part, error));
  CM_THEN(status, library_take_text(object, "policy_file", job->policy, error));
  CM_THEN(status, library_take_text(object, "fixed", job->fixed, error));
  CM_THEN(status, library_take_text(object, "levels_from", job->edited_from, error));
  if (status == CM_OK && json_object_get(object, "levels_from_id") != NULL) { /* a server's, which brings the network along */
    (void)json_object_set(object, "levels_from", json_object_get(object, "levels_from_id"));
    (void)json_object_del(object, "levels_from_id");
  }
  CM_THEN(status, library_take_text(object, "cache", job->cache, error));
  CM_THEN(status, library_stimulus_take(object, &job->stimulus, error));
  CM_THEN(status, cm_map_options_parse(object, &job->options, error));
  return status;
}

/* The network at the rates of its profile, where one is asked for. */
static cm_status measure(library_job *job, const coremap_network *network, cm_run *run, cm_error *error)
{
  const cm_map_options *o = job->options;
  cm_measured measured = {.steps = o->profile, .windows = o->profile_windows, .dt = o->running.dt};
  const cm_profile_request asked = {.steps = o->profile, .running = o->running, .seed = o->seed};
  if (o->profile == 0)
    return CM_OK;
  cm_status status = library_profile(network->topology, &job->stimulus, &asked, run, &job->profile, error);
  CM_THEN(status, cm_measured_count(network->topology, &job->profile.spikes, run->memory, &measured, error));
  CM_TRY(status);
  (void)snprintf(measured.semantics, sizeof measured.semantics, "%s", job->profile.semantics->name);
  return library_network_at(network, &measured, run, &job->measured, error);
}

/* A time limit counts from here, unless the run is of more than this call and ends before. */
static void settle(const library_job *job, cm_run *run)
{
  const double before = run->deadline;
  cm_map_options_apply(job->options, run);
  if (before > 0 && before < run->deadline)
    run->deadline = before;
}

static cm_status make_scratch(library_job *job, cm_run *run, cm_error *error)
{
  if (run->memory != NULL && run->memory->scratch_folder != NULL)
    return CM_OK; /* the run has one */
  cm_status status = cm_folder_scratch(job->scratch, error);
  job->lent = status == CM_OK && run->memory != NULL;
  if (job->lent)
    run->memory->scratch_folder = job->scratch;
  return status;
}

static const char *or_none(const char *path)
{
  return path[0] != '\0' ? path : NULL;
}

/* ---- the network that this one was edited from ---- */

cm_status library_job_carry(library_job *job, const coremap_network *before, const char *id, cm_run *run, cm_map_input *input,
                            cm_error *error)
{
  job->demand_before = cm_demand_of(before->topology);
  job->levels_from = (cm_levels_from){&job->demand_before, or_none(id)};
  input->levels_from = &job->levels_from;
  cm_status status = cm_map_options_set_inputs(job->options, &job->demand_before, run->memory, error);
  CM_THEN_IF(status, input->chip != NULL, cm_chip_limit_neurons(input->chip, &job->demand_before, run->memory, error));
  return status == CM_OK ? CM_OK : cm_fail_at(error, "/options/levels_from");
}

/* Of a file, which the mapping states by its content. */
static cm_status carry_from_file(library_job *job, cm_run *run, cm_map_input *input, cm_error *error)
{
  coremap_error *why = NULL;
  cm_map_options *o = job->options;
  if (job->edited_from[0] == '\0')
    return CM_OK;
  (void)snprintf(o->levels_from, sizeof o->levels_from, "file");
  CM_TRY(cm_combinations_of_options(o, error));
  if (library_status(coremap_network_read(job->edited_from, "{\"id\": true}", library_on_run, run, &job->before, &why), &why, error) != CM_OK) {
    const cm_error inner = *error;
    (void)cm_fail(error, inner.status, "levels_from, %s: %s", job->edited_from, inner.detail);
    return cm_fail_at(error, "/options/levels_from");
  }
  (void)snprintf(o->levels_from, sizeof o->levels_from, "%s", job->before->id);
  return library_job_carry(job, job->before, job->before->id, run, input, error);
}

cm_status library_job_begin(library_job *job, const char *options, const coremap_network *network, cm_demand *demand, const coremap_chip *chip,
                            cm_run *run, cm_map_input *input, cm_error *error)
{
  *job = (library_job){0};
  CM_TRY(read_options(job, options, error));
  settle(job, run);
  CM_TRY(measure(job, network, run, error));
  network = job->measured != NULL ? job->measured : network;
  *demand = cm_demand_of(network->topology);
  if (make_scratch(job, run, error) != CM_OK ||
      cm_map_options_set_inputs(job->options, demand, run->memory, error) != CM_OK ||
      (chip != NULL && cm_chip_limit_neurons(chip->chip, demand, run->memory, error) != CM_OK))
    return error->status;
  *input = (cm_map_input){.demand = demand, .sole_reader = job->alone && job->measured == NULL,
                          .spikes = job->measured != NULL ? &job->profile.spikes : NULL, .network_id = or_none(network->id),
                          .chip = chip != NULL ? chip->chip : NULL, .occupancy = chip != NULL ? chip->occupancy : NULL,
                          .options = job->options, .scratch_folder = job->scratch[0] != '\0' ? job->scratch : run->memory->scratch_folder, .from = or_none(job->from),
                          .policy = or_none(job->policy)};
  CM_TRY(carry_from_file(job, run, input, error));
  if (job->cache[0] != '\0') { /* its entries are named by content */
    if (network->id[0] == '\0')
      return cm_option_refuse(error, "cache", "left out for a network without an id: its entries are named by that");
    CM_TRY(cm_cache_open(job->cache, CACHE_BYTES_MAX, &job->kept, error));
    job->levels = cm_cache_levels(job->kept);
    input->cache = &job->levels;
  }
  if (job->part[0] != '\0') {
    CM_TRY(cm_part_read(job->part, network->topology->vertex_count, run, &job->parts, &input->part_count, error));
    input->part = job->parts;
  }
  return CM_OK;
}

void library_job_end(library_job *job, cm_run *run)
{
  cm_error ignored;
  if (job->lent)
    run->memory->scratch_folder = NULL;
  if (job->scratch[0] != '\0')
    (void)cm_folder_remove(job->scratch, &ignored);
  cm_cache_close(job->kept);
  cm_map_options_free(job->options);
  cm_profile_free(&job->profile);
  coremap_network_free(job->measured);
  coremap_network_free(job->before);
  cm_demand_clear(&job->demand_before);
  json_decref(job->given);
  cm_free(job->parts);
}
