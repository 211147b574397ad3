/* How the commands beside a server end. */
#pragma once

#include "base/status.h"

enum { EXIT_USAGE = 2 };

/* Say what is wrong with the words of a command, or what failed; return the exit status. */
int cm_command_wrong(const char *command, const char *what, const char *word);
int cm_command_fail(const cm_error *error);
