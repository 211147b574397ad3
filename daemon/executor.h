/* How jobs are carried out: one interface, a table of executors (docs/how-to/executors.md). */
#pragma once

#include "daemon/job/work.h"

/* A job folder to be carried out. */
typedef struct cm_execution {
  const char *folder;
  const char *out;            /* where this attempt at it puts what it makes: out.ATTEMPT in it (cm_work_out) */
  int attempt;
  bool lasting;               /* it may outlive this process, for the next server to adopt */
  double began;               /* when it was submitted (cm_now) */
  double time_limit;          /* seconds; 0: none */
  int nice;                   /* how far it stands back for requests and for shorter jobs; only in this process */
  uint64_t memory_limit;      /* bytes; 0: none */
  unsigned threads;           /* that the job was granted; 0: any number */
  uint64_t disk_limit;        /* bytes that it may hold on the disk; 0: none */
  double seconds;             /* that it may take, and bytes of memory, as like jobs show: what a cluster sets aside for it */
  uint64_t bytes;
  const char *user;           /* whose it is */
  const cm_work_watch *watch; /* told what happens, asked whether to stop */
} cm_execution;

typedef struct cm_executor cm_executor;

/* A job folder that has been submitted. The executor's own, who keeps more behind it; used by one thread at a time. */
typedef struct cm_submission {
  const cm_executor *executor;
  const cm_execution *execution; /* the caller's, and there as long as the submission */
  int wakes;                     /* a descriptor: there is something to poll when it can be read */
  bool stopped;                  /* it has been asked to stop */
} cm_submission;

struct cm_executor {
  const char *name;
  bool outside; /* jobs see nothing of this process: cached levels are lent in the job folder */
  bool elsewhere; /* on other machines: they outlive the server whatever the settings say */
  /* Begins to carry out a job. CM_NO_MEMORY, CM_IO: nothing could be started. */
  cm_status (*submit)(const cm_execution *execution, cm_submission **made, cm_error *error);
  /* Takes over one that a server before submitted and left, or died over, running or ended. CM_NOT_FOUND: there is none. NULL: its
   * jobs end with the server. */
  cm_status (*adopt)(const cm_execution *execution, cm_submission **made, cm_error *error);
  /* Passes on what the job tells, and keeps it within its limits; to be called some times a second, and never waits. true: it has
   * ended. */
  bool (*poll)(cm_submission *submission);
  /* Asks it to stop, once; that it does is seen to by poll. */
  void (*stop)(cm_submission *submission);
  /* Of one that has ended. CM_OK: the folder has a result, which may be a failure. Else why there is none: CM_INTERNAL (it
   * crashed), CM_TIME_LIMIT, CM_MEMORY_LIMIT, CM_CANCELLED, CM_NO_MEMORY (the machine killed it), CM_IO. `cpu_seconds` is the
   * processor time that it took, however it ended. */
  cm_status (*judge)(const cm_submission *submission, double *cpu_seconds, cm_error *error);
  /* Frees one that has ended, which nobody need be told of any more. */
  void (*release)(cm_submission *submission);
  /* Frees one that may last: it goes on, and can be adopted. NULL where `adopt` is. */
  void (*leave)(cm_submission *submission);
  /* Ends what nobody has adopted. NULL where `adopt` is. */
  void (*settle)(void);
};

/* Each job in a thread of this process; and each in a child, confined (base/confine.h): whatever happens there costs this job only. */
extern const cm_executor cm_executor_threads, cm_executor_process;

/* By name, of those of this machine; NULL when there is none. */
const cm_executor *cm_executor_find(const char *name);

/* The one for a job of this kind, whose folder is ready, where `chosen` runs the others: models are taken apart and compiled outside
 * this process, and spikes read there that a library reads which damaged files might crash (HDF5), always. */
const cm_executor *cm_executor_for(const cm_executor *chosen, const char *kind, const char *folder);

/* Asks it to stop where its watch says so, and polls it. true: it has ended. */
bool cm_submission_poll(cm_submission *submission);

/* Begins to carry out a job. Errors: as of `submit`. */
cm_status cm_executor_submit(const cm_executor *executor, const cm_execution *execution, cm_submission **made, cm_error *error);

/* Takes over what an executor still has of a job. CM_NOT_FOUND: none has. */
cm_status cm_executor_adopt(const cm_execution *execution, cm_submission **made, cm_error *error);

/* Ends what a server before left and nobody has adopted. */
void cm_executor_settle(void);

/* Submits, waits for the end, judges and releases. */
cm_status cm_executor_run(const cm_executor *executor, const cm_execution *execution, cm_error *error);
