/* Kind compile: a model in, a program or what another stage makes out. */
#include "base/json.h"
#include "core/machine/compile.h"

#include <errno.h>

#include "daemon/job/internal.h"

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

static cm_status write_report(cm_work *w, const json_t *report, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  if (cm_path(path, error, "%s/report.json", w->made) != CM_OK || cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (cm_json_dumpf(report, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
    cm_fail_errno(error, errno != 0 ? errno : ENOSPC, "cannot write", path);
    cm_file_discard(&file);
    return error->status;
  }
  return cm_file_commit(&file, error);
}

/* The report without its lists: they are in the program's own file. */
static json_t *short_report(const json_t *compiled)
{
  json_t *report = json_copy((json_t *)(uintptr_t)compiled);
  size_t count = json_array_size(json_object_get(report, "moves"));
  (void)json_object_set_new(report, "moves", json_integer((json_int_t)count));
  (void)json_object_del(report, "permutations");
  return report;
}

static cm_status compile(cm_work *w, const cm_chip *chip, cm_compile_options *options, json_t **report, cm_error *error)
{
  char model[CM_PATH_MAX], out[CM_PATH_MAX], timeline[CM_PATH_MAX], tiles[CM_PATH_MAX], mapping[CM_PATH_MAX];
  if (cm_work_path(w, CM_WORK_NETWORK, model, error) != CM_OK || cm_folder_make(w->made, error) != CM_OK ||
      cm_path(out, error, "%s/%s", w->made, compiled_name(cm_compile_last_stage(options, chip))) != CM_OK ||
      cm_path(timeline, error, "%s/schedule.json", w->made) != CM_OK ||
      cm_path(tiles, error, "%s/tiles.zip", w->made) != CM_OK ||
      cm_path(mapping, error, "%s/mapping.json", w->made) != CM_OK)
    return error->status;
  options->tiles = tiles;
  options->mapping = mapping;
  options->threads = w->job.threads;
  options->memory_limit = w->job.memory_limit;
  return cm_compile(model, options, chip, &w->run, out, timeline, report, error);
}

cm_status cm_work_compile(cm_work *work, cm_error *error)
{
  cm_compile_options options;
  cm_chip *chip = NULL;
  json_t *report = NULL;
  cm_status status = cm_compile_options_read(work->job.options, &options, error);
  if (status == CM_OK)
    status = cm_work_chip(work, &chip, error);
  if (status == CM_OK)
    status = compile(work, chip, &options, &report, error);
  if (status == CM_OK)
    status = write_report(work, report, error);
  if (status == CM_OK)
    status = cm_work_tell(work, "report", short_report(report), error);
  json_decref(report);
  cm_chip_free(chip);
  return status;
}
