/* C from programs. */
#include <coremap/program.h>

#include "base/json.h"
#include "core/csource/csource.h"
#include "library/internal.h"
#include "library/program_held.h"

static cm_status read_count(json_t *object, const char *name, uint64_t most, uint64_t *count, cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  if (value != NULL && (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > most))
    return cm_option_refuse(error, name, "a whole number");
  if (value != NULL)
    *count = (uint64_t)json_integer_value(value);
  (void)json_object_del(object, name);
  return CM_OK;
}

/* A short text; as it is where none is given. */
static cm_status read_word(json_t *object, const char *name, char word[CM_TARGET_NAME_MAX], cm_error *error)
{
  char text[CM_PATH_MAX];
  CM_TRY(library_take_text(object, name, text, error));
  if (text[0] != '\0')
    (void)snprintf(word, CM_TARGET_NAME_MAX, "%.31s", text);
  return CM_OK;
}

/* Where the files go: a folder, or an archive; "": not there. */
typedef struct place {
  char folder[CM_PATH_MAX], archive[CM_PATH_MAX];
} place;

static cm_status read_options(const char *text, cm_c_options *options, place *to, cm_error *error)
{
  json_t *object = NULL;
  uint64_t lanes = 0;
  char weights[CM_TARGET_NAME_MAX] = "";
  cm_c_options_default(options);
  cm_status status = library_options(text, &object, error);
  if (status == CM_OK && read_word(object, "target", options->target, error) == CM_OK && read_word(object, "name", options->name, error) == CM_OK &&
      read_word(object, "weights", weights, error) == CM_OK && library_take_flag(object, "pieces", &options->pieces, error) == CM_OK &&
      read_count(object, "lanes", CM_TARGET_LANES_MAX, &lanes, error) == CM_OK && read_count(object, "seed", INT64_MAX, &options->seed, error) == CM_OK)
    status = library_take_text(object, "output_dir", to->folder, error);
  else
    status = error->status;
  CM_THEN(status, library_take_text(object, "archive", to->archive, error));
  CM_THEN_IF(status, (to->folder[0] == '\0') == (to->archive[0] == '\0'), cm_option_refuse(error, "output_dir", "a folder, or instead of it archive a file"));
  CM_THEN(status, library_nothing_left(object, "emitting C", error));
  options->binary = strcmp(weights, "binary") == 0;
  CM_THEN_IF(status, !options->binary && weights[0] != '\0' && strcmp(weights, "arrays") != 0, cm_option_refuse(error, "weights", "arrays or binary"));
  options->lanes = (uint32_t)lanes;
  json_decref(object);
  return status;
}

static cm_status emit(const cm_program *program, const cm_c_options *options, const place *to, cm_run *run, json_t **report, cm_error *error)
{
  cm_c_file files[CM_C_FILES];
  CM_TRY(cm_c_make(program, options, run, files, report, error));
  cm_status status = to->folder[0] != '\0' ? cm_c_write_folder(files, to->folder, error) : cm_c_write_archive(files, options->name, to->archive, error);
  cm_c_files_free(files);
  if (status != CM_OK)
    json_decref(*report);
  return status;
}

int coremap_program_emit(const coremap_program *program, const char *options_text, coremap_progress progress, void *user, char **report,
                         coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_c_options options;
  place to;
  json_t *made = NULL;
  if (read_options(options_text, &options, &to, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  library_begin(&r, progress, user);
  cm_status status = emit(program->program, &options, &to, r.run, &made, &e);
  cm_run_finish(r.run);
  CM_THEN(status, library_text(made, JSON_COMPACT, report, &e));
  return library_tell(status, &e, error);
}
