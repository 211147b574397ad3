/* A process of this program that has all libraries loaded, knows nothing, and forks a child for each job folder that it is
 * told: that costs a millisecond where starting the program costs ten. */
#ifndef CM_DAEMON_FORK_SERVER_H
#define CM_DAEMON_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* A child that makes an attempt at the job of `folder` (cm_work_main), with `output` as its standard output and ours for errors; it
 * dies with us. The first call starts the fork server, and so does one after its end. `child`: a descriptor that stands for
 * it, to be closed; closing it kills a child that still runs. `pid`: its number, by which it may be looked at and no more: it can
 * be another's by then. Any thread may call. Errors: CM_NO_MEMORY, CM_IO. */
cm_status cm_fork_child(const char *folder, int attempt, int output, int *child, pid_t *pid, cm_error *error);

/* Lets a fork server that was stopped (SIGSTOP) go on. To be called now and then while there are children: it takes signals to
 * them and tells of their ends. */
void cm_fork_attend(void);

/* Sends it a signal; nothing when it has ended. */
void cm_fork_signal(int child, int number);

/* Whether it has ended: its wait status, and the processor time that it took (0 when that is not known). When the fork server was
 * killed, its children were too: the status is that. Told once. */
bool cm_fork_ended(int child, int *status, double *cpu_seconds);

/* Ends a fork server that does not answer, and its children with it; all that wait are told so. */
void cm_fork_give_up(void);

/* The whole of `coremapd --fork-server`, which is for this program alone: standard input is the socket on which it is told. */
int cm_fork_server_main(void);

#endif
