/* At start: what becomes of the jobs that were running. A sweep only waits for its jobs and goes on.
 * What can fail: the database; then the start does, and nothing has changed. */
#include <stdlib.h>

#include "base/memory.h"
#include "storage/jobs_internal.h"
#include "storage/sweep_jobs.h"

typedef struct recovery {
  const char *problem;
  cm_job *jobs; /* read, or to be moved */
  const cm_job *given;
  size_t count;
  cm_sweep_news news;
} recovery;

static void clear(recovery *r)
{
  for (size_t i = 0; i < r->count; i++)
    cm_job_clear(&r->jobs[i]);
  free(r->jobs);
  r->jobs = NULL;
  r->count = 0;
}

static cm_status read_interrupted(sqlite3 *handle, void *context, cm_error *error)
{
  recovery *r = context;
  sqlite3_stmt *statement;
  bool row = true;
  int64_t total;
  clear(r);
  CM_TRY(cm_sql_number(handle, 0, &total, error, "SELECT count(*) FROM jobs WHERE state = 'running' AND kind <> 'sweep'", ""));
  CM_TRY(CM_HEAP(r->jobs, (size_t)total + 1, "the queue", error));
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " CM_JOB_COLUMNS " FROM jobs WHERE state = 'running' AND kind <> 'sweep'",
                                    "");
  while (status == CM_OK && row && r->count < (size_t)total) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row)
      status = cm_job_from_row(statement, &r->jobs[r->count], error);
    r->count += status == CM_OK && row;
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_interrupted(cm_store *store, cm_job **jobs, size_t *count, cm_error *error)
{
  recovery r = {0};
  if (cm_database_read(store->database, read_interrupted, &r, error) != CM_OK) {
    clear(&r);
    return error->status;
  }
  *jobs = r.jobs;
  *count = r.count;
  return CM_OK;
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
    if (status == CM_OK && to != CM_JOB_QUEUED)
      status = cm_sweep_point_ended_in(handle, job->id, &r->news, error);
    if (status != CM_OK)
      return status;
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
