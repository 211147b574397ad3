/* A process that reads what strangers wrote gives up all that it does not need: memory, time, files, the network. */
#pragma once

#include "base/status.h"

typedef struct cm_confinement {
  const char *folder;    /* a job folder: job.json and in/ may be read; NULL: this instead */
  const char *input;     /* a file that may be read */
  const char *output;    /* a folder that may be written */
  uint64_t memory_limit; /* accounted bytes that the job may use; 0: most of the machine's */
  uint64_t file_limit;   /* bytes of one file; 0: no limit */
  double cpu_seconds;    /* over all threads; 0: no limit */
} cm_confinement;

enum { CM_IN_FORCE_MAX = 400 };

/* What memory a confined process may have for a job of this limit: libraries, stacks and reserved address space come on
 * top of what is accounted. 0 for a job without a limit is most of the machine's. */
uint64_t cm_confine_memory(uint64_t memory_limit);

/* Confines this process for good; before any thread starts. Limits always; the filter of system calls (no network, no
 * programs, no other processes) and the rules on files (Landlock) where the kernel has them. `in_force` says in words
 * what holds and what this kernel lacks. CM_NO_MEMORY: not confined, and not to go on. */
cm_status cm_confine(const cm_confinement *confinement, char in_force[CM_IN_FORCE_MAX], cm_error *error);
