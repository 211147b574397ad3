/* Kind deploy: a network in, images of a chip's cores out, with what programs them and what comes of it. */
#include <coremap/deploy.h>
#include <stdlib.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

/* With the path of the mapping in place of its id. */
static cm_status make_options(const cm_work *w, char **text, cm_error *error)
{
  char path[CM_PATH_MAX];
  const uint64_t refusals = cm_json_refusals();
  json_t *options = cm_work_options(w);
  cm_status status = cm_work_name_spikes(w, options, error);
  if (status == CM_OK && json_string_length(json_object_get(options, "mapping")) > 0)
    status = cm_work_path(w, CM_WORK_FROM, path, error);
  if (status == CM_OK && json_string_length(json_object_get(options, "mapping")) > 0)
    (void)json_object_set_new(options, "mapping_file", json_string(path));
  (void)json_object_del(options, "mapping");
  if (w->job.time_limit > 0)
    (void)json_object_set_new(options, "time_limit", json_real(w->job.time_limit));
  if (status == CM_OK && cm_json_whole(refusals, "the job's options", error) == CM_OK)
    return cm_work_text(options, text, error);
  json_decref(options);
  return error->status;
}

static cm_status tell(cm_work *work, const coremap_deployment *made, cm_error *error)
{
  char *text;
  coremap_error *why = NULL;
  if (library_status(coremap_deployment_write(made, work->made, &why), &why, error) != CM_OK ||
      library_status(coremap_deployment_report(made, &text, &why), &why, error) != CM_OK)
    return error->status;
  return cm_work_tell(work, "report", library_json(text), error);
}

cm_status cm_work_deploy(cm_work *work, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_deployment *made = NULL;
  coremap_error *why = NULL;
  char *options = NULL;
  work->memory.limit_bytes = work->job.memory_limit;
  cm_status status = make_options(work, &options, error);
  if (status == CM_OK)
    status = cm_work_chip(work, &chip, error);
  if (status == CM_OK && chip == NULL)
    status = cm_fail(error, CM_DAMAGED, "the job folder has no " CM_WORK_CHIP);
  if (status == CM_OK)
    status = cm_work_network(work, &network, error);
  if (status == CM_OK)
    status = library_status(coremap_deploy(network, chip, options, library_on_run, &work->run, &made, &why), &why, error);
  if (status == CM_OK)
    status = tell(work, made, error);
  free(options);
  coremap_deployment_free(made);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}
