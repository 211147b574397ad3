/* coremapd health: asks a server whether it is ready, for containers and managers that run a command. */
#pragma once

/* Asks at the unix socket that the words name; prints why not. The exit status: 0 (ready), 1 or 2 (wrong words). */
int cm_health_run(int count, char **words);
