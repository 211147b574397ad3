/* Kind quantize: a float32 model in, one in 8-bit integers out. */
#include <coremap/compile.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

/* On one thread; nothing outside the model's file is read, but for samples that were sent. */
static cm_status make_options(const cm_work *work, char **text, cm_error *error)
{
  char path[CM_PATH_MAX];
  json_t *options = cm_work_options(work);
  if (json_object_get(options, "data") != NULL && (cm_work_path(work, CM_WORK_UPLOAD, path, error) != CM_OK ||
                                                   cm_json_set(options, "data", json_string(path), "the job's options", error) != CM_OK)) {
    json_decref(options);
    return error->status;
  }
  (void)json_object_del(options, "threads");
  (void)json_object_set_new(options, "beside", json_false());
  if (work->job.time_limit > 0)
    (void)json_object_set_new(options, "time_limit", json_real(work->job.time_limit));
  return cm_work_text(options, text, error);
}

cm_status cm_work_quantize(cm_work *work, cm_error *error)
{
  char model[CM_PATH_MAX], out[CM_PATH_MAX], *options = NULL, *text;
  coremap_error *why = NULL;
  json_t *report = NULL;
  work->memory.limit_bytes = work->job.memory_limit;
  cm_status status = make_options(work, &options, error);
  CM_THEN(status, cm_work_path(work, CM_WORK_NETWORK, model, error));
  CM_THEN(status, cm_folder_make(work->made, error));
  CM_THEN(status, cm_path(out, error, "%s/model.onnx", work->made));
  CM_THEN(status, library_status(coremap_quantize(model, options, out, library_on_run, &work->run, &text, &why), &why, error));
  free(options);
  CM_THEN(status, cm_whole((report = library_json(text)) != NULL, "the report", error));
  CM_THEN(status, cm_work_keep_report(work, report, error));
  if (status == CM_OK)
    return cm_work_tell(work, "report", report, error);
  json_decref(report);
  return status;
}
