/* Looking at jobs: one, a list, what runs, how many there are. */
#include <math.h>

#include "storage/jobs_internal.h"
#include "storage/estimates.h"
#include "storage/positions.h"

/* CM_JOB_COLUMNS, with nothing in place of the long texts. */
#define COLUMNS_SHORT \
  "sequence, id, kind, name, network, chip, reserve, ttl, priority, state, attempt, kills, moved," \
  " cancel_requested, reused, created, started, finished, mapping, lease, retries, retry_at, '', problem, '', phases, ''," \
  " fault, waits_for IS NULL AND retry_at IS NULL, user, team, visibility," \
  " waits_for IS NOT NULL, lane, expected_ms, likeness, size, request, sweep, label_set, '', ''"

/* With its place in the queue; `order`, NULL: not read yet. */
static cm_status get_placed(sqlite3 *handle, const char *id, uint64_t version, cm_queue_order **order, cm_job *job, cm_error *error)
{
  CM_TRY(cm_job_get_in(handle, id, job, error));
  cm_status status = CM_OK;
  if (job->state == CM_JOB_QUEUED && *order == NULL)
    status = cm_queue_order_load(handle, version, order, error);
  if (job->state == CM_JOB_QUEUED && status == CM_OK)
    status = cm_queue_order_place(*order, handle, job, false, error);
  if (status != CM_OK)
    cm_job_clear(job);
  return status;
}

cm_status cm_jobs_get(cm_store *store, const char *id, cm_job *job, cm_error *error)
{
  cm_reading r;
  cm_job found;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_job_get_in(r.handle, id, &found, error));
  CM_TRY(cm_reading_end(&r, status));
  if (found.state == CM_JOB_QUEUED) {
    cm_job_clear(&found);
    const uint64_t version = cm_database_version(store->database, CM_WATCHED_QUEUE);
    cm_queue_order *order = cm_queue_order_take(store, version);
    status = cm_reading_begin(store->database, false, &r, error);
    CM_THEN(status, get_placed(r.handle, id, version, &order, &found, error));
    status = cm_reading_end(&r, status);
    cm_queue_order_keep(store, order);
    CM_TRY(status);
  }
  *job = found;
  return CM_OK;
}

typedef struct list_work {
  const cm_list_query *query;
  cm_list_page *page;
  cm_job *jobs;
  size_t count;
  uint64_t version;
  cm_queue_order *order; /* NULL: not read yet */
} list_work;

/* Whether no queued job of a user, lane and priority is left out between two of a page. */
static bool leaves_none_out(const cm_list_query *q)
{
  bool all = q->sort == NULL && !q->rising && q->ids == NULL;
  for (size_t i = 0; i < q->count; i++)
    all = all && (strcmp(q->conditions[i].field->name, "state") == 0 || strcmp(q->conditions[i].field->name, "user") == 0);
  return all;
}

static cm_status list_one(sqlite3 *handle, list_work *work, const cm_list_row *listed, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_job *job = &work->jobs[work->count];
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " COLUMNS_SHORT " FROM jobs WHERE sequence = ?", "i", listed->sequence);
  if (cm_sql_next(statement, &status, error))
    work->count += (status = cm_job_from_row(statement, job, error)) == CM_OK;
  status = cm_sql_end(statement, status, error);
  CM_THEN_IF(status, job->state == CM_JOB_QUEUED && work->order == NULL, cm_queue_order_load(handle, work->version, &work->order, error));
  CM_THEN_IF(status, job->state == CM_JOB_QUEUED, cm_queue_order_place(work->order, handle, job, leaves_none_out(work->query), error));
  return status;
}

static cm_status list(sqlite3 *handle, list_work *work, cm_error *error)
{
  CM_TRY(cm_lists_read_in(handle, work->query, work->page, error));
  cm_status status = CM_HEAP(work->jobs, work->page->count + 1, "the list of jobs", error);
  for (size_t i = 0; status == CM_OK && i < work->page->count; i++)
    status = list_one(handle, work, &work->page->rows[i], error);
  return status;
}

cm_status cm_jobs_list(cm_store *store, const cm_list_query *query, cm_list_page *page, cm_job **jobs, cm_error *error)
{
  cm_reading r;
  list_work work = {.query = query, .page = page, .version = cm_database_version(store->database, CM_WATCHED_QUEUE)};
  *page = (cm_list_page){0};
  work.order = cm_queue_order_take(store, work.version);
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, list(r.handle, &work, error));
  status = cm_reading_end(&r, status);
  cm_queue_order_keep(store, work.order);
  if (status == CM_OK) {
    *jobs = work.jobs;
    return CM_OK;
  }
  for (size_t i = 0; i < work.count; i++)
    cm_job_clear(&work.jobs[i]);
  free(work.jobs);
  return status;
}

cm_status cm_jobs_changes(cm_store *store, const char *user, uint64_t since, void (*tell)(void *context, const cm_job_change *change), void *context,
                          cm_error *error)
{
  cm_reading r;
  sqlite3_stmt *statement = NULL;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_sql_prepare(r.handle, &statement, error,
                                 "SELECT id, kind, coalesce(mapping, ''), state, max(created, coalesce(started, 0), coalesce(finished, 0)) AS at"
                                 " FROM jobs INDEXED BY jobs_by_user WHERE user = ?1 AND CAST(at * 1e6 AS INTEGER) > ?2 ORDER BY at, sequence", "ti", user,
                                 (int64_t)since));
  while (cm_sql_next(statement, &status, error)) {
    char id[CM_ID_MAX], kind[16], mapping[CM_ID_MAX], state[16];
    double at;
    (void)cm_sql_columns(statement, error, "ttttd", CM_INTO(id), CM_INTO(kind), CM_INTO(mapping), CM_INTO(state), &at);
    tell(context, &(cm_job_change){id, kind, mapping, cm_job_state_of(state), at});
  }
  return cm_reading_end(&r, cm_sql_end(statement, status, error));
}

cm_status cm_jobs_busy(cm_store *store, const char *user, bool *busy, cm_error *error)
{
  return cm_database_find(store->database, NULL, error,
                          "SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_state WHERE state IN ('queued', 'running') AND user = ?)", "t>b", user, busy);
}

cm_status cm_jobs_outlook(cm_store *store, cm_jobs_running *running, cm_error *error)
{
  cm_reading r;
  sqlite3_stmt *statement = NULL;
  double now = cm_store_time();
  *running = (cm_jobs_running){0};
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_sql_prepare(r.handle, &statement, error, "SELECT started, expected_ms FROM jobs INDEXED BY jobs_by_state WHERE state = 'running'"
                                 " AND kind <> 'sweep'", ""));
  while (cm_sql_next(statement, &status, error)) {
    const double left = cm_estimate_left(now - sqlite3_column_double(statement, 0), (double)sqlite3_column_int64(statement, 1) / 1000);
    running->next = running->count == 0 ? left : fmin(running->next, left);
    running->all += left;
    running->count++;
  }
  return cm_reading_end(&r, cm_sql_end(statement, status, error));
}

cm_status cm_jobs_history(cm_store *store, const char *id, char **text, cm_error *error)
{
  bool found = false;
  *text = NULL;
  CM_TRY(cm_database_find(store->database, &found, error, "SELECT history FROM jobs WHERE id = ?", "t>s", id, text));
  return found ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no job %s", id);
}

cm_status cm_jobs_known(cm_store *store, const cm_job *job, unsigned *known, double *bytes, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, cm_estimate_known_in(r.handle, job, known, error));
  CM_THEN(status, cm_estimate_bytes_in(r.handle, job, bytes, error));
  return cm_reading_end(&r, status);
}

cm_status cm_jobs_count(cm_store *store, uint64_t counts[CM_JOB_STATES], cm_error *error)
{
  cm_reading r;
  sqlite3_stmt *statement = NULL;
  memset(counts, 0, CM_JOB_STATES * sizeof *counts);
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_sql_prepare(r.handle, &statement, error, "SELECT state, jobs FROM job_totals", ""));
  while (cm_sql_next(statement, &status, error)) {
    char name[16];
    cm_sql_copy(statement, 0, name, sizeof name);
    const cm_job_state state = cm_job_state_of(name);
    if (state < CM_JOB_STATES)
      counts[state] = (uint64_t)sqlite3_column_int64(statement, 1);
  }
  return cm_reading_end(&r, cm_sql_end(statement, status, error));
}
