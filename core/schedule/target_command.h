/* Scores from outside: a command that runs a program on the real target and says how long it took (docs/explanation/orders.md). */
#pragma once

#include "base/run.h"

/* Runs `command` (a shell command line) with the path of a file as "$1", and reads its standard output:
 * the last line must be the time taken in nanoseconds, a number that may have decimals (which are cut off). Standard
 * input is empty, standard error goes through. The command is killed with its children when the run is cancelled, its
 * deadline passes, or it has run for `seconds_max`. Only for commands of the user who runs us: never take one from a
 * network. Errors: CM_IO when it cannot be started, fails, is killed or says no number (with what it said),
 * CM_TIME_LIMIT past the deadline or seconds_max, CM_CANCELLED. */
cm_status cm_measure(const char *command, const char *path, double seconds_max, cm_run *run, uint64_t *nanoseconds,
                     cm_error *error);
