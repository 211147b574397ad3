/* Happy path: create, claim, finish. What can fail: the server dies while a job runs (recover), the attempt was
 * superseded (finish changes no row), the job's cores were taken while it ran (requeue). Every move checks the
 * table below and names the state and attempt it comes from in its WHERE clause. */
#include "storage/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/internal.h"

static const char *const state_names[CM_JOB_STATES] = {"queued", "running", "done", "failed", "cancelled"};

/* moves[from] is the set of states that may follow. */
#define TO(state) (1u << (state))
static const unsigned moves[CM_JOB_STATES] = {
  [CM_JOB_QUEUED] = TO(CM_JOB_RUNNING) | TO(CM_JOB_CANCELLED),
  [CM_JOB_RUNNING] = TO(CM_JOB_QUEUED) | TO(CM_JOB_DONE) | TO(CM_JOB_FAILED) | TO(CM_JOB_CANCELLED),
};

const char *cm_job_state_name(cm_job_state state)
{
  return state < CM_JOB_STATES ? state_names[state] : "unknown";
}

cm_job_state cm_job_state_of(const char *name)
{
  int state = 0;
  while (state < CM_JOB_STATES && strcmp(state_names[state], name) != 0)
    state++;
  return (cm_job_state)state;
}

bool cm_job_may_move(cm_job_state from, cm_job_state to)
{
  return from < CM_JOB_STATES && to < CM_JOB_STATES && (moves[from] & TO(to)) != 0;
}

void cm_job_clear(cm_job *job)
{
  free(job->options);
  free(job->problem);
  free(job->report);
  free(job->phases);
  free(job->log);
  job->options = job->problem = job->report = job->phases = job->log = NULL;
}

/* ---- rows ---- */

#define COLUMNS \
  "sequence, id, user, kind, name, network, chip, reserve, ttl, priority, state, attempt, kills, moved," \
  " cancel_requested, reused, created, started, finished, mapping, lease, options, problem, report, phases, log"
#define COLUMNS_SHORT \
  "sequence, id, user, kind, name, network, chip, reserve, ttl, priority, state, attempt, kills, moved," \
  " cancel_requested, reused, created, started, finished, mapping, lease, '', problem, '', phases, ''"

static cm_status from_row(sqlite3_stmt *row, cm_job *job, cm_error *error)
{
  char state[16];
  memset(job, 0, sizeof *job);
  job->sequence = sqlite3_column_int64(row, 0);
  cm_sql_copy(row, 1, job->id, sizeof job->id);
  cm_sql_copy(row, 2, job->user, sizeof job->user);
  cm_sql_copy(row, 3, job->kind, sizeof job->kind);
  cm_sql_copy(row, 4, job->name, sizeof job->name);
  cm_sql_copy(row, 5, job->network, sizeof job->network);
  cm_sql_copy(row, 6, job->chip, sizeof job->chip);
  job->reserve = sqlite3_column_int(row, 7) != 0;
  job->ttl = sqlite3_column_double(row, 8);
  job->priority = sqlite3_column_int(row, 9);
  cm_sql_copy(row, 10, state, sizeof state);
  job->state = cm_job_state_of(state);
  job->attempt = sqlite3_column_int(row, 11);
  job->kills = sqlite3_column_int(row, 12);
  job->moved = sqlite3_column_int(row, 13);
  job->cancel_requested = sqlite3_column_int(row, 14) != 0;
  job->reused = sqlite3_column_int(row, 15) != 0;
  job->created = sqlite3_column_double(row, 16);
  job->started = sqlite3_column_double(row, 17);
  job->finished = sqlite3_column_double(row, 18);
  cm_sql_copy(row, 19, job->mapping, sizeof job->mapping);
  cm_sql_copy(row, 20, job->lease, sizeof job->lease);
  char **texts[] = {&job->options, &job->problem, &job->report, &job->phases, &job->log};
  for (int i = 0; i < 5; i++)
    if (cm_sql_text(row, 21 + i, texts[i], error) != CM_OK) {
      cm_job_clear(job);
      return error->status;
    }
  return CM_OK;
}

static cm_status no_job(const char *id, cm_error *error)
{
  return cm_fail(error, CM_NOT_FOUND, "there is no job %.40s", id);
}

static cm_status get_in(sqlite3 *handle, const char *id, cm_job *job, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT " COLUMNS " FROM jobs WHERE id = ?", "t", id);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK)
    status = row ? from_row(statement, job, error) : no_job(id, error);
  sqlite3_finalize(statement);
  return status;
}

/* Tells the board where a job is now; `job` as it is after the move. */
static void publish(cm_store *store, const char *id, cm_job_state state, const char *result_kind, const char *result)
{
  char data[160];
  if (result != NULL)
    (void)snprintf(data, sizeof data, "{\"state\":\"%s\",\"%s\":\"%s\"}", cm_job_state_name(state), result_kind,
                   result);
  else
    (void)snprintf(data, sizeof data, "{\"state\":\"%s\"}", cm_job_state_name(state));
  cm_board_publish(store->board, id, "state", data);
}

/* ---- create ---- */

typedef struct job_work {
  const char *id, *key, *body_hash, *text;
  const cm_job *given;
  const cm_job_outcome *outcome;
  cm_job job;
  cm_job_created result;
  cm_job_state state;
  char made[CM_ID_MAX];
  bool found, flag;
} job_work;

static cm_status same_key(sqlite3 *handle, job_work *work, bool *known, cm_error *error)
{
  sqlite3_stmt *statement;
  char hash[CM_SHA_MAX];
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT id, body_hash FROM jobs WHERE user = ? AND idempotency_key = ?", "tt",
                                    work->given->user, work->key);
  if (status == CM_OK)
    status = cm_sql_step(statement, known, error);
  if (status == CM_OK && *known) {
    cm_sql_copy(statement, 0, work->made, sizeof work->made);
    cm_sql_copy(statement, 1, hash, sizeof hash);
    work->result = strcmp(hash, work->body_hash) == 0 ? CM_JOB_SAME : CM_JOB_OTHER_BODY;
  }
  sqlite3_finalize(statement);
  return status;
}

static cm_status create(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  const cm_job *job = work->given;
  bool known = false;
  if (work->key != NULL && (same_key(handle, work, &known, error) != CM_OK || known))
    return known ? CM_OK : error->status;

  int64_t networks, queued;
  char *chip;
  bool preset;
  if (cm_sql_number(handle, 0, &networks, error, "SELECT count(*) FROM networks WHERE id = ?", "t", job->network) !=
      CM_OK)
    return error->status;
  if (networks == 0) {
    cm_fail(error, CM_NOT_FOUND, "there is no network %.64s; upload it first", job->network);
    return cm_fail_at(error, "/network");
  }
  /* A compile job may do without a chip. */
  if (job->chip[0] != '\0') {
    if (cm_chips_text_in(handle, job->chip, &chip, &preset, error) != CM_OK)
      return error->status == CM_NOT_FOUND ? cm_fail_at(error, "/chip") : error->status;
    free(chip);
  }
  if (cm_sql_number(handle, 0, &queued, error, "SELECT count(*) FROM jobs WHERE state = 'queued' AND user = ?", "t",
                    job->user) != CM_OK)
    return error->status;
  if (queued >= CM_JOB_QUEUE_MAX) {
    work->result = CM_JOB_QUEUE_FULL;
    return CM_OK;
  }
  cm_store_id(work->made);
  work->result = CM_JOB_NEW;
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO jobs(id, user, kind, name, network, chip, options, reserve, ttl, priority, state,"
                    " attempt, kills, moved, cancel_requested, reused, idempotency_key, body_hash, created)"
                    " VALUES(?,?,?,?,?,?,?,?,?,?,'queued',0,0,0,0,0,?,?,?)", "tttttttidittd", work->made, job->user,
                    job->kind, job->name, job->network, job->chip, job->options, (int64_t)job->reserve, job->ttl,
                    (int64_t)job->priority, work->key, work->body_hash, cm_store_time());
}

cm_status cm_jobs_create(cm_store *store, const cm_job *job, const char *key, const char *body_hash,
                         cm_job_created *result, char *id, cm_error *error)
{
  job_work work = {.given = job, .key = key, .body_hash = body_hash};
  if (cm_database_write(store->database, create, &work, error) != CM_OK)
    return error->status;
  *result = work.result;
  memcpy(id, work.made, sizeof work.made);
  if (work.result == CM_JOB_NEW)
    publish(store, id, CM_JOB_QUEUED, NULL, NULL);
  return CM_OK;
}

/* ---- reading ---- */

static cm_status get(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  return get_in(handle, work->id, &work->job, error);
}

cm_status cm_jobs_get(cm_store *store, const char *id, cm_job *job, cm_error *error)
{
  job_work work = {.id = id};
  if (cm_database_read(store->database, get, &work, error) != CM_OK)
    return error->status;
  *job = work.job;
  return CM_OK;
}

typedef struct list_work {
  const cm_job_filter *filter;
  cm_job *jobs;
  size_t count;
} list_work;

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  list_work *work = context;
  const cm_job_filter *f = work->filter;
  sqlite3_stmt *statement = NULL;
  bool row = true;
  work->jobs = calloc(f->limit + 1, sizeof *work->jobs);
  if (work->jobs == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while listing jobs");
  cm_status status = cm_sql_prepare(
      handle, &statement, error,
      "SELECT " COLUMNS_SHORT " FROM jobs WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR user = ?2)"
      " AND (?3 IS NULL OR network = ?3) AND (?4 = 0 OR sequence < ?4) ORDER BY sequence DESC LIMIT ?5", "tttii",
      f->state == CM_JOB_STATES ? NULL : cm_job_state_name(f->state), f->user, f->network, f->before,
      (int64_t)f->limit);
  while (status == CM_OK && row && work->count < f->limit) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row)
      status = from_row(statement, &work->jobs[work->count], error);
    if (status == CM_OK && row)
      work->count++;
  }
  sqlite3_finalize(statement);
  return status;
}

cm_status cm_jobs_list(cm_store *store, const cm_job_filter *filter, cm_job **jobs, size_t *count, cm_error *error)
{
  list_work work = {.filter = filter};
  if (cm_database_read(store->database, list, &work, error) != CM_OK) {
    for (size_t i = 0; i < work.count; i++)
      cm_job_clear(&work.jobs[i]);
    free(work.jobs);
    return error->status;
  }
  *jobs = work.jobs;
  *count = work.count;
  return CM_OK;
}

typedef struct position_work {
  const char *id;
  unsigned workers;
  uint64_t position;
  double estimate;
} position_work;

static cm_status position(sqlite3 *handle, void *context, cm_error *error)
{
  position_work *work = context;
  int64_t before, queued, milliseconds;
  if (cm_sql_number(handle, 0, &queued, error, "SELECT count(*) FROM jobs WHERE id = ? AND state = 'queued'", "t",
                    work->id) != CM_OK ||
      cm_sql_number(handle, 0, &before, error,
                    "SELECT count(*) FROM jobs o JOIN jobs m ON m.id = ? WHERE o.state = 'queued'"
                    " AND (o.priority > m.priority OR (o.priority = m.priority AND o.sequence < m.sequence))", "t",
                    work->id) != CM_OK ||
      cm_sql_number(handle, -1, &milliseconds, error,
                    "SELECT avg(seconds) * 1000 FROM (SELECT finished - started AS seconds FROM jobs"
                    " WHERE state = 'done' ORDER BY sequence DESC LIMIT 20)", "") != CM_OK)
    return error->status;
  work->position = queued == 0 ? 0 : (uint64_t)before + 1;
  work->estimate = milliseconds < 0 ? -1
                                    : (double)milliseconds / 1000 * (double)(before + 1) / (double)work->workers;
  return CM_OK;
}

cm_status cm_jobs_position(cm_store *store, const char *id, unsigned workers, uint64_t *place, double *estimate,
                           cm_error *error)
{
  position_work work = {.id = id, .workers = workers > 0 ? workers : 1};
  if (cm_database_read(store->database, position, &work, error) != CM_OK)
    return error->status;
  *place = work.position;
  *estimate = work.estimate;
  return CM_OK;
}

/* ---- moves ---- */

/* Moves a job whose state (and attempt) the caller has read in this transaction. */
static cm_status move(sqlite3 *handle, const cm_job *job, cm_job_state to, cm_error *error)
{
  int changes;
  if (!cm_job_may_move(job->state, to))
    return cm_fail(error, CM_CONFLICT, "job %s is %s and cannot become %s", job->id, cm_job_state_name(job->state),
                   cm_job_state_name(to));
  if (cm_sql_run(handle, &changes, error, "UPDATE jobs SET state = ? WHERE id = ? AND state = ? AND attempt = ?",
                 "ttti", cm_job_state_name(to), job->id, cm_job_state_name(job->state), (int64_t)job->attempt) != CM_OK)
    return error->status;
  return changes == 1 ? CM_OK
                      : cm_fail(error, CM_CONFLICT, "attempt %d of job %s is over", job->attempt, job->id);
}

static cm_status cancel(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  cm_job job;
  if (get_in(handle, work->id, &job, error) != CM_OK)
    return error->status;
  cm_status status;
  work->state = job.state;
  if (job.state == CM_JOB_RUNNING)
    status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET cancel_requested = 1 WHERE id = ?", "t", job.id);
  else {
    status = move(handle, &job, CM_JOB_CANCELLED, error);
    if (status == CM_OK)
      status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET cancel_requested = 1, finished = ? WHERE id = ?", "dt",
                          cm_store_time(), job.id);
  }
  cm_job_clear(&job);
  return status;
}

cm_status cm_jobs_cancel(cm_store *store, const char *id, cm_error *error)
{
  job_work work = {.id = id};
  if (cm_database_write(store->database, cancel, &work, error) != CM_OK)
    return error->status;
  if (work.state == CM_JOB_RUNNING)
    cm_board_cancel(store->board, id);
  else {
    publish(store, id, CM_JOB_CANCELLED, NULL, NULL);
    cm_board_finished(store->board, id);
  }
  return CM_OK;
}

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  const char *id = ((job_work *)context)->id;
  cm_job job;
  if (get_in(handle, id, &job, error) != CM_OK)
    return error->status;
  cm_status status =
      job.state == CM_JOB_QUEUED || job.state == CM_JOB_RUNNING
          ? cm_fail(error, CM_CONFLICT, "job %s is %s; cancel it first", job.id, cm_job_state_name(job.state))
          : cm_sql_run(handle, NULL, error, "DELETE FROM jobs WHERE id = ?", "t", job.id);
  cm_job_clear(&job);
  return status;
}

cm_status cm_jobs_delete(cm_store *store, const char *id, cm_error *error)
{
  return cm_database_write(store->database, delete, &(job_work){.id = id}, error);
}

static cm_status claim(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  sqlite3_stmt *statement;
  work->found = false;
  cm_job_clear(&work->job);
  cm_status status = cm_sql_prepare(
      handle, &statement, error,
      "SELECT " COLUMNS " FROM jobs j WHERE state = 'queued' AND (waits_for IS NULL OR NOT EXISTS"
      " (SELECT 1 FROM jobs o WHERE o.id = j.waits_for AND o.state = 'running'))"
      " ORDER BY priority DESC, (SELECT count(*) FROM jobs r WHERE r.state = 'running' AND r.user = j.user),"
      " (SELECT coalesce(max(s.started), 0) FROM jobs s WHERE s.user = j.user), sequence LIMIT 1", "");
  bool row = false;
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row)
    status = from_row(statement, &work->job, error);
  sqlite3_finalize(statement);
  if (status != CM_OK || !row)
    return status;
  status = move(handle, &work->job, CM_JOB_RUNNING, error);
  if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error,
                        "UPDATE jobs SET attempt = attempt + 1, started = ?, waits_for = NULL WHERE id = ?", "dt",
                        cm_store_time(), work->job.id);
  work->job.attempt++;
  work->job.state = CM_JOB_RUNNING;
  work->found = status == CM_OK;
  return status;
}

static cm_status any_queued(sqlite3 *handle, void *context, cm_error *error)
{
  return cm_sql_number(handle, 0, context, error, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'queued')", "");
}

cm_status cm_jobs_claim(cm_store *store, cm_job *job, bool *found, cm_error *error)
{
  job_work work = {0};
  int64_t queued = 0;
  if (cm_database_read(store->database, any_queued, &queued, error) != CM_OK)
    return error->status;
  if (queued != 0 && cm_database_write(store->database, claim, &work, error) != CM_OK) {
    cm_job_clear(&work.job);
    return error->status;
  }
  *found = work.found;
  if (!work.found)
    return CM_OK;
  *job = work.job;
  cm_board_start(store->board, job->id);
  publish(store, job->id, CM_JOB_RUNNING, NULL, NULL);
  return CM_OK;
}

/* Fails unless the attempt of the caller is still the one that runs. */
static cm_status check_attempt(sqlite3 *handle, const cm_job *job, cm_error *error)
{
  int64_t current;
  if (cm_sql_number(handle, 0, &current, error,
                    "SELECT count(*) FROM jobs WHERE id = ? AND state = 'running' AND attempt = ?", "ti", job->id,
                    (int64_t)job->attempt) != CM_OK)
    return error->status;
  return current == 1 ? CM_OK : cm_fail(error, CM_CONFLICT, "attempt %d of job %s is over", job->attempt, job->id);
}

static cm_status identify(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  const cm_job *job = work->given;
  sqlite3_stmt *statement;
  char other[CM_ID_MAX] = "";
  work->flag = false;
  if (check_attempt(handle, job, error) != CM_OK)
    return error->status;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT id FROM jobs WHERE fingerprint = ? AND state = 'running' AND id <> ?"
                                    " LIMIT 1", "tt", work->text, job->id);
  bool row = false;
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row)
    cm_sql_copy(statement, 0, other, sizeof other);
  sqlite3_finalize(statement);
  if (status == CM_OK && row) {
    status = move(handle, job, CM_JOB_QUEUED, error);
    if (status == CM_OK)
      status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET waits_for = ? WHERE id = ?", "tt", other, job->id);
    work->flag = true;
  } else if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET fingerprint = ? WHERE id = ?", "tt", work->text, job->id);
  return status;
}

cm_status cm_jobs_identify(cm_store *store, const cm_job *job, const char *fingerprint, bool *deferred,
                           cm_error *error)
{
  job_work work = {.given = job, .text = fingerprint};
  if (cm_database_write(store->database, identify, &work, error) != CM_OK)
    return error->status;
  *deferred = work.flag;
  if (work.flag)
    publish(store, job->id, CM_JOB_QUEUED, NULL, NULL);
  return CM_OK;
}

static cm_status note_mapping(sqlite3 *handle, const cm_mapping_row *m, cm_error *error)
{
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO mappings(id, user, network, chip, job, fingerprint, bytes, created, kind)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", "ttttttidt", m->id, m->user, m->network, m->chip, m->job,
                    m->fingerprint[0] != '\0' ? m->fingerprint : NULL, (int64_t)m->bytes, m->created, m->kind);
}

static cm_status finish(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  const cm_job *job = work->given;
  const cm_job_outcome *o = work->outcome;
  char lease[CM_ID_MAX] = "";
  work->flag = false;
  if (check_attempt(handle, job, error) != CM_OK)
    return error->status;
  if (o->region != NULL) {
    cm_lease_take take = {.chip = job->chip, .user = job->user, .owner = job->name, .job = job->id, .ttl = job->ttl,
                          .cores = o->region, .count = o->region_count};
    if (cm_leases_take_in(handle, &take, lease, error) != CM_OK) {
      work->flag = error->status == CM_CONFLICT;
      return error->status;
    }
  }
  if (o->mapping != NULL && note_mapping(handle, o->mapping, error) != CM_OK)
    return error->status;
  const char *mapping = o->mapping != NULL ? o->mapping->id : o->reused_mapping;
  /* The mapping goes in before the move: a done job always has one. */
  if (cm_sql_run(handle, NULL, error,
                 "UPDATE jobs SET mapping = ?, lease = ?, reused = ?, problem = ?, report = ?, phases = ?, log = ?,"
                 " finished = ? WHERE id = ?", "ttittttdt", mapping, lease[0] != '\0' ? lease : NULL,
                 (int64_t)(o->reused_mapping != NULL), o->problem, o->report, o->phases, o->log, cm_store_time(),
                 job->id) != CM_OK)
    return error->status;
  return move(handle, job, o->state, error);
}

cm_status cm_jobs_finish(cm_store *store, const cm_job *job, const cm_job_outcome *outcome, bool *taken,
                         cm_error *error)
{
  job_work work = {.given = job, .outcome = outcome};
  *taken = false;
  if (cm_database_write(store->database, finish, &work, error) != CM_OK) {
    *taken = work.flag;
    return error->status;
  }
  const char *mapping = outcome->mapping != NULL ? outcome->mapping->id : outcome->reused_mapping;
  publish(store, job->id, outcome->state, strcmp(job->kind, "compile") == 0 ? "program" : "mapping", mapping);
  cm_board_finished(store->board, job->id);
  return CM_OK;
}

static cm_status requeue(sqlite3 *handle, void *context, cm_error *error)
{
  job_work *work = context;
  if (move(handle, work->given, CM_JOB_QUEUED, error) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error, "UPDATE jobs SET moved = moved + ?, fingerprint = NULL WHERE id = ?", "it",
                    (int64_t)work->flag, work->given->id);
}

cm_status cm_jobs_requeue(cm_store *store, const cm_job *job, bool moved, cm_error *error)
{
  job_work work = {.given = job, .flag = moved};
  if (cm_database_write(store->database, requeue, &work, error) != CM_OK)
    return error->status;
  publish(store, job->id, CM_JOB_QUEUED, NULL, NULL);
  return CM_OK;
}

static cm_status recover(sqlite3 *handle, void *context, cm_error *error)
{
  const char *problem = ((job_work *)context)->text;
  double now = cm_store_time();
  /* The same moves as in the table, for all interrupted jobs at once. */
  if (cm_sql_run(handle, NULL, error, "UPDATE jobs SET kills = kills + 1, fingerprint = NULL WHERE state = 'running'",
                 "") != CM_OK ||
      cm_sql_run(handle, NULL, error, "UPDATE jobs SET state = 'cancelled', finished = ? WHERE state = 'running'"
                 " AND cancel_requested = 1", "d", now) != CM_OK ||
      cm_sql_run(handle, NULL, error, "UPDATE jobs SET state = 'failed', finished = ?, problem = ?"
                 " WHERE state = 'running' AND kills >= ?", "dti", now, problem, (int64_t)CM_JOB_KILLS_MAX) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error, "UPDATE jobs SET state = 'queued', waits_for = NULL WHERE state = 'running'",
                    "");
}

cm_status cm_jobs_recover(cm_store *store, const char *problem, cm_error *error)
{
  return cm_database_write(store->database, recover, &(job_work){.text = problem}, error);
}

static cm_status count(sqlite3 *handle, void *context, cm_error *error)
{
  uint64_t *counts = context;
  memset(counts, 0, CM_JOB_STATES * sizeof *counts);
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT state, count(*) FROM jobs GROUP BY state", "");
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
  sqlite3_finalize(statement);
  return status;
}

cm_status cm_jobs_count(cm_store *store, uint64_t counts[CM_JOB_STATES], cm_error *error)
{
  return cm_database_read(store->database, count, counts, error);
}
