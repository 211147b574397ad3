/* coremap log: what a server's job has told. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/remote.h"

enum { FOLLOW = 1, PACE_MS = 100 };

static const cli_flag flags[] = {
  {"follow", NULL, FOLLOW, "go on until the job has ended"}, CLI_SERVER_FLAGS, {"json", NULL, CLI_JSON, "an object with one member, log"}, {0}};

typedef struct arguments {
  cli_where where;
  const char *id;
  bool follow;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_log, argc, argv)) != -1;)
    if (flag == FOLLOW)
      a->follow = true;
    else if (!cli_where_take(&a->where, flag))
      return cli_ended(flag);
  a->id = argv[optind];
  if (argc - optind != 1)
    return cli_usage("log", a->id == NULL ? "no id is named" : "only one can be named");
  return cli_is_id(a->id) ? -1 : cli_usage("log", "\"%s\" is no id", a->id);
}

/* The log as it is now, a text of the caller's. */
static cm_status read_log(cli_server *server, const char *id, char **text, cm_error *error)
{
  char path[120];
  size_t size;
  FILE *sink = open_memstream(text, &size);
  cli_reply reply = {0};
  (void)snprintf(path, sizeof path, "/v1/jobs/%.64s/log", id);
  CM_TRY(cm_whole(sink != NULL, "the log", error));
  const cli_request request = {.method = "GET", .path = path, .download = sink, .in_memory = true};
  cm_status status = library_client_ask(server, &request, &reply, error);
  if (fclose(sink) != 0 && status == CM_OK)
    status = cm_whole(false, "the log", error);
  if (status != CM_OK)
    free(*text);
  return status;
}

static int log_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  char path[120], etag[sizeof((cli_reply *)0)->etag] = "", *text;
  size_t shown = 0;
  (void)cli;
  for (bool ended = !a->follow;;) {
    cli_reply job = {0};
    const double asked = cm_now();
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s%s", a->id, etag[0] != '\0' ? "?wait=10s" : "");
    if (a->follow && cli_ask(server, "GET", path, etag, &job, error) != CM_OK)
      return -1;
    if (job.json != NULL) {
      const char *state = cli_text(job.json, "state");
      ended = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
      (void)snprintf(etag, sizeof etag, "%s", job.etag);
      json_decref(job.json);
    }
    if (read_log(server, a->id, &text, error) != CM_OK)
      return -1;
    if (a->where.json) {
      json_t *told = json_pack("{s:s}", "log", text);
      if (ended)
        cli_print_json(told);
      json_decref(told);
    } else if (strlen(text) > shown) {
      cli_printf(stdout, "%s", text + shown);
      shown = strlen(text);
      (void)fflush(stdout);
    }
    free(text);
    if (!ended && cm_now() - asked < (double)PACE_MS / 1000) /* a server that does not wait is not asked all the time */
      (void)usleep(PACE_MS * 1000);
    if (ended)
      return EXIT_DONE;
  }
}

static int log_command(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(argc, argv, &a);
  return status < 0 ? cli_on_server(&a.where, log_step, &a) : status;
}

const cli_command cli_command_log = {
  .name = "log", .what = "print the log of a server's job", .run = log_command, .server = true, .usage = "JOB [--follow] [--json]",
  .about = "Prints what a job has told so far.", .flags = flags};
