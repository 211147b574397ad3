/* The command that prints the ledger of a data folder (storage/ledger.h), beside the server that may work on it. */
#pragma once

/* Carries out "coremapd usage ..."; prints the months or why not. The exit status: 0, 1 (refused) or 2 (wrong words). */
int cm_usage_command_run(int count, char **words);

/* The lines of its --help that say what there is. */
extern const char cm_usage_command_usage[];
