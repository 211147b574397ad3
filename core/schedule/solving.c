/* When a search for schedules is over. */
#include "core/schedule/solve.h"

cm_status cm_solving_done(cm_solving *s, bool *done, cm_error *error)
{
  cm_status status = cm_run_check(s->run, error);
  if (status != CM_OK && status != CM_TIME_LIMIT)
    return status;
  *done = status == CM_TIME_LIMIT || s->best->makespan <= s->best->lower_bound ||
          s->best->generated >= s->options->schedules;
  return CM_OK;
}
