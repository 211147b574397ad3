/* Between the commands that talk to a server. */
#pragma once

#include "cli/http.h"

/* Waits until a job has ended, and shows its phases; *job (the caller's reference), which came with the ETag `known`, is
 * replaced by its last state. */
cm_status cli_follow(cli_server *server, cli_run *cli, const char *known, json_t **job, cm_error *error);

/* Says in `text` which attempt of a job comes when, and why, where it waits for one after a passing fault; else "". */
void cli_retry_text(const json_t *job, char *text, size_t size);

/* What commands that make a job report of it. A reply to its request becomes *job, the caller's: as it was queued, or with line->wait when it has
 * ended. It is printed as its id, or what it made; a job that failed or was cancelled is refused, with a line that says why. */
cm_status cli_job_made(const cli_line *line, cli_server *server, cli_run *cli, const cli_reply *reply, json_t **job, cm_error *error);
void cli_print_job(const void *line, const json_t *job);
int cli_judge_job(const void *line, const json_t *job);

/* Posts line->body as a job. */
cm_status cli_post_job(const cli_line *line, cli_server *server, cli_reply *reply, cm_error *error);

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

/* What an id stands for, which the caller releases (about); of a job what it has `made`, where that is wanted. CM_NOT_FOUND: it is of no
 * "job, mapping or program"; CM_CONFLICT: nothing is made (yet). */
typedef struct cli_found {
  const char *kind; /* "jobs", "mappings", ... */
  char id[80];
  json_t *about;
} cli_found;
cm_status cli_find(cli_server *server, const cli_search *search, const char *words, bool made, cli_found *found, cm_error *error);

/* Gets a view ("/export?to=noxim") of a server's mapping, by its id or that of the job that made it. */
cm_status cli_get_mapping(const cli_line *line, cli_run *cli, const char *id, const char *view, FILE *stream, cm_error *error);

/* All files of a program, into a folder that is made if missing. */
cm_status cli_fetch_program(cli_server *server, cli_run *cli, const char *id, const char *folder, cm_error *error);

/* The body that the server has at a path, into a file, whole or not at all. */
cm_status cli_fetch_file(cli_server *server, cli_run *cli, const char *path, const char *to, cm_error *error);

/* True when the text can be an id: letters and digits. */
bool cli_is_id(const char *text);

/* The id of that name in what a server told, which goes into paths and names of files; "": none, or it is no id. */
const char *cli_id(const json_t *told, const char *name);
