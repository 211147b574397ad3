/* Pages for man(1), from the table of commands. */
#pragma once

#include "cli/command.h"

enum { CLI_COMMANDS_MAX = 64 };

/* The page of a command, or of coremap itself (NULL), in roff. */
void cli_print_manual(const cli_command *command, FILE *out);
