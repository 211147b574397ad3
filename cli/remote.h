/* Between the commands that talk to a server. */
#pragma once

#include "cli/http.h"

/* Waits until a job has ended, and shows its phases; *job (the caller's reference), which came with the ETag `known`, is
 * replaced by its last state. */
cm_status cli_follow(cli_server *server, cli_run *cli, const char *known, json_t **job, cm_error *error);

/* Says in `text` which attempt of a job comes when, and why, where it waits for one after a passing fault; else "". */
void cli_retry_text(const json_t *job, char *text, size_t size);

/* Prints a job that was queued: JSON, or its id; with `wait` when it has ended, and then what it made. Takes the reply. Returns
 * the exit status, or -1 with an error: a job that failed or was cancelled is refused, with one line that says why. */
int cli_tell_job(cli_server *server, cli_run *cli, cli_reply *job, const cli_where *where, bool wait, cm_error *error);

/* What a command does with the server that its line names: gives the exit status, or -1 with an error. */
typedef int (*cli_step)(cli_server *server, cli_run *cli, const void *given, cm_error *error);

/* Opens that server, takes the step and closes it; prints its error. Returns the exit status. */
int cli_on_server(const cli_where *where, cli_step take, const void *given);

/* Adds "KEY=VALUE" to the labels of what is to be made; false: it is not of that form. */
bool cli_label_add(json_t *body, const char *pair);

/* A request without a body; `known`: an ETag, or NULL. reply->json is the caller's. Errors as library_client_ask. */
cm_status cli_ask(cli_server *server, const char *method, const char *path, const char *known, cli_reply *reply, cm_error *error);

/* What an id is of may be any of several kinds: /v1/KIND/ID and what comes after is asked for. */
typedef struct cli_search {
  const char *method;
  const char *const *kinds; /* NULL ends them */
  const char *id, *after;
} cli_search;

/* Asks one kind after the other until one knows the id: *kind. CM_NOT_FOUND: none does. */
cm_status cli_ask_kinds(cli_server *server, const cli_search *search, const char **kind, cli_reply *reply, cm_error *error);

/* All files of a program, into a folder that is made if missing. */
cm_status cli_fetch_program(cli_server *server, cli_run *cli, const char *id, const char *folder, cm_error *error);

/* The body that the server has at a path, into a file, whole or not at all. */
cm_status cli_fetch_file(cli_server *server, cli_run *cli, const char *path, const char *to, cm_error *error);

/* True when the text can be an id: letters and digits. */
bool cli_is_id(const char *text);

/* The id of that name in what a server told, which goes into paths and names of files; "": none, or it is no id. */
const char *cli_id(const json_t *told, const char *name);
