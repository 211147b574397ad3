/* Kind map: load the network and the chip with its occupancy, map, write the views. */
#include <stdlib.h>

#include "core/mapping/result/beside.h"
#include "core/mapping/result/export.h"
#include "core/mapping/measure/measure.h"
#include "core/mapping/pareto/pareto.h"
#include "core/network/topology_file.h"
#include "daemon/job/internal.h"

typedef struct map_job {
  cm_work *work;
  cm_map_options *options;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_topology *topology;
  cm_mapping *mapping;
  char from[CM_PATH_MAX];
} map_job;

static cm_status read_inputs(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  char path[CM_PATH_MAX], *text;
  size_t size;
  if (cm_map_options_parse(w->job.options, &j->options, error) != CM_OK || cm_work_chip(w, &j->chip, error) != CM_OK)
    return error->status;
  if (j->chip == NULL)
    return cm_fail(error, CM_DAMAGED, "the job folder has no " CM_WORK_CHIP);
  cm_map_options_apply(j->options, &w->run);
  w->run.threads = w->job.threads;
  w->memory.limit_bytes = w->job.memory_limit;
  if (cm_work_path(w, CM_WORK_OCCUPANCY, path, error) != CM_OK ||
      cm_file_read(path, SIZE_MAX / 4, &text, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_parse(j->chip, text, size, &j->occupancy, error);
  free(text);
  return status;
}

static cm_status load_network(map_job *j, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_run_phase(&j->work->run, "load");
  cm_status status = cm_work_path(j->work, CM_WORK_NETWORK, path, error);
  if (status == CM_OK)
    status = cm_topology_load(path, &j->work->run, &j->topology, error);
  /* We wrote that file: what is wrong with it now happened on our disk. */
  if (status == CM_BAD_NETWORK)
    status = error->status = CM_DAMAGED;
  if (status == CM_OK)
    status = cm_map_options_set_inputs(j->options, j->topology, j->work->run.memory, error);
  return status == CM_OK ? cm_chip_limit_neurons(j->chip, j->topology, j->work->run.memory, error) : status;
}

static cm_status tell(map_job *j, cm_error *error)
{
  const cm_mapping *m = j->mapping;
  bool cached = m->attempt_count > 0;
  for (uint32_t i = 0; i < m->attempt_count; i++)
    cached = cached && m->attempts[i].coarsening_cached;
  json_t *report = json_pack("{s:I, s:o, s:b, s:o, s:o*, s:O*}", "parts", (json_int_t)m->part_count, "bound",
                             cm_bound_json(&m->bound), "coarsening_cached", cached, "attempts",
                             cm_attempts_json(m->attempts, m->attempt_count, true), "metrics",
                             cm_metrics_json(&m->metrics), "mapper", m->report);
  if (cm_work_tell(j->work, "report", report, error) != CM_OK)
    return error->status;
  if (!j->work->job.region)
    return CM_OK;
  json_t *region = json_array();
  for (uint32_t i = 0; i < m->region->core_count; i++)
    if (json_array_append_new(region, json_integer(m->region->cores[i])) != 0) {
      json_decref(region);
      return cm_fail(error, CM_NO_MEMORY, "out of memory while writing the job's region");
    }
  return cm_work_tell(j->work, "region", region, error);
}

static cm_status run(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  if (read_inputs(j, error) != CM_OK || load_network(j, error) != CM_OK)
    return error->status;
  cm_map_input input = {.topology = j->topology, .sole_reader = true, .network_id = w->job.network,
                        .levels_id = w->job.levels[0] != '\0' ? w->job.levels : NULL, .chip = j->chip,
                        .occupancy = j->occupancy, .options = j->options, .cache = w->watch->levels,
                        .scratch_folder = w->scratch};
  if (cm_map_options_from(j->options) != NULL) {
    if (cm_work_path(w, CM_WORK_FROM, j->from, error) != CM_OK)
      return error->status;
    input.from = j->from;
  }
  if (cm_map(&input, &w->run, &j->mapping, error) != CM_OK)
    return error->status;
  cm_run_phase(&w->run, "write");
  if (cm_mapping_write_folder(j->mapping, j->topology, j->chip, w->job.network, w->made, error) != CM_OK ||
      cm_pareto_write_folder(j->mapping, j->topology, j->chip, w->job.network, w->made, error) != CM_OK ||
      cm_mapping_write_beside(j->mapping, &input, &w->run, w->made, error) != CM_OK)
    return error->status;
  return tell(j, error);
}

cm_status cm_work_map(cm_work *work, cm_error *error)
{
  map_job j = {.work = work};
  cm_status status = run(&j, error);
  cm_mapping_free(j.mapping);
  cm_topology_free(j.topology);
  cm_occupancy_free(j.occupancy);
  cm_chip_free(j.chip);
  cm_map_options_free(j.options);
  return status;
}
