/* coremapd backup DIR, coremapd restore DIR (docs/reference/data-folder.md). */
#pragma once

#include <stdbool.h>

/* Whether a first word is one of them. */
bool cm_backup_knows(const char *word);

/* Carries one out; prints what it did or why not. The exit status: 0, 1 (refused) or 2 (wrong words). */
int cm_backup_run(int count, char **words);
