/* Runs, errors and texts at the border of the library. */
#include "base/json.h"
#include "library/internal.h"
#include "library/private/base.h"

struct coremap_error {
  cm_error error;
};

static coremap_error no_memory = {{.status = CM_NO_MEMORY, .detail = "out of memory"}};

const char *coremap_version(void)
{
  return CM_VERSION;
}

void coremap_text_free(char *text)
{
  free(text);
}

json_t *library_json(char *text)
{
  json_t *read = cm_json_loadb(text, strlen(text), JSON_DECODE_ANY, NULL);
  coremap_text_free(text);
  return read;
}

/* ---- errors ---- */

int library_tell(cm_status status, const cm_error *e, coremap_error **error)
{
  if (status == CM_OK)
    return 0;
  if (error == NULL)
    return -1;
  *error = malloc(sizeof **error);
  if (*error == NULL)
    *error = &no_memory;
  else
    (*error)->error = *e;
  return -1;
}

const char *coremap_error_code(const coremap_error *error)
{
  return cm_status_code(error->error.status);
}

const char *coremap_error_detail(const coremap_error *error)
{
  return error->error.detail;
}

const char *coremap_error_place(const coremap_error *error)
{
  return error->error.where;
}

int coremap_error_figure(const coremap_error *error, const char *name, uint64_t *value)
{
  for (size_t i = 0; i < error->error.figure_count; i++)
    if (strcmp(error->error.figures[i].name, name) == 0) {
      *value = error->error.figures[i].value;
      return 1;
    }
  return 0;
}

void coremap_error_free(coremap_error *error)
{
  if (error != &no_memory)
    free(error);
}

/* ---- runs ---- */

static void on_progress(void *user, const cm_progress *progress)
{
  library_run *r = user;
  if (r->progress(r->user, progress->phase, progress->fraction) != 0)
    atomic_store(&r->stop, true);
}

void library_begin(library_run *r, coremap_progress progress, void *user)
{
  memset(r, 0, sizeof *r);
  r->run = progress == library_on_run ? user : &r->own;
  cm_memory_init(&r->memory, 0);
  cm_run_init(&r->own);
  r->own.memory = &r->memory;
  r->own.cancel = &r->stop;
  r->progress = progress;
  r->user = user;
  if (progress != NULL) {
    r->own.on_progress = on_progress;
    r->own.user = r;
  }
}

void library_outlive(library_run *r, cm_memory *memory)
{
  if (r->run == &r->own)
    r->own.memory = memory;
}

/* ---- our own programs ---- */

int library_on_run(CM_UNUSED void *user, CM_UNUSED const char *phase, CM_UNUSED double fraction)
{
  return 0;
}

cm_status library_status(int result, coremap_error **why, cm_error *error)
{
  if (result == 0)
    return CM_OK;
  *error = (*why)->error;
  coremap_error_free(*why);
  *why = NULL;
  return error->status;
}

/* ---- options ---- */

cm_status library_options(const char *text, json_t **object, cm_error *error)
{
  bool given = text != NULL && text[0] != '\0';
  uint64_t before = cm_json_refusals();
  json_t *made = given ? cm_json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, NULL) : json_object();
  if (made == NULL && cm_json_whole(before, "the options", error) != CM_OK)
    return error->status;
  if (!json_is_object(made)) {
    json_decref(made);
    cm_fail(error, CM_BAD_OPTION, "the options are no JSON object, as {\"seed\": 1} is one");
    return cm_fail_at(error, "/options");
  }
  *object = made;
  return CM_OK;
}

cm_status library_text(json_t *object, size_t flags, char **text, cm_error *error)
{
  return cm_json_text(object, flags, "a text", text, error);
}

cm_status library_text_of(cm_status status, json_t *object, size_t flags, char **text, cm_error *error)
{
  if (status == CM_OK)
    return library_text(object, flags, text, error);
  json_decref(object);
  return status;
}

cm_status library_whole_text(json_t *object, uint64_t before, char **text, cm_error *error)
{
  if (cm_json_whole(before, "a text", error) == CM_OK)
    return library_text(object, JSON_COMPACT, text, error);
  json_decref(object);
  return error->status;
}

cm_status library_take_text(json_t *object, const char *name, char room[CM_PATH_MAX], cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  room[0] = '\0';
  if (value == NULL)
    return CM_OK;
  if (!json_is_string(value) || json_string_length(value) >= CM_PATH_MAX)
    return cm_option_refuse(error, name, "text");
  memcpy(room, json_string_value(value), json_string_length(value) + 1);
  (void)json_object_del(object, name);
  return CM_OK;
}

cm_status library_take_flag(json_t *object, const char *name, bool *flag, cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  if (value != NULL && !json_is_boolean(value))
    return cm_option_refuse(error, name, "true or false");
  *flag = json_is_true(value);
  (void)json_object_del(object, name);
  return CM_OK;
}

cm_status library_nothing_left(json_t *object, const char *of, cm_error *error)
{
  if (json_object_size(object) == 0)
    return CM_OK;
  const char *unknown = json_object_iter_key(json_object_iter(object));
  cm_fail(error, CM_BAD_OPTION, "there is no option %s of %s", unknown, of);
  return cm_fail_at(error, "/options/%s", unknown);
}
