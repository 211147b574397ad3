/* coremap log: what a server's job has told. */
#include <unistd.h>

#include "cli/remote.h"

enum { PACE_MS = 100 };

typedef struct arguments {
  cli_line line;
  bool follow;
} arguments;

static const cli_flag flags[] = {
  {"follow", NULL, CLI_ON, "go on until the job has ended", CLI_AT(follow)}, CLI_SERVER_FLAGS, CLI_JSON_SAYS("an object with one member, log"), {0}};

/* The log as it is now, a text of the caller's. */
static cm_status read_log(cli_server *server, const char *id, char **text, cm_error *error)
{
  size_t size;
  FILE *sink = open_memstream(text, &size);
  cli_reply reply = {0};
  CM_TRY(cm_whole(sink != NULL, "the log", error));
  cm_status status = library_client_ask(server, &(cli_request){.method = "GET", .path = cm_say("/v1/jobs/%.64s/log", id).text, .download = sink, .in_memory = true}, &reply, error);
  if (fclose(sink) != 0 && status == CM_OK)
    status = cm_whole(false, "the log", error);
  if (status != CM_OK)
    free(*text);
  return status;
}

static cm_status log_step(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  const char *id = a->line.words[0];
  char etag[sizeof((cli_reply *)0)->etag] = "", *text;
  size_t shown = 0;
  for (bool ended = !a->follow;;) {
    cli_reply job = {0};
    const double asked = cm_now();
    CM_TRY_IF(a->follow, cli_ask(server, "GET", cm_say("/v1/jobs/%.64s%s", id, etag[0] != '\0' ? "?wait=10s" : "").text, etag, &job, error));
    if (job.json != NULL) {
      const char *state = cli_text(job.json, "state");
      ended = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
      (void)snprintf(etag, sizeof etag, "%s", job.etag);
      json_decref(job.json);
    }
    CM_TRY(read_log(server, id, &text, error));
    if (a->line.json)
      *report = ended ? json_pack("{s:s}", "log", text) : NULL;
    else if (strlen(text) > shown) {
      cli_printf(stdout, "%s", text + shown);
      shown = strlen(text);
      (void)fflush(stdout);
    }
    free(text);
    if (!ended && cm_now() - asked < (double)PACE_MS / 1000) /* a server that does not wait is not asked all the time */
      (void)usleep(PACE_MS * 1000);
    if (ended)
      return CM_OK;
  }
}

const cli_command cli_command_log = {
  .name = "log", .what = "print the log of a server's job", .ask = log_step, .word = "id", .size = sizeof(arguments), .server = true, .usage = "JOB [--follow] [--json]",
  .about = "Prints what a job has told so far.", .flags = flags};
