/* Commands that change quotas and rules of retention in a data folder, beside the server that may work on it (docs/how-to/queue.md,
 * docs/how-to/retention.md). */
#pragma once

#include <stdbool.h>

/* Whether a first word is one of them: "quota", "retention". */
bool cm_limit_command_knows(const char *word);

/* Carries one out; prints what it did or why not. The exit status: 0, 1 (refused) or 2 (wrong words). */
int cm_limit_command_run(int count, char **words);

/* The lines of its --help that say what there is. */
extern const char cm_limit_command_usage[];
