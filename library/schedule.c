/* Workloads to schedules. */
#include <stdio.h>
#include <stdlib.h>

#include "core/schedule/request.h"
#include "library/internal.h"

static cm_status print(const cm_schedule *schedule, char **text, cm_error *error)
{
  char *bytes = NULL;
  size_t size;
  FILE *stream = open_memstream(&bytes, &size);
  if (stream == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the schedule");
  cm_status status = cm_schedule_write_json(schedule, stream, error);
  if (fclose(stream) != 0 && status == CM_OK)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory for the schedule");
  if (status == CM_OK)
    *text = bytes;
  else
    free(bytes);
  return status;
}

int coremap_schedule(const char *path, const char *options, coremap_progress progress, void *user, char **text,
                     coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_schedule_request request;
  cm_workload *workload = NULL;
  cm_schedule *schedule = NULL;
  json_t *object = NULL;
  const char *format;
  cm_status status = library_options(options, &object, &e);
  if (status == CM_OK)
    status = cm_schedule_request_read(object, &request, &e);
  json_decref(object);
  if (status != CM_OK)
    return library_tell(status, &e, error);
  library_begin(&r, progress, user);
  status = cm_schedule_file(path, &request, r.run, &workload, &format, &schedule, &e);
  cm_run_finish(r.run);
  if (status == CM_OK)
    status = print(schedule, text, &e);
  cm_schedule_free(schedule);
  cm_workload_free(workload);
  return library_tell(status, &e, error);
}
