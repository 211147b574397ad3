/* Threads that take jobs from the queue and run them. */
#pragma once

#include "daemon/executor.h"
#include "storage/store.h"

typedef struct cm_workers cm_workers;

typedef struct cm_workers_options {
  cm_store *store;
  unsigned workers;      /* jobs at once */
  unsigned short_workers; /* beside them, of those that are expected to be short */
  unsigned cluster_jobs; /* given to a cluster at once; 0: there is none, and its jobs run here */
  unsigned threads;      /* of one job at most */
  uint64_t memory_limit; /* of one job, 0: none */
  uint64_t disk_reserve; /* bytes that jobs leave free */
  const cm_executor *executor;
  bool lasting;          /* jobs may outlive this process, where their executor can do that */
} cm_workers_options;

/* Before it takes jobs from the queue, it takes over those that the server before left running, and puts the others of its jobs back. */
cm_status cm_workers_start(const cm_workers_options *options, cm_workers **workers, cm_error *error);

/* Jobs that begin from now on get this memory at most (0: no limit) and leave so many bytes of disk free. */
void cm_workers_limit(cm_workers *workers, uint64_t memory_limit, uint64_t disk_reserve);

/* There may be something to do; may be called from any thread. */
void cm_workers_wake(cm_workers *workers);

/* Takes no more jobs from now on (hold), or does again; what runs goes on. */
void cm_workers_hold(cm_workers *workers, bool hold);

/* Jobs that run just now. */
unsigned cm_workers_busy(cm_workers *workers);

/* Whether a thread has come to a stop: one that rests has not looked for jobs, or a job has not ended, for minutes after it
 * was to be stopped or its time limit was over. A job that merely takes long is none. To be called now and then; `job`
 * [CM_ID_MAX] gets the job's id, "" for one that rests. */
bool cm_workers_stuck(cm_workers *workers, char *job);

/* Takes no more jobs, waits `grace` seconds for the running ones, then leaves those that may last to the next server, and sends the
 * others back to the queue. */
void cm_workers_stop(cm_workers *workers, double grace);

/* Stops if need be, and frees; nobody may wake any more. NULL is allowed. */
void cm_workers_free(cm_workers *workers);
