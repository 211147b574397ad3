/* Kind compile: a model in, a program or what another stage makes out. */
#include "base/json.h"

#include <coremap/compile.h>
#include <coremap/network.h>
#include <unistd.h>

#include "daemon/job/work_parts.h"

/* The file of a program's folder that a compilation ends in. */
static const char *compiled_name(const char *last)
{
  static const char *const names[][2] = {{"split", "pieces.json"}, {"order", "pieces.json"}, {"tile", "tiles.zip"},
                                         {"program", "program.bin"}, {"mapping", "mapping.json"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], last) == 0)
      return names[i][1];
  return "model.onnx";
}

/* The report without its lists: they are in the program's own file. */
static json_t *short_report(const json_t *compiled)
{
  json_t *report = json_copy((json_t *)(uintptr_t)compiled);
  size_t count = json_array_size(json_object_get(report, "moves"));
  (void)json_object_set_new(report, "moves", json_integer((json_int_t)count));
  (void)json_object_del(report, "permutations");
  (void)json_object_del(report, "nodes");
  return report;
}

/* What goes beside a program; nothing outside the model's file is read. */
static cm_status make_files(const cm_work *w, char **files, cm_error *error)
{
  char timeline[CM_PATH_MAX], tiles[CM_PATH_MAX], mapping[CM_PATH_MAX];
  CM_TRY(cm_path(timeline, error, "%s/schedule.json", w->made));
  CM_TRY(cm_path(tiles, error, "%s/tiles.zip", w->made));
  CM_TRY(cm_path(mapping, error, "%s/mapping.json", w->made));
  return cm_work_text(json_pack("{s:s, s:s, s:s, s:b}", "timeline", timeline, "tiles", tiles, "mapping", mapping, "beside", 0), files, error);
}

static cm_status compile(cm_work *w, const coremap_chip *chip, const char *options, json_t **report, cm_error *error)
{
  char model[CM_PATH_MAX], out[CM_PATH_MAX], *files = NULL, *text;
  const char *last;
  coremap_error *why = NULL;
  if (library_status(coremap_compile_last(options, chip, &last, &why), &why, error) != CM_OK ||
      cm_work_path(w, CM_WORK_NETWORK, model, error) != CM_OK || cm_folder_make(w->made, error) != CM_OK ||
      cm_path(out, error, "%s/%s", w->made, compiled_name(last)) != CM_OK || make_files(w, &files, error) != CM_OK)
    return error->status;
  cm_status status =
    library_status(coremap_compile_files(model, chip, options, files, out, library_on_run, &w->run, &text, &why), &why, error);
  free(files);
  CM_THEN(status, cm_whole((*report = library_json(text)) != NULL, "the report", error));
  return status;
}

/* Where the tiles of a program lie, if the job says so. */
static cm_status check_tiles(cm_work *w, const coremap_chip *chip, cm_error *error)
{
  char tiles[CM_PATH_MAX], mapping[CM_PATH_MAX], program[CM_PATH_MAX];
  coremap_network *network = NULL;
  coremap_error *why = NULL;
  CM_TRY(cm_path(tiles, error, "%s/tiles.zip", w->made));
  CM_TRY(cm_path(mapping, error, "%s/mapping.json", w->made));
  CM_TRY(cm_path(program, error, "%s/program.bin", w->made));
  if (access(mapping, F_OK) != 0 || access(tiles, F_OK) != 0)
    return CM_OK;
  int result = coremap_network_read(tiles, NULL, library_on_run, &w->run, &network, &why);
  if (result == 0)
    result = library_tiles_check(mapping, access(program, F_OK) == 0 ? program : NULL, network, chip, &w->run, &why);
  coremap_network_free(network);
  return library_status(result, &why, error);
}

cm_status cm_work_compile(cm_work *work, cm_error *error)
{
  coremap_chip *chip = NULL;
  json_t *report = NULL;
  char *options = NULL;
  cm_status status = cm_work_text(cm_work_options(work), &options, error);
  CM_THEN(status, cm_work_chip(work, &chip, error));
  CM_THEN(status, compile(work, chip, options, &report, error));
  CM_THEN(status, check_tiles(work, chip, error));
  CM_THEN(status, cm_work_keep_report(work, report, error));
  CM_THEN(status, cm_work_tell(work, "report", short_report(report), error));
  json_decref(report);
  free(options);
  coremap_chip_free(chip);
  return status;
}
