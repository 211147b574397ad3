/* Kind solve: a placement problem, which stands among the options. */
#include <coremap/solve.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

cm_status cm_work_solve(cm_work *work, cm_error *error)
{
  coremap_error *why = NULL;
  char *options = NULL, *problem = NULL, *answer;
  work->memory.limit_bytes = work->job.memory_limit;
  const uint64_t refusals = cm_json_refusals();
  json_t *rest = json_copy(work->job.options), *asked = json_incref(json_object_get(rest, "problem"));
  (void)json_object_del(rest, "problem");
  if (work->job.time_limit > 0)
    (void)json_object_set_new(rest, "time_limit", json_real(work->job.time_limit));
  cm_status status = cm_work_text(rest, &options, error);
  if (cm_json_text(asked, JSON_COMPACT, "the problem", &problem, error) != CM_OK || status != CM_OK)
    status = error->status;
  CM_THEN(status, cm_json_whole(refusals, "the job's options", error));
  CM_THEN(status, library_status(coremap_solve(problem, options, library_on_run, &work->run, &answer, &why), &why, error));
  CM_THEN(status, cm_work_tell(work, "report", library_json(answer), error));
  free(options);
  free(problem);
  return status;
}
