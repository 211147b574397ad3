/* A user takes a job back, or a sweep with all that is left of it. */
#include "storage/audit.h"
#include "storage/jobs_internal.h"
#include "storage/sweep_jobs.h"

typedef struct cancel_work {
  const char *id;
  cm_job_state state;
  cm_job logged; /* without its texts */
  cm_sweep_news news;
} cancel_work;

static cm_status cancel(sqlite3 *handle, void *context, cm_error *error)
{
  cancel_work *work = context;
  cm_job job;
  cm_sweep_news_clear(&work->news);
  CM_TRY(cm_job_get_in(handle, work->id, &job, error));
  cm_status status;
  work->state = job.state;
  work->logged = job;
  cm_audit_effect("job %s, %s -> %s", job.id, cm_job_state_name(job.state),
                  job.state == CM_JOB_RUNNING ? "asked to stop" : cm_job_state_name(CM_JOB_CANCELLED));
  if (job.state == CM_JOB_RUNNING)
    status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET cancel_requested = 1 WHERE id = ?", "t", job.id);
  else {
    status = cm_job_move_in(handle, &job, CM_JOB_CANCELLED, error);
    if (status == CM_OK)
      status = cm_sql_run(handle, NULL, error,
                          "UPDATE jobs SET cancel_requested = 1, finished = ?, retry_at = NULL, waits_for = NULL"
                          " WHERE id = ?", "dt", cm_store_time(), job.id);
    CM_THEN(status, cm_sweep_point_ended_in(handle, job.id, &work->news, error));
  }
  CM_THEN_IF(status, cm_job_is_sweep(&job), cm_sweep_cancel_in(handle, job.id, &work->news, error));
  cm_job_clear(&job);
  return status;
}

cm_status cm_jobs_cancel(cm_store *store, const char *id, cm_error *error)
{
  cancel_work work = {.id = id};
  cm_status status = cm_database_write(store->database, cancel, &work, error);
  CM_TRY_OR(status, cm_sweep_news_clear(&work.news));
  cm_job_log(&work.logged, work.state == CM_JOB_RUNNING ? "asked to stop" : "cancelled", "");
  if (work.state == CM_JOB_RUNNING)
    cm_event_bus_cancel(store->bus, id);
  else {
    cm_job_publish(store, id, CM_JOB_CANCELLED, NULL, NULL);
    cm_event_bus_finished(store->bus, id);
  }
  cm_sweep_tell(store, &work.news);
  return CM_OK;
}
