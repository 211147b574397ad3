/* Runs, errors and texts at the border of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/option.h"
#include "library/internal.h"

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
  cm_memory_init(&r->memory, 0);
  cm_run_init(&r->run);
  r->run.memory = &r->memory;
  r->run.cancel = &r->stop;
  r->progress = progress;
  r->user = user;
  if (progress != NULL) {
    r->run.on_progress = on_progress;
    r->run.user = r;
  }
}

/* ---- options ---- */

cm_status library_options(const char *text, json_t **object, cm_error *error)
{
  bool given = text != NULL && text[0] != '\0';
  json_t *made = given ? cm_json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, NULL) : json_object();
  if (made == NULL && !given)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for options");
  if (!json_is_object(made)) {
    json_decref(made);
    cm_fail(error, CM_BAD_OPTION, "the options are no JSON object, as {\"seed\": 1} is one");
    return cm_fail_at(error, "/options");
  }
  *object = made;
  return CM_OK;
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
