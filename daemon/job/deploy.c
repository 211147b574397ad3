/* Kind deploy: a network in, images of a chip's cores out, with what programs them and what comes of it. */
#include <coremap/deploy.h>

#include "daemon/job/work_parts.h"

/* Where the mapping that the options name is, *path empty: they name none. */
static cm_status find_mapping(const cm_work *w, char *path, cm_error *error)
{
  path[0] = '\0';
  return json_string_length(json_object_get(w->job.options, "mapping")) > 0 ? cm_work_path(w, CM_WORK_FROM, path, error) : CM_OK;
}

static cm_status tell(cm_work *work, const coremap_deployment *made, cm_error *error)
{
  char *text;
  coremap_error *why = NULL;
  CM_TRY(library_status(coremap_deployment_write(made, work->made, &why), &why, error));
  CM_TRY(library_status(coremap_deployment_report(made, &text, &why), &why, error));
  return cm_work_tell(work, "report", library_json(text), error);
}

cm_status cm_work_deploy(cm_work *work, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_deployment *made = NULL;
  coremap_error *why = NULL;
  char *options = NULL, mapping[CM_PATH_MAX];
  work->memory.limit_bytes = work->job.memory_limit;
  cm_status status = find_mapping(work, mapping, error);
  CM_THEN(status, cm_work_spiking_options(work, mapping, &options, error));
  CM_THEN(status, cm_work_chip(work, &chip, error));
  CM_THEN_IF(status, chip == NULL, cm_fail(error, CM_DAMAGED, "the job folder has no " CM_WORK_CHIP));
  CM_THEN(status, cm_work_network(work, &network, error));
  CM_THEN(status, library_status(coremap_deploy(network, chip, options, library_on_run, &work->run, &made, &why), &why, error));
  CM_THEN(status, tell(work, made, error));
  free(options);
  coremap_deployment_free(made);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}
