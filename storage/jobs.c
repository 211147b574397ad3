/* How jobs come to be, and what all moves share (jobs_read.c looks at jobs, jobs_cancel.c cancels them). Every move checks the table
 * below and names the state and attempt it comes from in its WHERE clause. */
#include "storage/jobs.h"

#include <math.h>

#include "storage/audit.h"
#include "storage/derive.h"
#include "storage/jobs_internal.h"
#include "storage/estimates.h"
#include "storage/quotas.h"
#include "storage/usage.h"

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
  free(job->fault);
  job->options = job->problem = job->report = job->phases = job->log = job->fault = NULL;
}

void cm_job_clear_row(void *job)
{
  cm_job_clear(job);
}

/* ---- rows ---- */

cm_status cm_job_from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_job *job = element;
  char state[16];
  bool ready, duplicate;
  int lane;
  uint64_t expected_ms;
  memset(job, 0, sizeof *job);
  cm_status status = cm_sql_columns(
      row, error, "ittttt" "bdnt" "nnnbb" "ddd" "ttnd" "ssssss" "b---bnutdttttt", &job->sequence, CM_INTO(job->id), CM_INTO(job->kind), CM_INTO(job->name),
      CM_INTO(job->network), CM_INTO(job->chip), &job->reserve, &job->ttl, &job->priority, CM_INTO(state), &job->attempt, &job->kills, &job->moved,
      &job->cancel_requested, &job->reused, &job->created, &job->started, &job->finished, CM_INTO(job->mapping), CM_INTO(job->lease), &job->retries,
      &job->retry_at, &job->options, &job->problem, &job->report, &job->phases, &job->log, &job->fault, &ready, &duplicate, &lane, &expected_ms,
      CM_INTO(job->likeness), &job->size, CM_INTO(job->request), CM_INTO(job->sweep), CM_INTO(job->labels), CM_INTO(job->folder), CM_INTO(job->fingerprint));
  CM_TRY_OR(status, cm_job_clear(job));
  job->state = cm_job_state_of(state);
  job->ready = job->state == CM_JOB_QUEUED && ready;
  job->duplicate = job->state == CM_JOB_QUEUED && duplicate;
  job->lane = cm_queue_lane_of(lane);
  job->expected = (double)expected_ms / 1000;
  cm_owner_from_row(row, 29, &job->owner);
  return CM_OK;
}

cm_status cm_job_get_in(sqlite3 *handle, const char *id, cm_job *job, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " CM_JOB_COLUMNS " FROM jobs WHERE id = ?", "t", id);
  if (cm_sql_next(statement, &status, error))
    status = cm_job_from_row(statement, job, error);
  else if (status == CM_OK)
    status = cm_fail(error, CM_NOT_FOUND, "there is no job %.40s", id);
  return cm_sql_end(statement, status, error);
}

void cm_job_publish(cm_store *store, const char *id, cm_job_state state, const char *result_kind, const char *result)
{
  char data[160];
  char user[CM_USER_MAX];
  bool found = false;
  cm_error ignored;
  if (cm_event_bus_wants_owner(store->bus, id) &&
      cm_database_find(store->database, &found, &ignored, "SELECT user FROM jobs WHERE id = ?", "t>t", id, CM_INTO(user)) == CM_OK && found)
    cm_event_bus_owned(store->bus, id, user);
  if (result != NULL)
    (void)snprintf(data, sizeof data, "{\"state\":\"%s\",\"%s\":\"%s\"}", cm_job_state_name(state), result_kind,
                   result);
  else
    (void)snprintf(data, sizeof data, "{\"state\":\"%s\"}", cm_job_state_name(state));
  cm_event_bus_publish(store->bus, id, "state", data);
}

/* ---- create ---- */

cm_status cm_jobs_by_key(cm_store *store, const char *user, const cm_job_key *key, cm_job_created *result, char *id, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_job_key_in(r.handle, user, key, result, id, error));
  return cm_reading_end(&r, status);
}

/* Whether what a job is made of is there, and how visible it may be. */
static cm_status check_sources(sqlite3 *handle, const cm_job *job, cm_owner *owner, cm_error *error)
{
  int64_t networks = 1;
  char *chip;
  bool preset;
  if (library_job_kind_of(job->kind)->input != LIBRARY_INPUT_NONE &&
      cm_sql_number(handle, 0, &networks, error, "SELECT count(*) FROM networks WHERE id = ?", "t", job->network) != CM_OK)
    return error->status;
  if (networks == 0) {
    if (library_job_kind_of(job->kind)->input == LIBRARY_INPUT_MAPPING) /* the asker has sent no id, and gets none */
      return cm_fail(error, CM_NOT_FOUND, "the network of this mapping is gone");
    cm_fail(error, CM_NOT_FOUND, "there is no network %.64s; upload it first", job->network);
    return cm_fail_at(error, "/network");
  }
  /* A compile job may do without a chip. */
  if (job->chip[0] != '\0') {
    if (cm_chips_text_in(handle, job->chip, &chip, &preset, error) != CM_OK)
      return error->status == CM_NOT_FOUND ? cm_fail_at(error, "/chip") : error->status;
    free(chip);
  }
  if (cm_job_derive_in(handle, job, owner, job->shown, error) != CM_OK)
    return error->status == CM_BAD_OPTION ? cm_fail_at(error, "/visibility") : error->status;
  return CM_OK;
}

const char *cm_queue_lane_name(cm_lane_of_jobs lane)
{
  static const char *const names[CM_LANES] = {"short", "long", "cluster"};
  return names[lane];
}

cm_lane_of_jobs cm_queue_lane_of(int number)
{
  return number >= 0 && number < CM_LANES ? (cm_lane_of_jobs)number : CM_LANE_OF_LONG;
}

const char *cm_cluster_wish_name(cm_cluster_wish wish)
{
  static const char *const names[CM_CLUSTER_WISHES] = {"auto", "always", "never"};
  return names[wish];
}

static const char *const cluster_from[] = {"cluster_from", "cluster_bytes"}; /* rows of meta: seconds, bytes; not there: no cluster */

static cm_status set_cluster(sqlite3 *handle, void *context, cm_error *error)
{
  const double *values = context;
  cm_status status = CM_OK;
  for (int i = 0; i < 2 && status == CM_OK; i++)
    status = isinf(values[0]) ? cm_sql_run(handle, NULL, error, "DELETE FROM meta WHERE name = ?", "t", cluster_from[i])
                              : cm_sql_run(handle, NULL, error, "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT(name) DO UPDATE"
                                           " SET value = excluded.value", "ti", cluster_from[i], (int64_t)fmin(values[i], 1e18));
  return status;
}

cm_status cm_jobs_set_cluster(cm_store *store, double seconds, double bytes, cm_error *error)
{
  double values[2] = {seconds, bytes};
  return cm_database_write(store->database, set_cluster, values, error);
}

/* CM_BAD_OPTION, /cluster: it is to go to a cluster that is not there. */
static cm_status choose_lane(sqlite3 *handle, const cm_job *job, double expected, cm_lane_of_jobs *lane, cm_error *error)
{
  double bytes;
  int64_t from[2];
  for (int i = 0; i < 2; i++)
    CM_TRY(cm_sql_number(handle, INT64_MAX, &from[i], error, "SELECT value FROM meta WHERE name = ?", "t", cluster_from[i]));
  const bool there = from[0] < INT64_MAX;
  *lane = expected < cm_short_seconds ? CM_LANE_OF_SHORT : CM_LANE_OF_LONG;
  if (!there && job->cluster == CM_CLUSTER_ALWAYS) {
    (void)cm_fail(error, CM_BAD_OPTION, "this server has no cluster: leave \"cluster\" out, and the job runs here");
    return cm_fail_at(error, "/cluster");
  }
  if (!there || job->cluster == CM_CLUSTER_NEVER)
    return CM_OK;
  CM_TRY(cm_estimate_bytes_in(handle, job, &bytes, error));
  if (job->cluster == CM_CLUSTER_ALWAYS || expected >= (double)from[0] || bytes >= (double)from[1])
    *lane = CM_LANE_OF_CLUSTER;
  return CM_OK;
}

cm_status cm_job_enter_in(sqlite3 *handle, const cm_job *job, const cm_job_entry *entry, char id[CM_ID_MAX], cm_error *error)
{
  cm_owner owner = job->owner;
  cm_lane_of_jobs lane = CM_LANE_OF_LONG;
  double expected;
  CM_TRY(check_sources(handle, job, &owner, error));
  CM_TRY(cm_quota_check_in(handle, job->owner.user, CM_QUOTA_QUEUED, 1, error));
  CM_TRY(cm_quota_check_in(handle, job->owner.user, CM_QUOTA_CPU_SECONDS, 0, error));
  CM_TRY(cm_quota_check_in(handle, job->owner.user, CM_QUOTA_BYTES, 0, error));
  CM_TRY(cm_estimate_in(handle, job, &expected, error));
  CM_TRY(cm_usage_enter_in(handle, job->owner.user, error));
  if (job->time_limit > 0)
    expected = fmin(expected, job->time_limit);
  CM_TRY(choose_lane(handle, job, expected, &lane, error));
  cm_store_id(id);
  char words[CM_OWNER_WORDS_MAX];
  const bool maps = job->preset[0] != '\0';
  cm_audit_effect("job %s, %s", id, cm_owner_words(&owner, words));
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO jobs(id, user, team, visibility, kind, name, network, chip, options, reserve, ttl, priority, state,"
                    " attempt, kills, moved, cancel_requested, reused, idempotency_key, body_hash, created, lane, expected_ms, likeness, size, request,"
                    " sweep, label_set, batch, preset, objective, seed)"
                    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,'queued',0,0,0,0,0,?,?,?,?,?,?,?,?,?,?,?,?24,?25,CASE WHEN ?24 IS NOt NULL tHEN ?26 END)",
                    "tttttttttidittdiitdtttttti", id, job->owner.user,
                    owner.group, cm_visibility_name(owner.visibility), job->kind, job->name, job->network, job->chip, job->options,
                    (int64_t)job->reserve, job->ttl, (int64_t)job->priority, entry->key.key, entry->key.body_hash, cm_store_time(),
                    (int64_t)lane, (int64_t)fmax(ceil(expected * 1000), 1), job->likeness, job->size, job->request, entry->sweep,
                    job->labels, entry->batch, maps ? job->preset : NULL, maps ? job->objective : NULL, job->seed);
}

cm_status cm_job_key_in(sqlite3 *handle, const char *user, const cm_job_key *key, cm_job_created *result, char id[CM_ID_MAX], cm_error *error)
{
  char hash[CM_SHA_MAX];
  bool known = false;
  if (key->key != NULL)
    CM_TRY(cm_sql_find(handle, &known, error, "SELECT id, body_hash FROM jobs WHERE user = ? AND idempotency_key = ?", "tt>tt", user, key->key, id,
                       (size_t)CM_ID_MAX, CM_INTO(hash)));
  *result = !known ? CM_JOB_NEW : strcmp(hash, key->body_hash) == 0 ? CM_JOB_SAME : CM_JOB_OTHER_BODY;
  return CM_OK;
}

cm_status cm_jobs_queue_room_in(sqlite3 *handle, const char *user, size_t more, bool *room, cm_error *error)
{
  int64_t queued;
  CM_TRY(cm_sql_number(handle, 0, &queued, error, "SELECT sum(queued) FROM queue_totals WHERE user = ?", "t", user));
  *room = queued + (int64_t)more <= CM_JOB_QUEUE_MAX;
  return CM_OK;
}

typedef struct create_work {
  const cm_batch_request *request;
  cm_job_created result;
  char (*ids)[CM_ID_MAX];
  size_t at; /* the job at hand */
} create_work;

static cm_status create(sqlite3 *handle, void *context, cm_error *error)
{
  create_work *work = context;
  const cm_batch_request *r = work->request;
  const cm_job_key none = {0}, *key = r->key != NULL ? r->key : &none;
  const char *user = r->jobs[0].owner.user;
  bool room = false;
  work->at = 0;
  CM_TRY(cm_job_key_in(handle, user, key, &work->result, work->ids[0], error));
  if (work->result != CM_JOB_NEW)
    return CM_OK;
  CM_TRY(cm_jobs_queue_room_in(handle, user, r->count, &room, error));
  work->result = room ? CM_JOB_NEW : CM_JOB_QUEUE_FULL;
  for (; room && work->at < r->count; work->at++) {
    cm_job_entry entry = {.batch = work->at > 0 ? work->ids[0] : NULL};
    if (work->at == 0)
      entry.key = *key;
    CM_TRY(cm_job_enter_in(handle, &r->jobs[work->at], &entry, work->ids[work->at], error));
  }
  return CM_OK;
}

cm_status cm_jobs_create_batch(cm_store *store, const cm_batch_request *request, cm_job_created *result, char (*ids)[CM_ID_MAX], size_t *failed,
                               cm_error *error)
{
  create_work work = {.request = request, .ids = ids};
  if (cm_database_write(store->database, create, &work, error) != CM_OK) {
    *failed = work.at < request->count ? work.at : 0;
    return error->status;
  }
  *result = work.result;
  for (size_t i = 0; work.result == CM_JOB_NEW && i < request->count; i++) {
    cm_job named = request->jobs[i];
    memcpy(named.id, ids[i], sizeof ids[i]);
    cm_job_log(&named, "queued", "");
    cm_job_publish(store, ids[i], CM_JOB_QUEUED, NULL, NULL);
  }
  return CM_OK;
}

cm_status cm_jobs_create(cm_store *store, const cm_job *job, const cm_job_key *key, cm_job_created *result, char *id,
                         cm_error *error)
{
  char ids[1][CM_ID_MAX] = {""};
  size_t failed;
  CM_TRY(cm_jobs_create_batch(store, &(cm_batch_request){.jobs = job, .count = 1, .key = key}, result, ids, &failed, error));
  memcpy(id, ids[0], sizeof ids[0]);
  return CM_OK;
}

cm_status cm_jobs_of_batch(cm_store *store, const char *first, char (**ids)[CM_ID_MAX], size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {
      "t", "SELECT id FROM jobs WHERE id = ?1 UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE batch = ?1 ORDER BY sequence)", "a batch of jobs", CM_ID_MAX,
      cm_sql_id, NULL};
  return cm_database_list(store->database, &kind, ids, count, error, first);
}

/* ---- moves ---- */

cm_status cm_job_move_in(sqlite3 *handle, const cm_job *job, cm_job_state to, cm_error *error)
{
  int changes;
  if (!cm_job_may_move(job->state, to))
    return cm_fail(error, CM_CONFLICT, "job %s is %s and cannot become %s", job->id, cm_job_state_name(job->state),
                   cm_job_state_name(to));
  CM_TRY(cm_sql_run(handle, &changes, error,
                    "UPDATE jobs SET state = ?, folder = NULL WHERE id = ? AND state = ? AND attempt = ?", "ttti",
                    cm_job_state_name(to), job->id, cm_job_state_name(job->state), (int64_t)job->attempt));
  return changes == 1 ? CM_OK
                      : cm_fail(error, CM_CONFLICT, "attempt %d of job %s is over", job->attempt, job->id);
}

cm_status cm_job_settle_in(sqlite3 *handle, const cm_job *job, double *seconds, cm_error *error)
{
  *seconds = fmax(cm_store_time() - job->started - job->waited, 0);
  CM_TRY(cm_quota_note_cpu_in(handle, job->owner.user, job->cpu_seconds, error));
  return cm_usage_charge_in(handle, job->owner.user, rint((*seconds - job->expected) * 1000), error);
}

cm_status cm_jobs_check_ended_in(sqlite3 *handle, const char *id, cm_error *error)
{
  cm_job job;
  CM_TRY(cm_job_get_in(handle, id, &job, error));
  cm_job_clear(&job);
  return job.state == CM_JOB_QUEUED || job.state == CM_JOB_RUNNING
           ? cm_fail(error, CM_CONFLICT, "job %s is %s; cancel it first", job.id, cm_job_state_name(job.state))
           : CM_OK;
}
