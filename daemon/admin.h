/* Commands that change users and tokens in a data folder, beside the server that may work on it (docs/how-to/users.md). */
#pragma once

#include <stdbool.h>

/* Whether a first word is one of them: "user", "token". */
bool cm_admin_knows(const char *word);

/* Carries one out; prints what it did or why not. The exit status: 0, 1 (refused) or 2 (wrong words). */
int cm_admin_run(int count, char **words);

/* The lines of its --help that say what there is. */
extern const char cm_admin_usage[];
