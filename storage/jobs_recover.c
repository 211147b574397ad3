/* At start: what becomes of the jobs that were running. A sweep only waits for its jobs and goes on.
 * What can fail: the database; then the start does, and nothing has changed. */
#include "storage/jobs_internal.h"
#include "storage/sweep_jobs.h"

typedef struct recovery {
  const char *problem;
  const cm_job *given;
  size_t count;
  cm_sweep_news news;
} recovery;

cm_status cm_jobs_interrupted(cm_store *store, cm_job **jobs, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {"", "SELECT " CM_JOB_COLUMNS " FROM jobs WHERE state = 'running' AND kind <> 'sweep'", "the queue", sizeof(cm_job),
                                   cm_job_from_row, cm_job_clear_row};
  return cm_database_list(store->database, &kind, jobs, count, error);
}

static cm_job_state recovered_as(const cm_job *job)
{
  return job->cancel_requested ? CM_JOB_CANCELLED : job->kills + 1 >= CM_JOB_KILLS_MAX ? CM_JOB_FAILED : CM_JOB_QUEUED;
}

static cm_status recover(sqlite3 *handle, void *context, cm_error *error)
{
  recovery *r = context;
  cm_sweep_news_clear(&r->news);
  double now = cm_store_time();
  for (size_t i = 0; i < r->count; i++) {
    const cm_job *job = &r->given[i];
    const cm_job_state to = recovered_as(job);
    CM_TRY(cm_job_move_in(handle, job, to, error));
    cm_status status =
        to == CM_JOB_QUEUED
            ? cm_sql_run(handle, NULL, error, "UPDATE jobs SET kills = kills + 1, fingerprint = NULL, waits_for = NULL WHERE id = ?", "t", job->id)
            : cm_sql_run(handle, NULL, error, "UPDATE jobs SET kills = kills + 1, fingerprint = NULL, finished = ?, problem = coalesce(?, problem)"
                         " WHERE id = ?", "dtt", now, to == CM_JOB_FAILED ? r->problem : NULL, job->id);
    CM_THEN_IF(status, to != CM_JOB_QUEUED, cm_sweep_point_ended_in(handle, job->id, &r->news, error));
    CM_TRY(status);
  }
  return CM_OK;
}

cm_status cm_jobs_recover(cm_store *store, const cm_job *jobs, size_t count, const char *problem, cm_error *error)
{
  recovery r = {.problem = problem, .given = jobs, .count = count};
  cm_status status = cm_database_write(store->database, recover, &r, error);
  for (size_t i = 0; i < count && status == CM_OK; i++)
    cm_job_log(&jobs[i], cm_job_state_name(recovered_as(&jobs[i])), "the server had ended while it ran");
  if (status == CM_OK)
    cm_sweep_tell(store, &r.news);
  else
    cm_sweep_news_clear(&r.news);
  return status;
}
