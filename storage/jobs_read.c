/* Looking at jobs: one, a list, what runs, how many there are. */
#include "storage/jobs.h"

#include <math.h>
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
  " waits_for IS NOT NULL, lane, expected_ms, likeness, size, request, sweep, label_set, '', ''"

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
  CM_TRY(cm_job_get_in(handle, work->id, &work->job, error));
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
  CM_TRY(cm_database_look(store->database, look, &work, error));
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
  bool row = false;
  cm_job *job = &work->jobs[work->count];
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " COLUMNS_SHORT " FROM jobs WHERE sequence = ?", "i", listed->sequence);
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK && row)
    status = cm_job_from_row(statement, job, error);
  work->count += status == CM_OK && row;
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK && job->state == CM_JOB_QUEUED && work->order == NULL)
    status = cm_queue_order_load(handle, work->version, &work->order, error);
  if (status == CM_OK && job->state == CM_JOB_QUEUED)
    status = cm_queue_order_place(work->order, handle, job, leaves_none_out(work->query), error);
  return status;
}

static void clear_jobs(list_work *work)
{
  for (size_t i = 0; i < work->count; i++)
    cm_job_clear(&work->jobs[i]);
  free(work->jobs);
  work->jobs = NULL;
  work->count = 0;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  list_work *work = context;
  clear_jobs(work);
  cm_status status = cm_lists_read_in(handle, work->query, work->page, error);
  CM_THEN(status, CM_HEAP(work->jobs, work->page->count + 1, "the list of jobs", error));
  for (size_t i = 0; status == CM_OK && i < work->page->count; i++)
    status = list_one(handle, work, &work->page->rows[i], error);
  return status;
}

cm_status cm_jobs_list(cm_store *store, const cm_list_query *query, cm_list_page *page, cm_job **jobs, cm_error *error)
{
  list_work work = {.query = query, .page = page, .version = cm_database_version(store->database, CM_WATCHED_QUEUE)};
  *page = (cm_list_page){0};
  work.order = cm_queue_order_take(store, work.version);
  cm_status status = cm_database_read(store->database, list, &work, error);
  cm_queue_order_keep(store, work.order);
  if (status != CM_OK) {
    clear_jobs(&work);
    return error->status;
  }
  *jobs = work.jobs;
  return CM_OK;
}

typedef struct changes_work {
  const char *user;
  uint64_t since;
  void (*tell)(void *context, const cm_job_change *change);
  void *context;
} changes_work;

static cm_status changes(sqlite3 *handle, void *context, cm_error *error)
{
  const changes_work *work = context;
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT id, kind, coalesce(mapping, ''), state, max(created, coalesce(started, 0), coalesce(finished, 0)) AS at"
                                    " FROM jobs INDEXED BY jobs_by_user WHERE user = ?1 AND CAST(at * 1e6 AS INTEGER) > ?2 ORDER BY at, sequence", "ti",
                                    work->user, (int64_t)work->since);
  while (status == CM_OK && row) {
    char id[CM_ID_MAX], kind[16], mapping[CM_ID_MAX], state[16];
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    cm_sql_copy(statement, 0, id, sizeof id);
    cm_sql_copy(statement, 1, kind, sizeof kind);
    cm_sql_copy(statement, 2, mapping, sizeof mapping);
    cm_sql_copy(statement, 3, state, sizeof state);
    work->tell(work->context, &(cm_job_change){id, kind, mapping, cm_job_state_of(state), sqlite3_column_double(statement, 4)});
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_changes(cm_store *store, const char *user, uint64_t since, void (*tell)(void *context, const cm_job_change *change), void *context,
                          cm_error *error)
{
  return cm_database_look(store->database, changes, &(changes_work){user, since, tell, context}, error);
}

typedef struct busy_work {
  const char *user;
  int64_t busy;
} busy_work;

static cm_status look_busy(sqlite3 *handle, void *context, cm_error *error)
{
  busy_work *work = context;
  return cm_sql_number(handle, 0, &work->busy, error,
                       "SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_state WHERE state IN ('queued', 'running') AND user = ?)", "t", work->user);
}

cm_status cm_jobs_busy(cm_store *store, const char *user, bool *busy, cm_error *error)
{
  busy_work work = {.user = user};
  CM_TRY(cm_database_look(store->database, look_busy, &work, error));
  *busy = work.busy != 0;
  return CM_OK;
}

static cm_status outlook(sqlite3 *handle, void *context, cm_error *error)
{
  cm_jobs_running *running = context;
  sqlite3_stmt *statement;
  bool row = true;
  double now = cm_store_time();
  *running = (cm_jobs_running){0};
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT started, expected_ms FROM jobs INDEXED BY jobs_by_state WHERE state = 'running'"
                                    " AND kind <> 'sweep'", "");
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    const double left = cm_estimate_left(now - sqlite3_column_double(statement, 0), (double)sqlite3_column_int64(statement, 1) / 1000);
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

typedef struct text_work {
  const cm_job *job;
  const char *id;
  char *text;
  unsigned known;
  double bytes;
} text_work;

static cm_status read_history(sqlite3 *handle, void *context, cm_error *error)
{
  text_work *work = context;
  sqlite3_stmt *statement;
  bool row;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT history FROM jobs WHERE id = ?", "t", work->id);
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK && !row)
    status = cm_fail(error, CM_NOT_FOUND, "there is no job %s", work->id);
  CM_THEN(status, cm_sql_text(statement, 0, &work->text, error));
  return cm_sql_end(statement, status, error);
}

cm_status cm_jobs_history(cm_store *store, const char *id, char **text, cm_error *error)
{
  text_work work = {.id = id};
  cm_status status = cm_database_read(store->database, read_history, &work, error);
  *text = work.text;
  return status;
}

static cm_status read_known(sqlite3 *handle, void *context, cm_error *error)
{
  text_work *work = context;
  return cm_estimate_known_in(handle, work->job, &work->known, error) == CM_OK ? cm_estimate_bytes_in(handle, work->job, &work->bytes, error) : error->status;
}

cm_status cm_jobs_known(cm_store *store, const cm_job *job, unsigned *known, double *bytes, cm_error *error)
{
  text_work work = {.job = job};
  cm_status status = cm_database_read(store->database, read_known, &work, error);
  *known = work.known;
  *bytes = work.bytes;
  return status;
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
