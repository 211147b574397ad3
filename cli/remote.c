/* coremap wait, get, cancel: jobs of a server and what they made. */
#include "cli/remote.h"
#include "base/foreign.h"

#include <unistd.h>

typedef struct arguments {
  cli_line line;
  const char *output, *notify;
} arguments;

static const cli_flag job_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};
static const cli_flag wait_flags[] = {
  {"notify", "COMMAND", CLI_TEXT, "run by sh when the job has ended, with COREMAP_JOB, COREMAP_NAME, COREMAP_STATE, COREMAP_RESULT, COREMAP_DETAIL", CLI_AT(notify)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};
static const cli_flag get_flags[] = {
  {"output", "FILE", CLI_TEXT, "where it goes, whole or not at all; standard output unless given", CLI_AT(output)},
  CLI_SERVER_FLAGS, CLI_JSON_SAYS("what VIEW does not say otherwise is JSON, always"), {0}};

const char *cli_id(const json_t *told, const char *name)
{
  const char *id = cli_text(told, name);
  return cli_is_id(id) ? id : "";
}

cm_status cli_ask(cli_server *server, const char *method, const char *path, const char *known, cli_reply *reply, cm_error *error)
{
  *reply = (cli_reply){0};
  return library_client_ask(server, &(cli_request){.method = method, .path = path, .known = known}, reply, error);
}

cm_status cli_ask_kinds(cli_server *server, const cli_search *search, const char **kind, cli_reply *reply, cm_error *error)
{
  cm_status status = CM_NOT_FOUND;
  for (size_t k = 0; search->kinds[k] != NULL && status == CM_NOT_FOUND; k++) {
    *kind = search->kinds[k];
    status = cli_ask(server, search->method, cm_say("/v1/%s/%.200s%.60s", *kind, search->id, search->after).text, NULL, reply, error);
  }
  return status;
}

cm_status cli_get_mapping(const cli_line *line, cli_run *cli, const char *id, const char *view, FILE *stream, cm_error *error)
{
  cli_server *server = NULL;
  cli_reply job = {0}, reply = {0};
  char mapping[80];
  CM_TRY(cli_server_open(line, cli->run.cancel, &server, error));
  (void)snprintf(mapping, sizeof mapping, "%.64s", id);
  cm_status status = cli_ask(server, "GET", cm_say("/v1/jobs/%s", mapping).text, NULL, &job, error);
  if (status == CM_OK) {
    const char *made = json_string_value(json_object_get(job.json, "mapping"));
    if (made == NULL)
      status = cm_fail(error, CM_CONFLICT, "job %s has made no mapping (yet)", id);
    (void)snprintf(mapping, sizeof mapping, "%s", made != NULL ? made : "");
  } else if (status == CM_NOT_FOUND)
    status = CM_OK;
  json_decref(job.json);
  CM_THEN(status, library_client_ask(server, &(cli_request){.method = "GET", .path = cm_say("/v1/mappings/%s%.200s", mapping, view).text, .download = stream, .run = &cli->run}, &reply, error));
  json_decref(reply.json);
  coremap_client_free(server);
  return status;
}

/* ---- waiting ---- */

static bool has_ended(const json_t *job)
{
  const char *state = cli_text(job, "state");
  return strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

void cli_retry_text(const json_t *job, char *text, size_t size)
{
  enum { CLOCK_AT = 11, CLOCK = 8 }; /* of 2026-11-23T10:36:41.121Z */
  const json_t *retry = json_object_get(job, "retry");
  const char *from = cli_text(retry, "not_before");
  text[0] = '\0';
  if (strcmp(cli_text(job, "state"), "queued") == 0 && strlen(from) > CLOCK_AT + CLOCK)
    (void)snprintf(text, size, "attempt %.0f of %.0f at %.*s: %.120s", cli_number(retry, "count") + 1, cli_number(retry, "max") + 1,
                   CLOCK, from + CLOCK_AT, cli_text(json_object_get(retry, "problem"), "detail"));
}

/* A line when a job goes back to the queue. */
static void tell_retry(const cli_run *cli, const json_t *job, double *told)
{
  char text[200];
  double count = cli_number(json_object_get(job, "retry"), "count");
  cli_retry_text(job, text, sizeof text);
  if (!cli->quiet && text[0] != '\0' && count > *told) {
    fputs(cli->terminal ? "\r\033[K" : "", stderr);
    cli_printf(stderr, "%s\n", text);
  }
  *told = count;
}

/* The phase under way on the server as one of this run. */
static cm_status show_phase(cli_run *cli, const json_t *job, cm_error *error)
{
  const json_t *progress = json_object_get(job, "progress");
  char phase[CM_PHASE_NAME_MAX];
  (void)cm_foreign_copy(cli_text(progress, "phase"), CM_FOREIGN_LINE, phase, sizeof phase);
  if (strcmp(cli_text(job, "state"), "running") != 0 || phase[0] == '\0')
    return cm_run_check(&cli->run, error);
  if (strcmp(cli->phase, phase) != 0)
    cm_run_phase(&cli->run, phase);
  cli->remaining = cli_number(progress, "remaining_seconds");
  const json_t *level = json_object_get(progress, "level");
  return cm_run_progress(&cli->run, cli_number(progress, "fraction"), level != NULL ? (int)json_integer_value(level) : -1,
                         (uint64_t)json_integer_value(json_object_get(progress, "vertices")), 0, error);
}

cm_status cli_follow(cli_server *server, cli_run *cli, const char *known, json_t **job, cm_error *error)
{
  char id[80], etag[sizeof((cli_reply *)0)->etag];
  double told = 0;
  enum { PACE_MS = 100 };
  (void)snprintf(etag, sizeof etag, "%s", known);
  (void)snprintf(id, sizeof id, "%s", cli_text(*job, "id"));
  while (!has_ended(*job)) {
    cli_reply reply = {0};
    const double asked = cm_now();
    tell_retry(cli, *job, &told);
    if (show_phase(cli, *job, error) != CM_OK ||
        cli_ask(server, "GET", cm_say("/v1/jobs/%.64s?wait=30s", id).text, etag, &reply, error) != CM_OK) {
      if (error->status == CM_CANCELLED)
        cm_fail_more(error, "; job %s goes on: coremap wait %s, or coremap cancel %s", id, id, id);
      return error->status;
    }
    (void)snprintf(etag, sizeof etag, "%s", reply.etag);
    if (cm_now() - asked < (double)PACE_MS / 1000) /* a server that does not wait is not asked all the time */
      (void)usleep(PACE_MS * 1000);
    if (reply.status == 304) {
      json_decref(reply.json);
      continue;
    }
    json_decref(*job);
    *job = reply.json;
  }
  return CM_OK;
}

/* A job's id, or when it has ended what it made. */
void cli_print_job(const void *line, const json_t *job)
{
  const char *mapping = cli_text(job, "mapping"), *program = cli_text(job, "program");
  if (!((const cli_line *)line)->wait)
    cli_puts(cli_text(job, "id"));
  else if (strcmp(cli_text(job, "state"), "done") == 0)
    cli_printf(stdout, "%s %s\n", mapping[0] != '\0' ? "mapping" : "program", mapping[0] != '\0' ? mapping : program);
}

int cli_judge_job(const void *line, const json_t *job)
{
  const char *why = cli_text(json_object_get(job, "problem"), "detail"), *state = cli_text(job, "state");
  if (!((const cli_line *)line)->wait || strcmp(state, "done") == 0)
    return EXIT_DONE;
  cli_printf(stderr, "coremap: job %s %s%s%s\n", cli_text(job, "id"), strcmp(state, "failed") == 0 ? "failed" : "was cancelled", why[0] != '\0' ? ": " : "", why);
  return EXIT_REFUSED;
}

cm_status cli_job_made(const cli_line *line, cli_server *server, cli_run *cli, const cli_reply *reply, json_t **job, cm_error *error)
{
  *job = reply->json;
  return line->wait ? cli_follow(server, cli, reply->etag, job, error) : CM_OK;
}

cm_status cli_post_job(const cli_line *line, cli_server *server, cli_reply *reply, cm_error *error)
{
  return library_client_ask(server, &(cli_request){.method = "POST", .path = "/v1/jobs", .body = line->body}, reply, error);
}

static cm_status wait_for(void *line, coremap_client *server, cli_run *cli, json_t **job, cm_error *error)
{
  cli_reply reply = {0};
  CM_TRY(cli_ask(server, "GET", cm_say("/v1/jobs/%.64s", ((cli_line *)line)->words[0]).text, NULL, &reply, error));
  return cli_job_made(line, server, cli, &reply, job, error);
}

/* Runs a command that is told of the job; false: it could not be run, or failed. */
static bool notify(const char *command, const json_t *job)
{
  const char *made = cli_text(job, "mapping");
  const char *const told[][2] = {
    {"COREMAP_JOB", cli_text(job, "id")},
    {"COREMAP_NAME", cli_text(job, "name")},
    {"COREMAP_STATE", cli_text(job, "state")},
    {"COREMAP_RESULT", made[0] != '\0' ? made : cli_text(job, "program")},
    {"COREMAP_DETAIL", cli_text(json_object_get(job, "problem"), "detail")}};
  bool good = fflush(stdout) == 0;
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    good = setenv(told[i][0], told[i][1], 1) == 0 && good;
  return good && system(command) == 0;
}

static int judge_waited(const void *given, const json_t *job)
{
  const arguments *a = given;
  const int ended = cli_judge_job(given, job);
  if (a->notify == NULL || notify(a->notify, job))
    return ended;
  cli_printf(stderr, "coremap: job %s has ended, but the command of --notify failed\n", a->line.words[0]);
  return EXIT_REFUSED;
}

/* ---- getting ---- */

cm_status cli_find(cli_server *server, const cli_search *search, const char *words, bool made, cli_found *found, cm_error *error)
{
  cli_reply reply = {0};
  cli_found f = {0};
  cm_status status = cli_ask_kinds(server, search, &f.kind, &reply, error);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "the server has no %s %.64s", words, search->id);
  CM_TRY(status);
  f.about = reply.json;
  (void)snprintf(f.id, sizeof f.id, "%s", search->id);
  if (made && strcmp(f.kind, "jobs") == 0) {
    const char *mapping = cli_id(f.about, "mapping"), *program = cli_id(f.about, "program");
    if (mapping[0] == '\0' && program[0] == '\0')
      status = cm_fail(error, CM_CONFLICT, "job %s is %s and has made nothing (yet)", f.id, cli_text(f.about, "state"));
    f.kind = mapping[0] != '\0' ? "mappings" : "programs";
    (void)snprintf(f.id, sizeof f.id, "%s", mapping[0] != '\0' ? mapping : program);
  }
  CM_END(status, *found = f, json_decref(f.about));
}

static cm_status write_found(cli_server *server, const arguments *a, const cli_found *f, FILE *stream, cm_error *error)
{
  cli_reply reply = {0};
  if (a->line.words[1] == NULL)
    return cli_write_json(f->about, JSON_INDENT(1) | JSON_REAL_PRECISION(15), stream) == 0
               ? CM_OK
               : cm_fail(error, CM_DISK_FULL, "cannot write the description");
  return library_client_ask(server, &(cli_request){.method = "GET", .path = cm_say("/v1/%s/%s/%.300s", f->kind, f->id, a->line.words[1]).text, .download = stream}, &reply, error);
}

static cm_status get(void *given, coremap_client *server, CM_UNUSED cli_run *cli, CM_UNUSED json_t **unused, cm_error *error)
{
  arguments *a = given;
  const char *id = a->line.words[0], *view = a->line.words[1];
  static const char *const kinds[] = {"jobs", "mappings", "programs", NULL};
  cm_file file = {0};
  cli_found f;
  a->output = a->output != NULL && strcmp(a->output, "-") == 0 ? NULL : a->output;
  CM_TRY(cli_find(server, &(cli_search){"GET", kinds, id, ""}, "job, mapping or program", view != NULL && strcmp(view, "log") != 0, &f, error));
  FILE *shown = a->output == NULL && isatty(STDOUT_FILENO) == 1 ? tmpfile() : NULL; /* bytes for a terminal are text */
  cm_status status = a->output != NULL ? cm_file_create(&file, a->output, error) : CM_OK;
  CM_THEN(status, write_found(server, a, &f, a->output != NULL ? file.stream : shown != NULL ? shown : stdout, error));
  if (shown != NULL) {
    cli_print_file(shown, stdout);
    (void)fclose(shown);
  }
  if (status == CM_OK && a->output != NULL)
    status = cm_file_commit(&file, error);
  else if (status == CM_OK && fflush(stdout) != 0)
    status = cm_fail(error, CM_IO, "cannot write to standard output");
  cm_file_discard(&file);
  json_decref(f.about);
  return status;
}

/* ---- cancelling ---- */

static cm_status cancel(void *line, coremap_client *server, CM_UNUSED cli_run *cli, json_t **job, cm_error *error)
{
  cli_reply reply = {0};
  const cm_status status = cli_ask(server, "POST", cm_say("/v1/jobs/%.64s/cancel", ((cli_line *)line)->words[0]).text, NULL, &reply, error);
  *job = reply.json;
  return status;
}

static void print_cancelled(const void *line, const json_t *job)
{
  cli_printf(stdout, "job %s is %s%s\n", ((const cli_line *)line)->words[0], cli_text(job, "state"), has_ended(job) ? "" : " and will stop");
}

const cli_command cli_command_wait = {
  .name = "wait", .what = "wait until a server's job has ended", .ask = wait_for, .print = cli_print_job, .judge = judge_waited, .word = "id",
  .size = sizeof(arguments), .defaults = &(const arguments){.line.wait = true}, .server = true, .usage = "JOB [--notify COMMAND] [--json] [--quiet]",
  .about = "Waits until a job has ended and prints what it made, \"mapping ID\" or \"program ID\". Exit status 1 when it failed\n"
           "or was cancelled, or when the command of --notify failed, as in\n"
           "  coremap wait JOB --notify 'notify-send \"$COREMAP_NAME: $COREMAP_STATE\"'",
  .flags = wait_flags};

const cli_command cli_command_get = {
  .name = "get", .what = "get a job, mapping or program from a server", .ask = get, .word = "id", .least = 1, .most = 2, .size = sizeof(arguments), .server = true,
  .usage = "ID [VIEW] [-o FILE]",
  .about = "Gets a job, a mapping or a program: its description, or one of its views (docs/reference/http.md). The id of a job that is\n"
           "done stands for what it made. VIEW is of a mapping: content, part, placement, neurons, cores, links, routes,\n"
           "certificate; of a program: program, model, report, schedule, tiles, mapping; of a job: log; with ?format=csv for\n"
           "another format.",
  .flags = get_flags};

const cli_command cli_command_cancel = {
  .name = "cancel", .what = "cancel a server's job", .ask = cancel, .print = print_cancelled, .word = "id", .server = true, .usage = "JOB [--json]",
  .about = "Cancels a job that is queued or running, and prints its state.", .flags = job_flags};
