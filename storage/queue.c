/* What workers do to the queue: claim, identify, finish, requeue, retry.
 * What can fail: the server dies while a job runs (jobs_recover.c), the attempt was superseded (finish changes no row), the
 * job's cores were taken while it ran (requeue), the machine is in want for a while (retry). */
#include <math.h>

#include "storage/audit.h"
#include "storage/blobs.h"
#include "storage/clock.h"
#include "storage/derive.h"
#include "storage/estimates.h"
#include "storage/holders.h"
#include "storage/jobs_internal.h"
#include "storage/monitor.h"
#include "storage/pack.h"
#include "storage/positions.h"
#include "storage/sweep_jobs.h"
#include "storage/usage.h"

typedef struct queue_work {
  const char *text;
  const cm_job *given;
  const cm_job_outcome *outcome;
  cm_blob *blobs; /* of what it made */
  size_t blob_count;
  cm_claim claim;
  cm_job job;
  bool found, flag;
  cm_sweep_news news;
} queue_work;

static cm_status claim(sqlite3 *handle, void *context, cm_error *error)
{
  queue_work *work = context;
  sqlite3_stmt *statement;
  cm_turn turn;
  bool any = false;
  double now = cm_store_time();
  work->found = false;
  cm_job_clear(&work->job);
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE jobs INDEXED BY jobs_retry SET retry_at = NULL WHERE retry_at <= " CM_NOW("?") " AND state = 'queued'", "d",
                    cm_clock_steady()));
  CM_TRY(cm_queue_turn(handle, work->claim, &any, &turn, error));
  if (!any)
    return CM_OK;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT " CM_JOB_COLUMNS " FROM jobs j INDEXED BY jobs_ready WHERE user = ?"
                                    " AND lane = ? AND priority = ? AND " CM_JOB_IS_READY " ORDER BY sequence LIMIT 1", "tii",
                                    turn.user, (int64_t)turn.lane, (int64_t)turn.priority);
  const bool found = cm_sql_next(statement, &status, error);
  if (found)
    status = cm_job_from_row(statement, &work->job, error);
  status = cm_sql_end(statement, status, error);
  if (status != CM_OK || !found)
    return status;
  cm_store_id(work->job.folder);
  status = cm_job_move_in(handle, &work->job, CM_JOB_RUNNING, error);
  CM_THEN(status, cm_sql_run(handle, NULL, error, "UPDATE jobs SET attempt = attempt + 1, started = ?, folder = ? WHERE id = ?",
                             "dtt", now, work->job.folder, work->job.id));
  CM_THEN(status, cm_usage_charge_in(handle, work->job.owner.user, rint(work->job.expected * 1000), error));
  work->job.started = now;
  work->job.attempt++;
  work->job.state = CM_JOB_RUNNING;
  work->found = status == CM_OK;
  return status;
}

cm_status cm_jobs_claim(cm_store *store, cm_claim what, cm_job *job, bool *found, cm_error *error)
{
  queue_work work = {.claim = what};
  /* Whether it could find something: spares idle workers the write. */
  CM_TRY(cm_database_find(store->database, NULL, error,
                          "SELECT EXISTS (SELECT 1 FROM queue_totals INDEXED BY queue_priority WHERE ready > 0 AND (1 << lane) & ?)"
                          " OR EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_retry WHERE retry_at <= " CM_NOW("?") " AND state = 'queued')", "id>b",
                          (int64_t)what, cm_clock_steady(), &work.flag));
  if (work.flag && cm_database_write(store->database, claim, &work, error) != CM_OK) {
    cm_job_clear(&work.job);
    return error->status;
  }
  *found = work.found;
  if (!work.found)
    return CM_OK;
  *job = work.job;
  cm_job_log(job, "running", "");
  cm_event_bus_start(store->bus, job->id);
  cm_job_publish(store, job->id, CM_JOB_RUNNING, NULL, NULL);
  return CM_OK;
}

/* Fails unless the attempt of the caller is still the one that runs. */
static cm_status check_attempt(sqlite3 *handle, const cm_job *job, cm_error *error)
{
  int64_t current;
  CM_TRY(cm_sql_number(handle, 0, &current, error, "SELECT count(*) FROM jobs WHERE id = ? AND state = 'running' AND attempt = ?",
                       "ti", job->id, (int64_t)job->attempt));
  return current == 1 ? CM_OK : cm_fail(error, CM_CONFLICT, "attempt %d of job %s is over", job->attempt, job->id);
}

static cm_status put_back(sqlite3 *handle, const cm_job *job, cm_error *error)
{
  double seconds;
  CM_TRY(cm_job_move_in(handle, job, CM_JOB_QUEUED, error));
  return cm_job_settle_in(handle, job, &seconds, error);
}

static cm_status identify(sqlite3 *handle, void *context, cm_error *error)
{
  queue_work *work = context;
  const cm_job *job = work->given;
  char other[CM_ID_MAX];
  CM_TRY(check_attempt(handle, job, error));
  CM_TRY(cm_sql_find(handle, &work->flag, error, "SELECT id FROM jobs WHERE fingerprint = ? AND state = 'running' AND id <> ? LIMIT 1", "tt>t", work->text,
                     job->id, CM_INTO(other)));
  if (!work->flag)
    return cm_sql_run(handle, NULL, error, "UPDATE jobs SET fingerprint = ? WHERE id = ?", "tt", work->text, job->id);
  CM_TRY(put_back(handle, job, error));
  return cm_sql_run(handle, NULL, error, "UPDATE jobs SET waits_for = ? WHERE id = ?", "tt", other, job->id);
}

/* Takes a step that may put a job that runs back into the queue; *queued: it has. */
static cm_status step_back(cm_store *store, cm_status (*step)(sqlite3 *, void *, cm_error *), queue_work work, const char *why, bool *queued, cm_error *error)
{
  CM_TRY(cm_database_write(store->database, step, &work, error));
  *queued = work.flag;
  if (work.flag) {
    cm_job_log(work.given, "queued", why);
    cm_job_publish(store, work.given->id, CM_JOB_QUEUED, NULL, NULL);
  }
  return CM_OK;
}

cm_status cm_jobs_identify(cm_store *store, const cm_job *job, const char *fingerprint, bool *deferred, cm_error *error)
{
  return step_back(store, identify, (queue_work){.given = job, .text = fingerprint}, "an identical job runs", deferred, error);
}

/* The owner of a job that ends: as it is now; and as narrow as its sources are now, unless somebody has widened it by his word. */
static cm_status settle_owner(sqlite3 *handle, const cm_job *job, cm_owner *owner, cm_error *error)
{
  sqlite3_stmt *statement;
  bool widened = false;
  *owner = job->owner;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT user, team, visibility, widened FROM jobs WHERE id = ?", "t", job->id);
  if (cm_sql_next(statement, &status, error)) {
    cm_owner_from_row(statement, 0, owner);
    widened = sqlite3_column_int(statement, 3) != 0;
  }
  status = cm_sql_end(statement, status, error);
  CM_THEN_IF(status, !widened, cm_job_derive_in(handle, job, owner, false, error));
  return status != CM_OK ? status : cm_sql_run(handle, NULL, error, "UPDATE jobs SET visibility = ?, team = ? WHERE id = ?", "ttt",
                    cm_visibility_name(owner->visibility), owner->group, job->id);
}

/* Notes what a job made as its owner's; what others see than was expected is not given to their jobs. */
static cm_status note_mapping(sqlite3 *handle, const cm_mapping_row *m, const cm_owner *owner, const cm_pack *pack, cm_error *error)
{
  char before[CM_USER_MAX + 16], now[CM_USER_MAX + 16];
  cm_owner_domain(&m->owner, before);
  cm_owner_domain(owner, now);
  const bool shared = m->fingerprint[0] != '\0' && strcmp(before, now) == 0;
  char words[CM_OWNER_WORDS_MAX];
  cm_audit_effect("%s %s, %s", cm_made_in(m->kind)->word, m->id, cm_owner_words(owner, words));
  CM_TRY_IF(pack != NULL, cm_pack_note_in(handle, m->id, pack, error));
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO mappings(id, user, team, visibility, network, chip, job, fingerprint, bytes, created, kind, form)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "ttttttttidti", m->id, owner->user, owner->group,
                    cm_visibility_name(owner->visibility), m->network, m->chip, m->job, shared ? m->fingerprint : NULL, (int64_t)m->bytes, m->created, m->kind,
                    (int64_t)(pack != NULL ? CM_FORM_PACK : CM_FORM_FOLDER));
}

/* The other mappings of a Pareto set become an owner's as the first one has. */
static cm_status join_points(sqlite3 *handle, const cm_owner *owner, const char *mapping, cm_error *error)
{
  char ids[CM_JOB_POINTS_MAX][CM_ID_MAX];
  size_t count = 0;
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT id FROM mappings WHERE pareto = ? ORDER BY point", "t", mapping);
  while (count < CM_JOB_POINTS_MAX && cm_sql_next(statement, &status, error))
    cm_sql_copy(statement, 0, ids[count++], sizeof *ids);
  status = cm_sql_end(statement, status, error);
  for (size_t i = 0; i < count && status == CM_OK; i++)
    status = cm_holders_join_in(handle, CM_OBJECT_MAPPING, ids[i], owner, error);
  return status;
}

/* The result of an identical job is this one's owner's too from now on. *gone: it has been deleted meanwhile. */
static cm_status take_twin(sqlite3 *handle, const cm_job *job, const cm_owner *owner, const char *mapping, bool *gone, cm_error *error)
{
  int64_t there;
  const cm_made *made = cm_job_makes(job->kind);
  cm_audit_effect("%s %s of an equal job", made->word, mapping);
  CM_TRY(cm_sql_number(handle, 0, &there, error, "SELECT count(*) FROM mappings WHERE id = ?", "t", mapping));
  *gone = there == 0;
  if (*gone)
    return cm_fail(error, CM_CONFLICT, "the result of an identical job, %s, has been deleted meanwhile", mapping);
  return cm_holders_join_in(handle, made->object, mapping, owner, error) == CM_OK ? join_points(handle, owner, mapping, error) : error->status;
}

/* Figures of what jobs have made, as lists show them: their columns, and what they are by a report, ?1. */
#define FIGURE(name, value) ", " #name
static const char figure_names[] = ""
#include "storage/figures.def"
  ;
#undef FIGURE
#define FIGURE(name, value) ", " #name " = " value
static const char figure_values[] = ""
#include "storage/figures.def"
  ;
#undef FIGURE

enum { FIGURES_QUERY_MAX = 2000 };

/* Of a job, in its row and in that of what it made: the report of a new result has them, that of an equal job does not have all. The result
 * has the job's labels too. */
static cm_status note_figures(sqlite3 *handle, const cm_job *job, const cm_job_outcome *o, const char *user, cm_error *error)
{
  char query[FIGURES_QUERY_MAX];
  if (o->state != CM_JOB_DONE || cm_job_makes(job->kind)->object == CM_OBJECT_NONE)
    return CM_OK;
  if (o->reused_mapping != NULL) {
    (void)snprintf(query, sizeof query, "UPDATE jobs SET (reused%s) = (SELECT 1%s FROM mappings WHERE id = ?2) WHERE id = ?1", figure_names, figure_names);
    return cm_sql_run(handle, NULL, error, query, "tt", job->id, o->reused_mapping) == CM_OK
             ? cm_labels_inherit_in(handle, job->id, o->reused_mapping, user, error)
             : error->status;
  }
  (void)snprintf(query, sizeof query, "UPDATE jobs SET reused = 0%s WHERE id = ?2", figure_values);
  CM_TRY(cm_sql_run(handle, NULL, error, query, "tt", o->report, job->id));
  if (o->mapping == NULL) /* beaten in its sweep, and not stored */
    return CM_OK;
  (void)snprintf(query, sizeof query, "UPDATE mappings SET (label_set, preset, objective, seed%s) = (SELECT label_set, preset, objective, seed%s"
                 " FROM jobs WHERE id = ?1) WHERE id = ?2", figure_names, figure_names);
  return cm_sql_run(handle, NULL, error, query, "tt", job->id, o->mapping->id);
}

/* The other mappings of a Pareto set. */
static cm_status note_points(sqlite3 *handle, const cm_job_outcome *o, const cm_owner *owner, cm_error *error)
{
  char query[FIGURES_QUERY_MAX];
  (void)snprintf(query, sizeof query, "UPDATE mappings SET (label_set, preset, objective, seed) = (SELECT label_set, preset, objective, seed FROM mappings"
                 " WHERE id = ?3), pareto = ?3, point = ?4%s WHERE id = ?2", figure_values);
  for (size_t i = 0; i < o->point_count; i++) {
    const cm_job_point *p = &o->points[i];
    CM_TRY(note_mapping(handle, &p->mapping, owner, p->pack, error));
    CM_TRY(cm_sql_run(handle, NULL, error, query, "ttti", p->report, p->mapping.id, o->mapping->id, p->number));
  }
  return CM_OK;
}

static cm_status finish(sqlite3 *handle, void *context, cm_error *error)
{
  queue_work *work = context;
  const cm_job *job = work->given;
  const cm_job_outcome *o = work->outcome;
  char lease[CM_ID_MAX] = "";
  cm_owner owner;
  double seconds;
  work->flag = false;
  cm_sweep_news_clear(&work->news);
  CM_TRY(check_attempt(handle, job, error));
  CM_TRY(cm_job_settle_in(handle, job, &seconds, error));
  CM_TRY(settle_owner(handle, job, &owner, error));
  CM_TRY_IF(o->mapping != NULL, cm_estimate_learn_in(handle, job, seconds, error));
  if (o->region != NULL) {
    cm_lease_take take = {.chip = job->chip, .whose = owner, .owner = job->name, .job = job->id, .ttl = job->ttl,
                          .cores = o->region, .count = o->region_count};
    if (cm_leases_take_in(handle, &take, lease, error) != CM_OK) {
      work->flag = error->status == CM_CONFLICT;
      return error->status;
    }
  }
  CM_TRY_IF(o->reused_mapping != NULL && cm_job_makes(job->kind)->object != CM_OBJECT_NONE, take_twin(handle, job, &owner, o->reused_mapping, &work->flag, error));
  CM_TRY_IF(o->mapping != NULL, note_mapping(handle, o->mapping, &owner, o->pack, error));
  for (size_t i = 0; i < work->blob_count; i++)
    CM_TRY(cm_blob_note_in(handle, &work->blobs[i], error));
  /* The mapping goes in before the move: a done job always has one, "" where it is of a kind that has none. */
  const char *mapping = o->mapping != NULL ? o->mapping->id : o->reused_mapping != NULL || o->state != CM_JOB_DONE ? o->reused_mapping : "";
  if (cm_sql_run(handle, NULL, error,
                 "UPDATE jobs SET mapping = ?, lease = ?, reused = ?, problem = ?, report = ?, phases = ?, log = ?, history = ?,"
                 " finished = ?, cpu_seconds = ? WHERE id = ?", "ttitttttddt", mapping, lease[0] != '\0' ? lease : NULL,
                 (int64_t)(o->reused_mapping != NULL), o->problem, o->report, o->phases, o->log, o->history, cm_store_time(),
                 job->cpu_seconds, job->id) != CM_OK || note_figures(handle, job, o, owner.user, error) != CM_OK ||
      note_points(handle, o, &owner, error) != CM_OK || cm_job_move_in(handle, job, o->state, error) != CM_OK)
    return error->status;
  return cm_sweep_point_ended_in(handle, job->id, &work->news, error);
}

/* What a job has made is its user's doing. */
static void blame(cm_audit_entry *cause, const cm_job *job)
{
  *cause = (cm_audit_entry){.address = "local", .action = "job"};
  (void)snprintf(cause->user, sizeof cause->user, "%s", job->owner.user);
  (void)snprintf(cause->object, sizeof cause->object, "jobs/%s", job->id);
  (void)snprintf(cause->request, sizeof cause->request, "%s", job->request);
  cm_audit_cause(cause);
}

/* Adds those of a placed mapping. */
static cm_status read_blobs(cm_store *store, const char *mapping, queue_work *work, cm_error *error)
{
  char path[CM_ID_MAX + 16];
  cm_blob *more;
  size_t count;
  (void)snprintf(path, sizeof path, "mappings/%s", mapping);
  CM_TRY(cm_blobs_read_folder(store, path, &more, &count, error));
  cm_blob *all = realloc(work->blobs, (work->blob_count + count + 1) * sizeof *all);
  if (all != NULL) {
    if (count > 0)
      memcpy(all + work->blob_count, more, count * sizeof *all);
    work->blobs = all;
    work->blob_count += count;
  }
  free(more);
  return cm_whole(all != NULL, "the files of a mapping", error);
}

cm_status cm_jobs_finish(cm_store *store, const cm_job *job, const cm_job_outcome *outcome, bool *taken,
                         cm_error *error)
{
  queue_work work = {.given = job, .outcome = outcome};
  *taken = false;
  if (outcome->mapping != NULL && outcome->pack == NULL && read_blobs(store, outcome->mapping->id, &work, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < outcome->point_count; i++)
    if (outcome->points[i].pack == NULL && read_blobs(store, outcome->points[i].mapping.id, &work, error) != CM_OK) {
      free(work.blobs);
      return error->status;
    }
  cm_audit_entry cause;
  if (outcome->mapping != NULL || (outcome->reused_mapping != NULL && cm_job_makes(job->kind)->object != CM_OBJECT_NONE))
    blame(&cause, job);
  cm_status status = cm_database_write(store->database, finish, &work, error);
  cm_audit_cause(NULL);
  free(work.blobs);
  if (status != CM_OK) {
    cm_sweep_news_clear(&work.news);
    *taken = work.flag;
    return status;
  }
  const char *mapping = outcome->mapping != NULL ? outcome->mapping->id : outcome->reused_mapping;
  cm_job_log(job, cm_job_state_name(outcome->state), outcome->code != NULL ? outcome->code : outcome->reused_mapping != NULL ? "reused" : "");
  cm_monitor_job_ended(store->monitor, job, outcome->state, outcome->mapping != NULL, cm_store_time() - job->started);
  cm_job_publish(store, job->id, outcome->state, cm_job_makes(job->kind)->word, mapping);
  cm_event_bus_finished(store->bus, job->id);
  cm_sweep_tell(store, &work.news);
  return CM_OK;
}

static cm_status requeue(sqlite3 *handle, void *context, cm_error *error)
{
  queue_work *work = context;
  double seconds;
  CM_TRY(cm_job_move_in(handle, work->given, CM_JOB_QUEUED, error));
  CM_TRY(cm_job_settle_in(handle, work->given, &seconds, error));
  return cm_sql_run(handle, NULL, error, "UPDATE jobs SET moved = moved + ?, fingerprint = NULL WHERE id = ?", "it",
                    (int64_t)work->flag, work->given->id);
}

cm_status cm_jobs_requeue(cm_store *store, const cm_job *job, bool moved, cm_error *error)
{
  queue_work work = {.given = job, .flag = moved};
  CM_TRY(cm_database_write(store->database, requeue, &work, error));
  cm_job_log(job, "queued", moved ? "its cores were taken" : "the server stops");
  cm_job_publish(store, job->id, CM_JOB_QUEUED, NULL, NULL);
  return CM_OK;
}

double cm_job_retry_delay(int retry)
{
  double delay = 2;
  for (int i = 1; i < retry; i++)
    delay *= 4;
  return delay;
}

static cm_status retry(sqlite3 *handle, void *context, cm_error *error)
{
  queue_work *work = context;
  const cm_job *job = work->given;
  int64_t refused;
  work->flag = false;
  CM_TRY(check_attempt(handle, job, error));
  CM_TRY(cm_sql_number(handle, 1, &refused, error, "SELECT cancel_requested OR retries >= ? FROM jobs WHERE id = ?", "it",
                       (int64_t)CM_JOB_RETRIES_MAX, job->id));
  if (refused != 0)
    return CM_OK;
  CM_TRY(put_back(handle, job, error));
  work->flag = true;
  return cm_sql_run(handle, NULL, error,
                    "UPDATE jobs SET retries = ?, retry_at = ? + " CM_NOW("?") ", fault = ?, fingerprint = NULL"
                    " WHERE id = ?", "iddtt", (int64_t)job->retries + 1, cm_job_retry_delay(job->retries + 1),
                    cm_clock_steady(), work->text, job->id);
}

cm_status cm_jobs_retry(cm_store *store, const cm_job *job, const char *fault, bool *again, cm_error *error)
{
  return step_back(store, retry, (queue_work){.given = job, .text = fault}, "a fault that may pass", again, error);
}
