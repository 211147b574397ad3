/* A job of kind compile: a model in, a program or what another stage makes out. */
#include "core/machine/compile.h"

#include "daemon/running.h"
#include "storage/occupancy.h"
#include "storage/networks.h"

static cm_status read_compile_options(cm_running *r, cm_compile_options *options, cm_error *error)
{
  json_t *json = json_loads(r->job.options, 0, NULL);
  cm_status status = cm_compile_options_read(json, options, error);
  json_decref(json);
  if (status == CM_OK)
    cm_running_bound(r, &options->threads, &options->memory_limit);
  return status;
}

static cm_status write_program(cm_running *r, const char *folder, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  if (cm_path(path, error, "%s/report.json", folder) != CM_OK || cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (json_dumpf(r->compiled, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
    cm_file_discard(&file);
    return cm_fail(error, CM_DISK_FULL, "cannot write %s", path);
  }
  if (cm_file_commit(&file, error) != CM_OK)
    return error->status;
  return cm_running_place(r, folder, error);
}

/* The file of a program's folder that a compilation ends in. */
static const char *compiled_name(cm_compile_stage last)
{
  switch (last) {
  case CM_STAGE_SPLIT:
  case CM_STAGE_ORDER: return "pieces.json";
  case CM_STAGE_TILE: return "tiles.zip";
  case CM_STAGE_PROGRAM: return "program.bin";
  case CM_STAGE_MAPPING: return "mapping.json";
  default: return "model.onnx";
  }
}

cm_status cm_running_compile(cm_running *r, cm_error *error)
{
  cm_compile_options options;
  char model[CM_PATH_MAX], folder[CM_PATH_MAX], out[CM_PATH_MAX], timeline[CM_PATH_MAX], tiles[CM_PATH_MAX],
      mapping[CM_PATH_MAX];
  if (read_compile_options(r, &options, error) != CM_OK || cm_running_scratch(r, error) != CM_OK ||
      (r->job.chip[0] != '\0' &&
       cm_occupancy_open(r->store, r->job.chip, &r->chip, &r->occupancy, error) != CM_OK) ||
      cm_networks_path(r->store, r->job.network, model, error) != CM_OK ||
      cm_path(folder, error, "%s/program", r->scratch) != CM_OK || cm_folder_make(folder, error) != CM_OK ||
      cm_path(out, error, "%s/%s", folder,
              compiled_name(cm_compile_last_stage(&options, r->chip))) != CM_OK ||
      cm_path(timeline, error, "%s/schedule.json", folder) != CM_OK ||
      cm_path(tiles, error, "%s/tiles.zip", folder) != CM_OK ||
      cm_path(mapping, error, "%s/mapping.json", folder) != CM_OK)
    return error->status;
  options.tiles = tiles;
  options.mapping = mapping;
  options.scratch_folder = r->scratch;
  if (cm_compile(model, &options, r->chip, &r->run, out, timeline, &r->compiled, error) != CM_OK)
    return error->status;
  return write_program(r, folder, error);
}
