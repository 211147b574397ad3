/* What a run of a job tells from outside this process: its progress, a file of lines that grows, and its end. */
#pragma once

#include "daemon/job/work.h"

/* How far the progress of a run has been read; zeroed at first but for `file`, -1. */
typedef struct cm_told {
  int file;     /* -1: not open */
  off_t read;   /* bytes so far */
  char *line;   /* what has been read beyond whole lines */
  size_t used, room;
  char phase[CM_PHASE_NAME_MAX]; /* told last */
} cm_told;

/* Passes on what has been added to `out`/progress. `anew`: the file is opened each time, as a network's file system wants that others write to. */
void cm_told_follow(cm_told *told, const char *out, bool anew, const cm_work_watch *watch);
void cm_told_clear(cm_told *told);

/* How a process with a job has ended. */
typedef struct cm_told_end {
  int status;          /* wait status */
  double cpu_seconds;
  bool asked;          /* to stop */
  bool unstoppable;    /* it was killed because it did not */
  bool overdue;        /* or for its time limit */
  cm_error breach;     /* or for what it held (CM_OK: nothing) */
  char said[CM_WORK_SAID_MAX]; /* by its output, but for line ends */
} cm_told_end;

/* CM_OK: there is a result; else why there is none, as of cm_executor.judge. */
cm_status cm_told_judge(const cm_told_end *end, const char *phase, double time_limit, cm_error *error);
