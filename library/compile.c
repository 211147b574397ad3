/* Models to programs. */
#include "base/json.h"
#include "core/machine/compile.h"
#include "library/internal.h"

int coremap_compile(const char *model, const coremap_chip *chip, const char *options_text, const char *out,
                    coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_compile_options options;
  json_t *object = NULL, *made = NULL;
  char *text = NULL;
  cm_status status = library_options(options_text, &object, &e);
  if (status == CM_OK)
    status = cm_compile_options_read(object, &options, &e);
  json_decref(object);
  if (status != CM_OK)
    return library_tell(status, &e, error);
  library_begin(&r, progress, user);
  r.run->seed = options.seed;
  r.run->threads = options.threads;
  r.run->deadline = options.time_limit > 0 ? cm_now() + options.time_limit : 0;
  r.run->memory->limit_bytes = options.memory_limit;
  options.beside = true;
  options.make_tiles = false;
  status = cm_compile(model, &options, chip != NULL ? chip->chip : NULL, r.run, out, NULL, &made, &e);
  cm_run_finish(r.run);
  if (status == CM_OK && (text = cm_json_dumps(made, JSON_COMPACT)) == NULL)
    status = cm_fail(&e, CM_NO_MEMORY, "out of memory for the report");
  json_decref(made);
  if (status == CM_OK)
    *report = text;
  return library_tell(status, &e, error);
}
