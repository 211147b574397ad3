/* Between the files that bring jobs from claim to commit: what the server holds of a job meanwhile. */
#ifndef CM_DAEMON_RUNNING_H
#define CM_DAEMON_RUNNING_H

#include "daemon/workers.h"
#include "daemon/job/work.h"
#include "storage/jobs.h"
#include "storage/mappings.h"
#include "storage/pack.h"

typedef struct cm_running {
  const cm_workers_options *options;
  cm_store *store;
  cm_job job;
  _Atomic double *until;        /* for others: when the time limit ends it */
  cm_work_job work;             /* job.json */
  char fingerprint[CM_SHA_MAX]; /* "" for a job that reserves: it never shares */
  char reused[CM_ID_MAX];       /* the mapping of an identical job, "" when there is none */
  bool deferred;                /* an identical job runs: this one is in the queue again */
  char folder[CM_PATH_MAX];     /* the job folder, under incoming/; "" when there is none */
  char out[CM_PATH_MAX];        /* what this attempt makes, in it */
  cm_work_result result;
  cm_mapping_row row;
  cm_pack pack;                  /* what it made, when that is small */
  char phase[CM_PHASE_NAME_MAX]; /* last one logged */
  char *phases;                  /* last ones told */
} cm_running;

/* Carries out a claimed job and ends it, one way or another; takes over what the job holds. `until` tells others by when the
 * job's own time limit ends it (cm_now); 0: never. */
void cm_running_job(const cm_workers_options *options, cm_job *job, _Atomic double *until);

/* Makes the job folder, or finds that an identical job runs (r->deferred) or has been done (r->reused). */
cm_status cm_running_prepare(cm_running *r, cm_error *error);

#endif
