/* A process of this program that has all libraries loaded, knows nothing, and forks a child for each job folder that it is
 * told: that costs a millisecond where starting the program costs ten. It outlives the server for a while, with the children that may;
 * the next server on the data folder finds it there. */
#pragma once

#include <sys/types.h>

#include "base/status.h"

/* A child that carries out a job. */
typedef struct cm_forked {
  int wire;   /* stands for it; to be closed */
  int output; /* what it writes to its standard output, never waiting; to be closed */
  pid_t pid;  /* by which it may be looked at and no more: it can be another's by then */
} cm_forked;

/* Before the first child, with the lock of the data folder: fork servers are found there from now on, and outlive this process for so
 * many seconds while they have children that may. One that is there already is ours from now on, if it runs this very program; else it
 * is ended. */
void cm_fork_prepare(const char *data, unsigned seconds);

/* A child that makes an attempt at the job of `folder` (cm_work_main), with our standard error. The first call starts the fork server,
 * and so does one after its end. Closing its wire kills it, unless it is `lasting`. Any thread may call. Errors: CM_NO_MEMORY, CM_IO. */
cm_status cm_fork_child(const char *folder, int attempt, bool lasting, cm_forked *child, cm_error *error);

/* The lasting child of a server before, running or ended, that makes this attempt. CM_NOT_FOUND: there is none. */
cm_status cm_fork_adopt(const char *folder, int attempt, cm_forked *child, cm_error *error);

/* Ends what nobody has adopted. */
void cm_fork_settle(void);

/* Lets a fork server that was stopped (SIGSTOP) go on. To be called now and then while there are children: it takes signals to
 * them and tells of their ends. */
void cm_fork_attend(void);

/* Sends it a signal; nothing when it has ended. */
void cm_fork_signal(int wire, int number);

/* Whether it has ended: its wait status, and the processor time that it took (0 when that is not known). When the fork server was
 * killed, its children were too: the status is that. Told once. */
bool cm_fork_ended(int wire, int *status, double *cpu_seconds);

/* Its end is not told to a server that comes later; one that still runs is killed. */
void cm_fork_forget(int wire);

/* Ends a fork server that does not answer, and its children with it; all that wait are told so. */
void cm_fork_give_up(void);

/* The whole of `coremapd --fork-server`, which is for this program alone: standard input is the socket on which it is asked. */
int cm_fork_server_main(void);
