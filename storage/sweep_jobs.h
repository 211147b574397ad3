/* Sweeps: many jobs of one request, one for each point of its axes, and what they make compared.
 *
 * A sweep is a row among the jobs, of kind "sweep": it runs from the moment it is accepted until the last of its jobs has ended, in
 * the transaction in which that ends. Its jobs are jobs as others, which name it; no worker ever takes the sweep itself. Its options
 * are the request as api/sweeps.c has read it:
 *
 *   "by": [metric, ...], "better": [-1 | 1, ...]  what is compared, one or two metrics, and which way is better
 *   "keep": "best" | "pareto" | "all"             which mappings stay
 *   "budget": {"cpu_seconds", "idle", "gap"}      when the rest is cancelled: together used; so many ended in a row without a better one;
 *                                                 the first metric is within this part of its bound
 *
 * and its report is the tally: {"jobs", "done", "failed", "cancelled", "reused", "cpu_seconds", "without_gain", "stopped",
 * "kept": [{"job", "mapping", "order", "values"}]}, of which the first kept one is the best by the first metric. */
#pragma once

#include "storage/jobs.h"

enum { CM_SWEEP_POINTS_MAX = 10000 };

extern const char cm_sweep_kind[];
bool cm_job_is_sweep(const cm_job *job);

/* Queues `count` jobs and the sweep that they are points of, all or none; `sweep` as the job of cm_jobs_create, whose network, chip,
 * likeness and size are not read. Its visibility is at most that of its jobs. O(count) in one transaction. CM_NOT_FOUND and
 * CM_QUOTA_USED as of a job. */
typedef struct cm_sweep_request {
  const cm_job *sweep, *jobs;
  size_t count;
  const cm_job_key *key; /* NULL: none */
} cm_sweep_request;
cm_status cm_sweeps_create(cm_store *store, const cm_sweep_request *request, cm_job_created *result, char *id, cm_error *error);

/* What a transaction has done to sweeps and their jobs, to be told when it has taken. All zero: nothing. */
typedef struct cm_sweep_note cm_sweep_note;
typedef struct cm_sweep_news {
  cm_sweep_note *notes;
  size_t count, capacity;
} cm_sweep_news;
void cm_sweep_news_clear(cm_sweep_news *news);

/* Inside a transaction, after a job has ended: the tally of its sweep, if it has one that runs. O(points kept), and O(jobs) once, when
 * the budget is spent. */
cm_status cm_sweep_point_ended_in(sqlite3 *handle, const char *job, cm_sweep_news *news, cm_error *error);

/* Inside a transaction: what is queued of a sweep is cancelled, what runs is asked to stop, and the sweep ends with the last of it. */
cm_status cm_sweep_cancel_in(sqlite3 *handle, const char *sweep, cm_sweep_news *news, cm_error *error);

/* What a running job's mapping is to be as good as, so that its sweep keeps it: {"by": [metric], "better": [-1 | 1], "values": [[number]]}, a row for
 * each mapping that is kept so far; NULL: it is of no sweep, or stays anyway. The caller releases. */
cm_status cm_sweep_rivals(cm_store *store, const char *job, json_t **rivals, cm_error *error);

/* After the transaction: events, requests to stop, and the mappings that need not be kept go. Clears the news. */
void cm_sweep_tell(cm_store *store, cm_sweep_news *news);

/* A page of a sweep's jobs in the order of its points, with options and report; only those that the viewer sees. The caller clears each
 * and frees the array. */
typedef struct cm_sweep_filter {
  const cm_viewer *viewer; /* NULL: sees all */
  const char *sweep;
  int64_t after; /* only sequences above */
  size_t limit;
} cm_sweep_filter;
cm_status cm_sweeps_jobs(cm_store *store, const cm_sweep_filter *filter, cm_job **jobs, size_t *count, cm_error *error);
