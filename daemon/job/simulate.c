/* Kind simulate: a mapping's packets in motion. The chip is the one that the mapping was made for. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/verify/check.h"
#include "core/mapping/map.h"
#include "core/mapping/simulate/request.h"
#include "core/network/topology_file.h"
#include "daemon/job/internal.h"

typedef struct simulate_job {
  cm_work *work;
  cm_simulate_request request;
  cm_chip *chip;
  cm_topology *topology;
  uint32_t *part, *core, parts;
} simulate_job;

/* The chip as the mapping states it, which has two members that chip files lack. */
static cm_status read_chip(simulate_job *j, const char *path, cm_error *error)
{
  json_t *summary;
  if (cm_mapping_read_summary(path, &j->work->run, &summary, error) != CM_OK)
    return error->status;
  json_t *stated = json_object_get(summary, "chip");
  (void)json_object_del(stated, "width");
  (void)json_object_del(stated, "height");
  char *text = stated != NULL ? cm_json_dumps(stated, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  cm_status status = stated == NULL ? cm_fail(error, CM_DAMAGED, "the mapping does not state its chip")
                     : text == NULL ? cm_fail(error, CM_NO_MEMORY, "out of memory for the chip of the mapping")
                                    : cm_chip_parse(text, strlen(text), &j->chip, error);
  free(text);
  json_decref(summary);
  return status;
}

static cm_status read_inputs(simulate_job *j, cm_error *error)
{
  cm_work *w = j->work;
  char from[CM_PATH_MAX], network[CM_PATH_MAX];
  if (cm_simulate_request_read(w->job.options, &j->request, error) != CM_OK)
    return error->status;
  w->run.threads = w->job.threads;
  w->memory.limit_bytes = w->job.memory_limit;
  if (w->job.time_limit > 0)
    w->run.deadline = cm_now() + w->job.time_limit;
  cm_run_phase(&w->run, "load");
  if (cm_work_path(w, CM_WORK_FROM, from, error) != CM_OK || read_chip(j, from, error) != CM_OK ||
      cm_work_path(w, CM_WORK_NETWORK, network, error) != CM_OK)
    return error->status;
  cm_status status = cm_topology_load(network, &w->run, &j->topology, error);
  /* We wrote that file: what is wrong with it now happened on our disk. */
  if (status == CM_BAD_NETWORK)
    status = error->status = CM_DAMAGED;
  if (status == CM_OK)
    status = cm_mapping_file_set_inputs(from, j->chip, j->topology, &w->run, error);
  if (status != CM_OK)
    return status;
  return cm_mapping_read_places(from, j->topology->vertex_count, j->chip, &w->run, &j->part, &j->parts, &j->core, error);
}

/* The spikes that the job was given, where it was. */
static cm_status read_spikes(simulate_job *j, cm_spikes *spikes, cm_error *error)
{
  const json_t *options = j->work->job.options;
  char path[CM_PATH_MAX];
  const bool file = j->request.spikes.upload[0] != '\0';
  if (!file && !j->request.spikes.text)
    return CM_OK;
  if (cm_work_path(j->work, CM_WORK_SPIKES, path, error) != CM_OK)
    return error->status;
  cm_status status = file ? cm_spikes_read(path, "the uploaded spikes", j->topology->vertex_count, &j->work->run, spikes, error)
                          : cm_spikes_parse(json_string_value(json_object_get(options, "spikes")), "option spikes",
                                            j->topology->vertex_count, &j->work->run, spikes, error);
  if (status != CM_OK)
    return status;
  j->request.options.spikes = spikes;
  if (json_object_get(options, "steps") == NULL)
    j->request.options.steps = spikes->steps;
  return CM_OK;
}

cm_status cm_work_simulate(cm_work *work, cm_error *error)
{
  simulate_job j = {.work = work};
  json_t *report = NULL;
  cm_spikes spikes = {0};
  cm_status status = read_inputs(&j, error);
  if (status == CM_OK)
    status = read_spikes(&j, &spikes, error);
  if (status == CM_OK)
    status = cm_packets_simulate(j.topology, j.chip, j.part, j.parts, j.core, &j.request.options, &work->run, &report, error);
  if (status == CM_OK)
    status = cm_work_tell(work, "report", report, error);
  cm_spikes_free(&spikes);
  cm_free(j.part);
  cm_free(j.core);
  cm_topology_free(j.topology);
  cm_chip_free(j.chip);
  return status;
}
