/* Between the files of jobs: rows and moves inside a transaction. */
#pragma once

#include "storage/internal.h"
#include "storage/jobs.h"

/* A queued job that may be taken now; the table goes by the name j. Word for word the condition of an index. */
#define CM_JOB_IS_READY "j.state = 'queued' AND j.waits_for IS NULL AND j.retry_at IS NULL"

/* The columns that cm_job_from_row reads. */
#define CM_JOB_COLUMNS \
  "sequence, id, kind, name, network, chip, reserve, ttl, priority, state, attempt, kills, moved," \
  " cancel_requested, reused, created, started, finished, mapping, lease, retries, retry_at, options, problem, report, phases, log," \
  " fault, waits_for IS NULL AND retry_at IS NULL, user, team, visibility," \
  " waits_for IS NOT NULL, lane, expected_ms, likeness, size, request, sweep, label_set, folder, fingerprint"

/* Fills a cm_job, which the caller clears; these are what a cm_row_kind of jobs needs. */
cm_status cm_job_from_row(sqlite3_stmt *row, void *job, cm_error *error);
void cm_job_clear_row(void *job);

/* One job, as the transaction sees it. The caller clears *job. CM_NOT_FOUND. */
cm_status cm_job_get_in(sqlite3 *handle, const char *id, cm_job *job, cm_error *error);

/* How a job comes into the queue. */
typedef struct cm_job_entry {
  cm_job_key key;    /* of the request; its texts NULL: none */
  const char *sweep; /* whose point it is; NULL: a job of its own */
  const char *batch; /* the first job of those that came with it; NULL: none did */
} cm_job_entry;

/* Queues a job as cm_jobs_create has it; the id that it is given. Whether there is room in the queue is not asked. */
cm_status cm_job_enter_in(sqlite3 *handle, const cm_job *job, const cm_job_entry *entry, char id[CM_ID_MAX], cm_error *error);

/* cm_jobs_by_key inside a transaction; a key whose texts are NULL stands for nothing yet. */
cm_status cm_job_key_in(sqlite3 *handle, const char *user, const cm_job_key *key, cm_job_created *result, char id[CM_ID_MAX], cm_error *error);

/* Whether so many more jobs of a user may be queued. */
cm_status cm_jobs_queue_room_in(sqlite3 *handle, const char *user, size_t more, bool *room, cm_error *error);

/* When a job leaves its worker: its user is charged what it took in place of what it was expected to. */
cm_status cm_job_settle_in(sqlite3 *handle, const cm_job *job, double *seconds, cm_error *error);

/* Moves a job whose state (and attempt) the caller has read in this transaction. CM_CONFLICT. */
cm_status cm_job_move_in(sqlite3 *handle, const cm_job *job, cm_job_state to, cm_error *error);

/* Tells the event bus where a job is now, and the id of what it made ("mapping", "program"; NULL: nothing). */
void cm_job_publish(cm_store *store, const char *id, cm_job_state state, const char *result_kind, const char *result);
