/* Between the files that bring jobs from claim to commit: what the server holds of a job meanwhile. */
#pragma once

#include "daemon/workers.h"
#include "storage/estimates.h"
#include "storage/pack.h"

typedef struct cm_running {
  cm_workers_options options; /* as they were when it began */
  cm_store *store;
  cm_job job;
  _Atomic double *until;        /* for others: when the time limit ends it */
  cm_work_job work;             /* job.json */
  char fingerprint[CM_SHA_MAX]; /* "" for a job that reserves: it never shares */
  char reused[CM_ID_MAX];       /* the mapping of an identical job, "" when there is none */
  bool deferred;                /* an identical job runs: this one is in the queue again */
  bool remote;                  /* it goes to a cluster, and its folder is where that sees it */
  char folder[CM_PATH_MAX];     /* the job folder, under incoming/ or in the shared folder; "" when there is none */
  char out[CM_PATH_MAX];        /* what this attempt makes, in it */
  cm_work_watch watch;
  cm_execution execution;
  cm_submission *submission;    /* from cm_running_begin to the end; NULL: there is none */
  cm_work_result result;
  cm_mapping_row row;
  cm_pack pack;                  /* what it made, when that is small */
  cm_job_point points[CM_JOB_POINTS_MAX]; /* the other mappings of a Pareto set */
  cm_pack point_packs[CM_JOB_POINTS_MAX];
  char *point_reports[CM_JOB_POINTS_MAX];
  size_t point_count;
  char phase[CM_PHASE_NAME_MAX]; /* last one logged */
  char *phases;                  /* last ones told */
  unsigned known;                /* done jobs of its class */
  double bytes;                  /* that it is expected to hold, as these show */
  char waits[CM_WORK_SAID_MAX];  /* for what, in a cluster's queue, as told last */
  cm_outlook outlook;            /* as told last */
} cm_running;

/* A claimed job, and what it holds; `until` tells others by when its own time limit ends it (cm_now); 0: never. NULL: there was no
 * memory, and it is in the queue again. */
cm_running *cm_running_new(const cm_workers_options *options, cm_job *job, _Atomic double *until);

/* Makes its folder and submits it. false: it has ended already, one way or another (an identical job's result, a bad option), and
 * `r` is freed. true: its submission is to be followed until it ends, and then handed to cm_running_end. */
bool cm_running_begin(cm_running *r);

/* Ends a job whose submission has ended, one way or another, and frees `r`. */
void cm_running_end(cm_running *r);

/* A job that ran when the server before ended, and that an executor still has, running or ended: its submission is to be followed like
 * any other. It takes over what the job holds. NULL: there is nothing to follow, its folder is gone, and what `job` holds is the caller's still. */
cm_running *cm_running_adopt(const cm_workers_options *options, const cm_job *job, _Atomic double *until);

/* Passes on what a run of the job tells, to those who listen and into its progress. Borrows `r` (running_told.c). */
cm_work_watch cm_running_watch(cm_running *r);

/* Of a submission that has ended: what it made is put in its place, unless it failed or is beaten in its sweep. */
cm_status cm_running_take(cm_running *r, cm_error *error);

/* What lists say of a mapping, from its summary at `path`; NULL: that cannot be read now. The caller frees. */
char *cm_running_report(const char *path);

/* Frees `r`, whose job goes on without us. */
void cm_running_leave(cm_running *r);

/* Where its folder is, by its row. */
cm_status cm_running_place(cm_running *r, cm_error *error);

/* Makes the job folder, or finds that an identical job runs (r->deferred) or has been done (r->reused). */
cm_status cm_running_prepare(cm_running *r, cm_error *error);
