/* What jobs of all kinds share: their folder, their inputs and options, what they tell. */
#include "daemon/job/work_parts.h"

#include <errno.h>

#include "base/json.h"

cm_status cm_work_path(const cm_work *work, const char *name, char *path, cm_error *error)
{
  return cm_path(path, error, "%s/%s", work->folder, name);
}

/* A file of the folder as text; *text NULL when there is none. */
static cm_status read_text(const cm_work *work, const char *name, char **text, cm_error *error)
{
  char path[CM_PATH_MAX];
  size_t size;
  *text = NULL;
  CM_TRY(cm_work_path(work, name, path, error));
  cm_status status = cm_file_read(path, SIZE_MAX / 4, text, &size, error);
  return status == CM_NOT_FOUND ? CM_OK : status;
}

cm_status cm_work_chip(const cm_work *work, coremap_chip **chip, cm_error *error)
{
  char *text, *occupancy = NULL;
  coremap_error *why = NULL;
  *chip = NULL;
  cm_status status = read_text(work, CM_WORK_CHIP, &text, error);
  if (status != CM_OK || text == NULL)
    return status;
  status = read_text(work, CM_WORK_OCCUPANCY, &occupancy, error);
  CM_THEN(status, library_status(coremap_chip_parse(text, occupancy, chip, &why), &why, error));
  free(text);
  free(occupancy);
  return status;
}

cm_status cm_work_network(cm_work *work, coremap_network **network, cm_error *error)
{
  char path[CM_PATH_MAX];
  coremap_error *why = NULL;
  cm_run_phase(&work->run, "load");
  CM_TRY(cm_work_path(work, CM_WORK_NETWORK, path, error));
  cm_status status = library_status(library_network_load(path, work->job.network, library_on_run, &work->run, network, &why), &why, error);
  return status == CM_BAD_NETWORK ? (error->status = CM_DAMAGED) : status;
}

json_t *cm_work_options(const cm_work *work)
{
  json_t *options = work->job.options != NULL ? json_copy(work->job.options) : json_object();
  const bool good = json_object_set_new(options, "threads", json_integer(work->job.threads)) == 0 &&
                    json_object_set_new(options, "memory_limit", json_integer((json_int_t)work->job.memory_limit)) == 0;
  if (good)
    return options;
  json_decref(options);
  return NULL;
}

cm_status cm_work_text(json_t *options, char **text, cm_error *error)
{
  return cm_json_text(options, JSON_COMPACT, "the job's options", text, error);
}

cm_status cm_work_tell(cm_work *work, const char *name, json_t *value, cm_error *error)
{
  return cm_json_set(work->result, name, value, "the job's result", error);
}

cm_status cm_work_name_spikes(const cm_work *w, json_t *options, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (!json_is_object(json_object_get(options, "spikes")))
    return CM_OK;
  CM_TRY(cm_work_path(w, CM_WORK_UPLOAD, path, error));
  (void)json_object_del(options, "spikes");
  (void)json_object_set_new(options, "spikes_file", json_string(path));
  (void)json_object_set_new(options, "spikes_name", json_string("the uploaded spikes"));
  (void)json_object_set_new(options, "confined", json_true()); /* where they are such a file, cm_executor_for saw to it */
  return CM_OK;
}

cm_status cm_work_spiking_options(const cm_work *w, const char *mapping, char **text, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  json_t *options = cm_work_options(w);
  cm_status status = cm_work_name_spikes(w, options, error);
  if (mapping != NULL) {
    (void)json_object_del(options, "mapping");
    if (mapping[0] != '\0')
      (void)json_object_set_new(options, "mapping_file", json_string(mapping));
  }
  if (w->job.time_limit > 0)
    (void)json_object_set_new(options, "time_limit", json_real(w->job.time_limit));
  if (status == CM_OK && cm_json_whole(refusals, "the job's options", error) == CM_OK)
    return cm_work_text(options, text, error);
  json_decref(options);
  return error->status;
}

cm_status cm_work_keep_report(const cm_work *w, const json_t *report, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  CM_TRY(cm_path(path, error, "%s/report.json", w->made));
  CM_TRY(cm_file_create(&file, path, error));
  if (cm_json_dumpf(report, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
    cm_fail_errno(error, errno != 0 ? errno : ENOSPC, "cannot write", path);
    cm_file_discard(&file);
    return error->status;
  }
  return cm_file_commit(&file, error);
}
