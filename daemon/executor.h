/* How jobs are carried out: one interface, a table of executors (docs/how-to/executors.md). */
#ifndef CM_DAEMON_EXECUTOR_H
#define CM_DAEMON_EXECUTOR_H

#include "daemon/job/work.h"

/* A job folder to be carried out. */
typedef struct cm_execution {
  const char *folder;
  const char *out;            /* where this attempt at it puts what it makes: out.ATTEMPT in it (cm_work_out) */
  int attempt;
  double time_limit;          /* seconds; 0: none */
  int nice;                   /* how far it stands back for requests and for shorter jobs; only in this process */
  uint64_t memory_limit;      /* bytes; 0: none */
  unsigned threads;           /* that the job was granted; 0: any number */
  uint64_t disk_limit;        /* bytes that it may hold on the disk; 0: none */
  const cm_work_watch *watch; /* told what happens, asked whether to stop */
  double *cpu_seconds;        /* set to the processor time that it took, however it ended; NULL: not wanted */
} cm_execution;

typedef struct cm_executor {
  const char *name;
  bool outside; /* jobs see nothing of this process: cached levels are lent in the job folder */
  /* Carries out the job and returns when it has ended. CM_OK: the folder has a result, which may be a failure. Else why
   * there is none: CM_INTERNAL (it crashed), CM_TIME_LIMIT, CM_MEMORY_LIMIT, CM_CANCELLED, CM_NO_MEMORY (the machine
   * killed it, or nothing could be started), CM_IO. */
  cm_status (*run)(const cm_execution *execution, cm_error *error);
} cm_executor;

/* By name; NULL when there is none. */
const cm_executor *cm_executor_find(const char *name);

/* The one for a job of this kind, whose folder is ready, where `chosen` runs the others: models are taken apart and compiled outside
 * this process, and spikes read there that a library reads which damaged files might crash (HDF5), always. */
const cm_executor *cm_executor_for(const cm_executor *chosen, const char *kind, const char *folder);

/* In a thread of its own, while this one waits. */
cm_status cm_execute_in_thread(const cm_execution *execution, cm_error *error);

/* In a confined child (base/confine.h): whatever happens there costs this job only. */
cm_status cm_execute_in_child(const cm_execution *execution, cm_error *error);

#endif
