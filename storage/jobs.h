/* The queue of jobs: a state machine whose every move is one durable write.
 *
 *            create             claim                 finish
 *   (none) ----------> queued ----------> running ----------------> done | failed | cancelled
 *                        |  ^                |
 *                 cancel |  +----------------+ requeue: drain, restart, occupancy changed, identical job runs
 *                        v                     retry: a passing fault (later, and CM_JOB_RETRIES_MAX times)
 *                    cancelled                       failed also: has killed the server CM_JOB_KILLS_MAX times
 */
#pragma once

#include "storage/lists.h"
#include "storage/mappings.h"

typedef enum cm_job_state {
  CM_JOB_QUEUED,
  CM_JOB_RUNNING,
  CM_JOB_DONE,
  CM_JOB_FAILED,
  CM_JOB_CANCELLED,
  CM_JOB_STATES
} cm_job_state;

enum {
  CM_JOB_KILLS_MAX = 3,     /* starts that ended with the server's death before a job is failed */
  CM_JOB_RETRIES_MAX = 5,   /* times that a job is tried again after a passing fault */
  CM_JOB_MOVES_MAX = 5,     /* times that a reserving job is mapped again because its cores were taken meanwhile */
  CM_JOB_QUEUE_MAX = 10000, /* queued jobs of one user */
};

/* "queued", "running", ... and back (CM_JOB_STATES: unknown). */
const char *cm_job_state_name(cm_job_state state);
cm_job_state cm_job_state_of(const char *name);

/* The table of allowed moves. */
bool cm_job_may_move(cm_job_state from, cm_job_state to);

enum { CM_LIKENESS_MAX = 64 };

/* Where a job waits: what is expected to take less than two seconds has workers of its own beside the others, so that it
 * never waits behind a long one; and what takes long goes to a cluster, where there is one. */
typedef enum cm_lane_of_jobs { CM_LANE_OF_SHORT, CM_LANE_OF_LONG, CM_LANE_OF_CLUSTER, CM_LANES } cm_lane_of_jobs;

/* "short", "long", "cluster"; and the lane of a row: what is none is long. */
const char *cm_queue_lane_name(cm_lane_of_jobs lane);
cm_lane_of_jobs cm_queue_lane_of(int number);

/* The lanes that a worker may take from, a bit each. */
typedef unsigned cm_claim;
enum { CM_CLAIM_SHORT = 1U << CM_LANE_OF_SHORT, CM_CLAIM_CLUSTER = 1U << CM_LANE_OF_CLUSTER, CM_CLAIM_ANY = (1U << CM_LANES) - 1 };

/* From now on jobs that are expected to take so many seconds, or bytes of memory, wait for a cluster; INFINITY: none does. */
cm_status cm_jobs_set_cluster(cm_store *store, double seconds, double bytes, cm_error *error);

/* Whether a job goes to the cluster. */
typedef enum cm_cluster_wish { CM_CLUSTER_AUTO, CM_CLUSTER_ALWAYS, CM_CLUSTER_NEVER, CM_CLUSTER_WISHES } cm_cluster_wish;
const char *cm_cluster_wish_name(cm_cluster_wish wish); /* "auto", "always", "never" */

typedef struct cm_job {
  int64_t sequence; /* order of arrival; the cursor of lists */
  char id[CM_ID_MAX];
  cm_owner owner;      /* whose turns and limits count */
  bool shown;          /* in cm_jobs_create: that visibility was asked for, and a narrower one will not do */
  char kind[16];
  char name[CM_NAME_MAX];
  char network[CM_SHA_MAX];
  char chip[LIBRARY_CHIP_NAME_MAX];
  char *options;       /* JSON object as the user gave it */
  bool reserve;        /* its region is leased when it is done */
  double ttl;          /* of that lease, seconds */
  int priority;        /* higher first */
  char request[64];    /* id of the request that made it; "": made by a release that gave none */
  char likeness[CM_LIKENESS_MAX]; /* kind, preset and other words that say how long it takes; "": unknown */
  double size;         /* of what it works on: neurons and synapses, or bytes of a model */
  double time_limit;   /* seconds, 0: none; read when it is queued */
  cm_cluster_wish cluster; /* read when it is queued */
  cm_lane_of_jobs lane;
  double expected;     /* seconds */
  double cpu_seconds;  /* processor time of this attempt, and the memory that it held at most; set by whoever runs it */
  double bytes;
  cm_job_state state;
  int attempt;         /* starts so far; results are accepted from the last one only */
  int kills, moved, retries;
  bool ready;          /* queued and to be taken now: it waits for no identical job and for no retry's time */
  uint64_t position;   /* queued: its place in its lane, from 1 (storage/positions.h); else 0 */
  double ahead_seconds; /* queued: what those before it are expected to take together */
  bool held;           /* queued: as many of its owner's jobs run as his quota lets */
  bool duplicate;           /* queued: it waits for an identical job that runs */
  double retry_at;     /* queued after a passing fault: not before this time; else 0 */
  bool cancel_requested, reused;
  double created, started, finished; /* 0: not yet */
  double waited;       /* of an attempt under way: seconds of it in a cluster's queue */
  char *problem, *report, *phases, *log; /* JSON texts and plain text; "" when none */
  char *fault;         /* the problem that the last retry is for, as JSON text */
  char mapping[CM_ID_MAX]; /* what it made: a mapping, or of a compile job a program */
  char lease[CM_ID_MAX];
  char sweep[CM_ID_MAX]; /* whose point it is; "": of none */
  char labels[CM_LABELS_MAX]; /* storage/labels.h; its result gets them too */
  char preset[24], objective[24]; /* of what it maps, given or not; "": it maps nothing. Read when it is queued */
  int64_t seed;
  char folder[CM_ID_MAX]; /* running: its job folder, incoming/FOLDER.job */
  char fingerprint[CM_SHA_MAX]; /* running: what shapes its result; "": not known yet, or it shares with none */
} cm_job;

void cm_job_clear(cm_job *job); /* frees the texts; a zeroed job is fine */

/* A line of the JSON log: the step that a job has come to, and why ("": the step says it). */
void cm_job_log(const cm_job *job, const char *step, const char *why);

typedef enum cm_job_created { CM_JOB_NEW, CM_JOB_SAME, CM_JOB_OTHER_BODY, CM_JOB_QUEUE_FULL } cm_job_created;

/* What makes a request idempotent. */
typedef struct cm_job_key {
  const char *key, *body_hash;
} cm_job_key;

/* What a key stands for: *result CM_JOB_SAME or CM_JOB_OTHER_BODY and the job's id, or CM_JOB_NEW: nothing yet. Whatever the job was
 * made of may be gone: its answer stays. */
cm_status cm_jobs_by_key(cm_store *store, const char *user, const cm_job_key *key, cm_job_created *result, char *id,
                         cm_error *error);

/* Queues a job: of `job` owner, kind, name, network, chip, options, reserve, ttl, priority, request, likeness, size,
 * time_limit, labels, preset, objective and seed are read.
 * `key` NULL: none. On CM_JOB_NEW and CM_JOB_SAME id [CM_ID_MAX] is the job's.
 * Its visibility is at most that of its sources (storage/derive.h). CM_NOT_FOUND when the network or chip is not there. */
cm_status cm_jobs_create(cm_store *store, const cm_job *job, const cm_job_key *key, cm_job_created *result, char *id,
                         cm_error *error);

/* The same for many jobs of one user, all or none, in one transaction: ids [count] in their order, of CM_JOB_SAME the first alone.
 * *failed: which one an error is about. The key is the batch's. */
typedef struct cm_batch_request {
  const cm_job *jobs;
  size_t count;
  const cm_job_key *key; /* NULL: none */
} cm_batch_request;
cm_status cm_jobs_create_batch(cm_store *store, const cm_batch_request *request, cm_job_created *result, char (*ids)[CM_ID_MAX], size_t *failed,
                               cm_error *error);

/* Those that are left of the batch of a first job, in their order; the caller frees with free(). */
cm_status cm_jobs_of_batch(cm_store *store, const char *first, char (**ids)[CM_ID_MAX], size_t *count, cm_error *error);

/* One job, with its position; the cost does not depend on the queue's length, and so with all below. The caller clears
 * *job. CM_NOT_FOUND. */
cm_status cm_jobs_get(cm_store *store, const char *id, cm_job *job, cm_error *error);

/* A page of jobs as lists show them, and of each, in the same order, what a list does not: with positions as of one moment, without log,
 * report and options. The caller clears the page, also after a failure, and each of its page->count jobs, and frees the array. */
cm_status cm_jobs_list(cm_store *store, const cm_list_query *query, cm_list_page *page, cm_job **jobs, cm_error *error);

/* How the jobs of a user have changed since a time in microseconds, those that changed last at the end: of each its newest state, as events have it, which
 * `tell` is called with. O(his jobs). */
typedef struct cm_job_change {
  const char *id, *kind, *mapping; /* "": none */
  cm_job_state state;
  double at;
} cm_job_change;
cm_status cm_jobs_changes(cm_store *store, const char *user, uint64_t since, void (*tell)(void *context, const cm_job_change *change), void *context,
                          cm_error *error);

/* Whether jobs of a user are queued or run. */
cm_status cm_jobs_busy(cm_store *store, const char *user, bool *busy, cm_error *error);

/* What runs now. */
typedef struct cm_jobs_running {
  unsigned count;      /* jobs */
  double next, all;    /* seconds until the next one is expected to end, and all together */
} cm_jobs_running;
cm_status cm_jobs_outlook(cm_store *store, cm_jobs_running *running, cm_error *error);

/* The stored history of a job's progress (storage/progress.h); the caller frees, "" where there is none. CM_NOT_FOUND. */
cm_status cm_jobs_history(cm_store *store, const char *id, char **text, cm_error *error);

/* How many jobs of a job's class have been done, of those that estimates are made from, and the bytes that it is expected to hold
 * (storage/estimates.h). */
cm_status cm_jobs_known(cm_store *store, const cm_job *job, unsigned *known, double *bytes, cm_error *error);

/* Queued jobs are cancelled at once; running ones are asked to stop. CM_CONFLICT when it has ended. */
cm_status cm_jobs_cancel(cm_store *store, const char *id, cm_error *error);

/* Inside a transaction: CM_CONFLICT while a job is queued or running, CM_NOT_FOUND. */
cm_status cm_jobs_check_ended_in(sqlite3 *handle, const char *id, cm_error *error);

/* Takes the next job: highest priority, then the user who has used least for his share (storage/usage.h), then the oldest.
 * *found = false when nothing is queued that may be taken. The caller clears *job. */
cm_status cm_jobs_claim(cm_store *store, cm_claim claim, cm_job *job, bool *found, cm_error *error);

/* Notes what shapes a running job's result. *deferred: an identical job runs already, and this one is queued again
 * until that one ends. */
cm_status cm_jobs_identify(cm_store *store, const cm_job *job, const char *fingerprint, bool *deferred,
                           cm_error *error);

/* One more mapping that a job has made: of its Pareto set, of which the first stands in the outcome. */
enum { CM_JOB_POINTS_MAX = 16 };
typedef struct cm_job_point {
  const cm_pack *pack;    /* its files, NULL: they have been placed */
  const char *report;     /* its figures, as in that of a job */
  cm_mapping_row mapping;
  int64_t number;         /* in the set, from 1 */
} cm_job_point;

typedef struct cm_job_outcome {
  cm_job_state state;                         /* done, failed or cancelled */
  const char *problem, *report, *phases, *log, *history; /* NULL: none */
  const char *code;                           /* of the problem, for the log; NULL: none */
  const cm_mapping_row *mapping;              /* done: a new mapping to note, or */
  const cm_pack *pack;                        /* its files, NULL: they have been placed */
  const char *reused_mapping;                 /* one that is there already */
  const cm_job_point *points;                 /* of the new mapping's Pareto set */
  size_t point_count;
  const uint32_t *region;                     /* cores to lease in the same transaction, or NULL */
  uint32_t region_count;
} cm_job_outcome;

/* Ends a running job, if `job->attempt` still is its current attempt (else CM_CONFLICT and nothing changes).
 * *taken: the cores to lease have been taken meanwhile; nothing has changed, the job should be requeued. */
cm_status cm_jobs_finish(cm_store *store, const cm_job *job, const cm_job_outcome *outcome, bool *taken,
                         cm_error *error);

/* Puts a running job back in the queue; `moved` counts that its cores were taken. */
cm_status cm_jobs_requeue(cm_store *store, const cm_job *job, bool moved, cm_error *error);

/* Seconds until the retry of this number, from 1: 2, 8, 32, 128, 512. */
double cm_job_retry_delay(int retry);

/* Puts a running job that a passing fault has ended (cm_error_passes) back in the queue, to start after a delay that
 * grows with each retry; `fault` is its problem as JSON text (NULL: none). *again is false, and nothing has changed, when
 * it has been tried again CM_JOB_RETRIES_MAX times, or its cancelling was asked for. CM_CONFLICT: the attempt is over. */
cm_status cm_jobs_retry(cm_store *store, const cm_job *job, const char *fault, bool *again, cm_error *error);

/* At start: the jobs that were running when the server before ended, but for sweeps. The caller clears each and frees the array. */
cm_status cm_jobs_interrupted(cm_store *store, cm_job **jobs, size_t *count, cm_error *error);

/* Then these of them go back to the queue, or are cancelled when that was asked for, or failed with `problem` (JSON text) when they have
 * been running at the server's death CM_JOB_KILLS_MAX times. The others go on. */
cm_status cm_jobs_recover(cm_store *store, const cm_job *jobs, size_t count, const char *problem, cm_error *error);

/* Number of jobs per state. */
cm_status cm_jobs_count(cm_store *store, uint64_t count[CM_JOB_STATES], cm_error *error);
