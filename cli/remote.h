/* Between the commands that talk to a server. */
#ifndef CM_CLI_REMOTE_H
#define CM_CLI_REMOTE_H

#include "cli/http.h"

/* Waits until a job has ended, and shows its phases; *job (the caller's reference), which came with the ETag `known`, is
 * replaced by its last state. */
cm_status cli_follow(cli_server *server, cli_run *cli, const char *known, json_t **job, cm_error *error);

/* Prints a job: JSON, or its id, or when it has ended what it made. Returns the exit status: a job that failed or was
 * cancelled is refused, with one line that says why. */
int cli_print_job(const json_t *job, bool json, bool ended);

/* True when the text can be an id: letters and digits. */
bool cli_is_id(const char *text);

#endif
