/* Looking at jobs: one, a list, what runs, how many there are. */
#include "storage/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "storage/jobs_internal.h"
#include "storage/estimates.h"
#include "storage/positions.h"

/* CM_JOB_COLUMNS, with nothing in place of the long texts. */
#define COLUMNS_SHORT \
  "sequence, id, kind, name, network, chip, reserve, ttl, priority, state, attempt, kills, moved," \
  " cancel_requested, reused, created, started, finished, mapping, lease, retries, retry_at, '', problem, '', phases, ''," \
  " fault, waits_for IS NULL AND retry_at IS NULL, user, team, visibility," \
  " waits_for IS NOT NULL, lane, expected_ms, likeness, size, request, sweep, '', ''"

typedef struct get_work {
  const char *id;
  cm_job job;
  uint64_t version;
  cm_queue_order *order; /* NULL: not read yet */
} get_work;

static cm_status look(sqlite3 *handle, void *context, cm_error *error)
{
  get_work *work = context;
  return cm_job_get_in(handle, work->id, &work->job, error);
}

/* With its place in the queue. */
static cm_status get(sqlite3 *handle, void *context, cm_error *error)
{
  get_work *work = context;
  if (cm_job_get_in(handle, work->id, &work->job, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  if (work->job.state == CM_JOB_QUEUED && work->order == NULL)
    status = cm_queue_order_load(handle, work->version, &work->order, error);
  if (work->job.state == CM_JOB_QUEUED && status == CM_OK)
    status = cm_queue_order_place(work->order, handle, &work->job, false, error);
  if (status != CM_OK)
    cm_job_clear(&work->job);
  return status;
}

cm_status cm_jobs_get(cm_store *store, const char *id, cm_job *job, cm_error *error)
{
  get_work work = {.id = id};
  if (cm_database_look(store->database, look, &work, error) != CM_OK)
    return error->status;
  if (work.job.state == CM_JOB_QUEUED) {
    cm_job_clear(&work.job);
    work.version = cm_database_version(store->database, CM_WATCHED_QUEUE);
    work.order = cm_queue_order_take(store, work.version);
    cm_status status = cm_database_read(store->database, get, &work, error);
    cm_queue_order_keep(store, work.order);
    if (status != CM_OK)
      return status;
  }
  *job = work.job;
  return CM_OK;
}

typedef struct list_work {
  const cm_job_filter *filter;
  cm_job *jobs;
  size_t count;
  uint64_t version;
  cm_queue_order *order; /* NULL: not read yet */
} list_work;

/* The index that finds what a filter asks for in order of sequence, and the filter as a condition. */
static const char *list_query(const cm_job_filter *f, char *query, size_t size)
{
  bool state = f->state != CM_JOB_STATES, user = f->user != NULL, network = f->network != NULL;
  const char *index = network && state ? "INDEXED BY jobs_network_state"
                      : network        ? "INDEXED BY jobs_network"
                      : state && user  ? "INDEXED BY jobs_state"
                      : state          ? "INDEXED BY jobs_by_state"
                      : user           ? "INDEXED BY jobs_by_user"
                                       : "";
  (void)snprintf(query, size,
                 "SELECT " COLUMNS_SHORT " FROM jobs j %s WHERE%s%s%s sequence < ?4%s ORDER BY sequence DESC LIMIT ?5", index,
                 state ? " state = ?1 AND" : "", user ? " user = ?2 AND" : "", network ? " network = ?3 AND" : "",
                 " AND " CM_VIEWER_SEES("j", "?6", "?7", "?8"));
  return query;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  list_work *work = context;
  const cm_job_filter *f = work->filter;
  sqlite3_stmt *statement = NULL;
  bool row = true;
  char query[1000];
  if (CM_HEAP(work->jobs, f->limit + 1, "the list of jobs", error) != CM_OK)
    return error->status;
  cm_status status = cm_sql_prepare(handle, &statement, error, list_query(f, query, sizeof query), "tttiiitt",
                                    f->state == CM_JOB_STATES ? NULL : cm_job_state_name(f->state), f->user, f->network,
                                    f->before != 0 ? f->before : INT64_MAX, (int64_t)f->limit, CM_VIEWER_VALUES(f->viewer));
  while (status == CM_OK && row && work->count < f->limit) {
    cm_job *job = &work->jobs[work->count];
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row)
      status = cm_job_from_row(statement, job, error);
    if (status != CM_OK || !row)
      break;
    work->count++;
    if (job->state == CM_JOB_QUEUED && work->order == NULL)
      status = cm_queue_order_load(handle, work->version, &work->order, error);
    if (status == CM_OK && job->state == CM_JOB_QUEUED)
      status = cm_queue_order_place(work->order, handle, job, f->network == NULL, error);
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_list(cm_store *store, const cm_job_filter *filter, cm_job **jobs, size_t *count, cm_error *error)
{
  list_work work = {.filter = filter, .version = cm_database_version(store->database, CM_WATCHED_QUEUE)};
  work.order = cm_queue_order_take(store, work.version);
  cm_status status = cm_database_read(store->database, list, &work, error);
  cm_queue_order_keep(store, work.order);
  if (status != CM_OK) {
    for (size_t i = 0; i < work.count; i++)
      cm_job_clear(&work.jobs[i]);
    free(work.jobs);
    return error->status;
  }
  *jobs = work.jobs;
  *count = work.count;
  return CM_OK;
}

static cm_status outlook(sqlite3 *handle, void *context, cm_error *error)
{
  cm_jobs_running *running = context;
  sqlite3_stmt *statement;
  bool row = true;
  double now = cm_store_time(), fraction, left;
  *running = (cm_jobs_running){0};
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT started, expected_ms FROM jobs INDEXED BY jobs_by_state WHERE state = 'running'"
                                    " AND kind <> 'sweep'", "");
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    cm_estimate_outlook(now - sqlite3_column_double(statement, 0), (double)sqlite3_column_int64(statement, 1) / 1000, &fraction,
                        &left);
    running->next = running->count == 0 ? left : fmin(running->next, left);
    running->all += left;
    running->count++;
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_outlook(cm_store *store, cm_jobs_running *running, cm_error *error)
{
  return cm_database_read(store->database, outlook, running, error);
}

static cm_status count(sqlite3 *handle, void *context, cm_error *error)
{
  uint64_t *counts = context;
  memset(counts, 0, CM_JOB_STATES * sizeof *counts);
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT state, jobs FROM job_totals", "");
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row) {
      char name[16];
      cm_sql_copy(statement, 0, name, sizeof name);
      cm_job_state state = cm_job_state_of(name);
      if (state < CM_JOB_STATES)
        counts[state] = (uint64_t)sqlite3_column_int64(statement, 1);
    }
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_count(cm_store *store, uint64_t counts[CM_JOB_STATES], cm_error *error)
{
  return cm_database_read(store->database, count, counts, error);
}
