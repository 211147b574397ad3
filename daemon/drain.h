/* `coremapd drain`: a server takes nothing new, ends what it runs, and stops. */
#ifndef CM_DAEMON_DRAIN_H
#define CM_DAEMON_DRAIN_H

/* Runs the command line; the exit status. */
int cm_drain_run(int count, char **words);

#endif
