/* `coremapd drain`: a server takes nothing new, ends what it runs, and stops. */
#pragma once

/* Runs the command line; the exit status. */
int cm_drain_run(int count, char **words);
