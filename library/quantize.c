/* Models in 8-bit integers. */
#include "base/json.h"
#include "core/quantize/quantize.h"
#include "library/internal.h"
#include "library/private/stored.h"

static cm_status read_options(const char *text, char data[CM_PATH_MAX], cm_quantize_options *options, cm_error *error)
{
  json_t *object = NULL;
  CM_TRY(library_options(text, &object, error));
  const json_t *beside = json_object_get(object, "beside");
  const bool taken = !json_is_false(beside);
  cm_status status = beside == NULL || json_is_boolean(beside) ? CM_OK : cm_option_refuse(error, "beside", "true or false");
  (void)json_object_del(object, "beside");
  CM_THEN(status, library_take_text(object, "data", data, error));
  CM_THEN(status, cm_quantize_options_read(object, options, error));
  options->beside = taken;
  options->data = data[0] != '\0' ? data : NULL;
  json_decref(object);
  return status;
}

int library_samples_pack(const char *folder, const char *out, coremap_error **error)
{
  cm_error e;
  return library_tell(cm_samples_pack(folder, out, &e), &e, error);
}

int coremap_quantize(const char *model, const char *options_text, const char *out, coremap_progress progress, void *user, char **report,
                     coremap_error **error)
{
  char data[CM_PATH_MAX] = "";
  library_run r;
  cm_quantize_options options;
  json_t *made = NULL;
  cm_status status = read_options(options_text, data, &options, &r.error);
  if (status != CM_OK)
    return library_tell(status, &r.error, error);
  library_begin(&r, progress, user);
  status = cm_quantize(model, &options, r.run, out, &made, &r.error);
  cm_run_finish(r.run);
  return library_tell(library_text_of(status, made, JSON_COMPACT | JSON_REAL_PRECISION(15), report, &r.error), &r.error, error);
}
