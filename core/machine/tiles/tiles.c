/* The way from a model's file to its tiles' files. */
#include "core/machine/tiles/tiles.h"

#include <math.h>

#include "core/base/file.h"
#include "core/mapping/export.h"
#include "core/mapping/map.h"
#include "core/mapping/metrics.h"
#include "core/network/export.h"
#include "core/operators/check.h"
#include "core/operators/control.h"
#include "core/operators/onnx/onnx.h"

cm_status cm_tiles_devices(const cm_chip *chip, cm_tile_device devices[CM_TARGET_DEVICES_MAX], uint32_t *count,
                           cm_error *error)
{
  const cm_target *target = chip->target;
  if (target == NULL || target->device_count == 0)
    return cm_fail(error, CM_BAD_CHIP, "chip %s names no devices to tile for: its file needs \"machine\" with \"devices\"",
                   chip->name);
  for (uint32_t i = 0; i < target->device_count; i++) {
    const cm_device *d = &target->device[i];
    devices[i] = (cm_tile_device){d->name, d->cores, d->length, d->transfer_ns, d->compute_ns, d->pipelined};
  }
  *count = target->device_count;
  return cm_tile_devices_check(devices, *count, error);
}

/* What cm_tiles_make makes on the way. */
typedef struct making {
  cm_tile_device device[CM_TARGET_DEVICES_MAX];
  uint32_t devices;
  const cm_model *model;
  cm_tiling *tiling;
  cm_topology *topology;
  cm_schedule *schedule;
  cm_mapping *mapping; /* NULL: not asked for */
} making;

static cm_status tile(making *m, cm_model *model, uint32_t pieces, cm_run *run, cm_error *error)
{
  cm_tile_options how = {m->device, m->devices, pieces > 0 ? pieces : CM_TILE_PIECES};
  m->model = model;
  cm_run_phase(run, "tile");
  if (cm_tile_model(model, &how, run, &m->tiling, error) != CM_OK ||
      cm_tiles_topology(model, m->tiling, m->device, run->memory, &m->topology, error) != CM_OK)
    return error->status;
  cm_run_phase(run, "schedule");
  return cm_tiles_schedule(m->tiling, m->device, m->devices, run, &m->schedule, error);
}

/* Fills in what nobody says: a part for every core, as even as the largest micro-operator allows, since what computes
 * side by side should not lie on one core; and preset fast. */
static json_t *complete(const json_t *given, const cm_topology *topology, const cm_chip *chip)
{
  json_t *options = given == NULL ? json_object() : json_deep_copy(given);
  uint32_t cores = cm_chip_cores(chip) - chip->dead_core_count;
  uint32_t parts = topology->vertex_count < cores ? topology->vertex_count : cores;
  double mean = (double)topology->size_total / (parts > 0 ? parts : 1), largest = 0;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    largest = topology->size[v] > largest ? topology->size[v] : largest;
  bool sized = json_object_get(options, "parts") != NULL || json_object_get(options, "max_part_size") != NULL;
  if (json_object_get(options, "preset") == NULL)
    json_object_set_new(options, "preset", json_string("fast"));
  if (!sized && parts > 0) {
    json_object_set_new(options, "parts", json_integer(parts));
    json_object_set_new(options, "imbalance", json_real(mean > 0 ? fmin(ceil(100 * largest / mean) / 100, 100) : 1));
  }
  return options;
}

cm_status cm_tiles_map(const cm_topology *topology, const cm_chip *chip, const json_t *options,
                       const char *scratch_folder, cm_run *run, cm_mapping **made, cm_error *error)
{
  cm_map_options *parsed;
  json_t *completed = complete(options, topology, chip);
  cm_status status = cm_map_options_parse(completed, &parsed, error);
  json_decref(completed);
  if (status != CM_OK)
    return status;
  cm_map_input input = {.topology = topology, .network_id = "tiles", .chip = chip, .options = parsed,
                        .scratch_folder = scratch_folder};
  status = cm_map(&input, run, made, error);
  cm_map_options_free(parsed);
  return status;
}

static cm_status write_trace(const making *m, cm_memory *memory, FILE *stream, cm_error *error)
{
  return cm_tiles_write_trace(m->model, m->tiling, m->device, m->devices, m->schedule, memory, stream, error);
}

static cm_status write_mapping(const making *m, const cm_chip *chip, FILE *stream, cm_error *error)
{
  return cm_mapping_write(m->mapping, m->topology, chip, NULL, CM_VIEW_FULL_JSON, stream, error);
}

/* The trace, or with a chip the mapping; NULL path: nothing. */
static cm_status write_file(const making *m, const char *path, const cm_chip *chip, cm_memory *memory, cm_error *error)
{
  cm_file file = {0};
  if (path == NULL)
    return CM_OK;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  cm_status status = chip != NULL ? write_mapping(m, chip, file.stream, error)
                                  : write_trace(m, memory, file.stream, error);
  if (status == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return status;
}

static cm_status report_of(const making *m, json_t **made, cm_error *error)
{
  json_t *report = cm_tiles_report(m->tiling, m->device, m->devices, m->schedule), *mapping = NULL;
  if (m->mapping != NULL)
    mapping = json_pack("{s:I, s:o}", "parts", (json_int_t)m->mapping->part_count, "metrics",
                        cm_metrics_json(&m->mapping->metrics));
  if (report == NULL || (m->mapping != NULL && json_object_set_new(report, "mapping", mapping) != 0)) {
    json_decref(report);
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
  }
  *made = report;
  return CM_OK;
}

cm_status cm_tiles_make(cm_model *model, const cm_chip *chip, const cm_tiles_options *options, cm_run *run,
                        const char *output, json_t **report, cm_error *error)
{
  making m = {.devices = 0};
  json_t *made = NULL;
  cm_status status = cm_tiles_devices(chip, m.device, &m.devices, error);
  if (status == CM_OK)
    status = tile(&m, model, options->pieces_max, run, error);
  if (status == CM_OK && options->mapping != NULL)
    status = cm_tiles_map(m.topology, chip, options->map_options, options->scratch_folder, run, &m.mapping, error);
  if (status == CM_OK && (status = report_of(&m, &made, error)) == CM_OK) {
    cm_run_phase(run, "write");
    if ((status = output != NULL ? cm_export(m.topology, output, run, error) : CM_OK) == CM_OK &&
        (status = write_file(&m, options->trace, NULL, run->memory, error)) == CM_OK)
      status = write_file(&m, options->mapping, chip, run->memory, error);
  }
  cm_mapping_free(m.mapping);
  cm_schedule_free(m.schedule);
  cm_topology_free(m.topology);
  cm_tiling_free(m.tiling);
  if (status != CM_OK) {
    json_decref(made);
    return status;
  }
  *report = made;
  return CM_OK;
}

cm_status cm_tiles_make_file(const char *path, const cm_chip *chip, const cm_tiles_options *options, cm_run *run,
                             const char *output, json_t **report, cm_error *error)
{
  cm_model *model = NULL;
  cm_run_phase(run, "read");
  cm_status status = cm_onnx_read_beside(path, run, &model, error);
  if (status != CM_OK)
    return status;
  cm_run_phase(run, "shapes");
  if (options->shapes != NULL)
    status = cm_model_state_shapes(model, options->shapes, error);
  if (status == CM_OK && (status = cm_model_need_shapes(model, error)) == CM_OK &&
      (status = cm_model_unroll(model, run, error)) == CM_OK && (status = cm_model_check(model, error)) == CM_OK)
    status = cm_tiles_make(model, chip, options, run, output, report, error);
  cm_model_free(model);
  return status;
}
