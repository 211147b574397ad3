/* A process that reads what strangers wrote gives up all that it does not need: memory, time, files, the network. */
#ifndef CM_DAEMON_CONFINE_H
#define CM_DAEMON_CONFINE_H

#include "core/base/status.h"

typedef struct cm_confinement {
  const char *folder;    /* the job folder: in/ may be read, out/ be written */
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
 * what holds and what this kernel lacks. */
void cm_confine(const cm_confinement *confinement, char in_force[CM_IN_FORCE_MAX]);

/* The rules on files alone: reading under in/, everything but links, devices and pipes under out/. The ABI in force, 0 when
 * there is none. */
int cm_confine_files(const char *folder);

#endif
