/* What no rule of the kernel counts of one process: its threads, and all bytes that it holds on the disk. */
#pragma once

#include <sys/types.h>

#include "base/status.h"

typedef struct cm_child_limits {
  pid_t pid;
  const char *out;    /* the folder that it writes to */
  unsigned threads;   /* that the job was granted; its process may have some times as many. 0: no limit */
  uint64_t bytes;     /* of that folder and of files that it has removed and holds; 0: no limit */
} cm_child_limits;

/* Look at the child from outside. CM_OK: it keeps them, or has ended. CM_INTERNAL: too many threads, CM_DISK_FULL: too much on
 * the disk; it is to be killed. Threads cost one call, bytes several for each file. */
cm_status cm_child_limits_threads(const cm_child_limits *limits, cm_error *error);
cm_status cm_child_limits_bytes(const cm_child_limits *limits, cm_error *error);
