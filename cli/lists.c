/* coremap jobs, networks, mappings, programs, chips, top: what a server has. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/print.h"
#include "cli/table.h"

enum { STATE = 1, USER, NETWORK, CHIP, LIMIT, ONCE };
enum { PAGE_MAX = 1000, LIMIT_NORMAL = 50, TOP_SECONDS = 2, TOP_ROWS = 30 };

#define LIMIT_FLAG {"limit", "N", LIMIT, "at most N, the newest; 50 unless given"}

static const cli_flag job_flags[] = {
  {"state", "queued|running|done|failed|cancelled", STATE, "only these"},
  {"user", "NAME", USER, "only those of this user"},
  {"network", "ID", NETWORK, "only those on this network"},
  LIMIT_FLAG, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag mapping_flags[] = {
  {"user", "NAME", USER, "only those of this user"},
  {"network", "ID", NETWORK, "only those of this network"},
  {"chip", "NAME", CHIP, "only those for this chip"},
  LIMIT_FLAG, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag network_flags[] = {LIMIT_FLAG, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag chip_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag top_flags[] = {
  {"once", NULL, ONCE, "print it once; so it is where standard output is no terminal"}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  const char *state, *user, *network, *chip;
  uint32_t limit;
  bool once;
} arguments;

/* Negative: go on. */
static int parse(const cli_command *command, int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    switch (flag) {
    case STATE: a->state = optarg; break;
    case USER: a->user = optarg; break;
    case NETWORK: a->network = optarg; break;
    case CHIP: a->chip = optarg; break;
    case ONCE: a->once = true; break;
    case LIMIT:
      if (!cli_whole32(optarg, 1, UINT32_MAX, &a->limit))
        return cli_usage(command->name, "--limit is at least 1, not \"%s\"", optarg);
      break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  return optind < argc ? cli_usage(command->name, "\"%s\" is one word too many", argv[optind]) : -1;
}

static bool add_argument(cli_server *server, char *path, size_t size, const char *name, const char *value)
{
  if (value == NULL)
    return true;
  char *segment = library_client_segment(server, value);
  size_t used = strlen(path);
  bool fits = segment != NULL &&
              snprintf(path + used, size - used, "%c%s=%s", strchr(path, '?') == NULL ? '?' : '&', name, segment) < (int)(size - used);
  free(segment);
  return fits;
}

/* The newest of a listed resource, page after page, at most a->limit; the caller decrefs. */
static cm_status fetch(cli_server *server, const arguments *a, const char *kind, const char *state, json_t **list, cm_error *error)
{
  char cursor[40] = "";
  *list = json_array();
  for (bool more = true; more && json_array_size(*list) < a->limit;) {
    char path[800], limit[16];
    size_t left = a->limit - json_array_size(*list);
    cli_reply reply = {0};
    (void)snprintf(path, sizeof path, "/v1/%s", kind);
    (void)snprintf(limit, sizeof limit, "%zu", left < PAGE_MAX ? left : (size_t)PAGE_MAX);
    bool paged = strcmp(kind, "chips") != 0;
    const cli_request request = {.method = "GET", .path = path};
    if (!add_argument(server, path, sizeof path, "state", state) || !add_argument(server, path, sizeof path, "user", a->user) ||
        !add_argument(server, path, sizeof path, "network", a->network) || !add_argument(server, path, sizeof path, "chip", a->chip) ||
        !add_argument(server, path, sizeof path, "limit", paged ? limit : NULL) ||
        !add_argument(server, path, sizeof path, "cursor", cursor[0] != '\0' ? cursor : NULL))
      return cm_fail(error, CM_BAD_REQUEST, "the values of --state, --user, --network, --chip and --limit are too long: together they have room for %zu bytes", sizeof path);
    if (library_client_ask(server, &request, &reply, error) != CM_OK)
      return error->status;
    const char *next = json_string_value(json_object_get(reply.json, "next"));
    (void)json_array_extend(*list, json_object_get(reply.json, kind));
    (void)snprintf(cursor, sizeof cursor, "%s", next != NULL ? next : "");
    more = next != NULL;
    const bool stays = more && json_array_size(json_object_get(reply.json, kind)) == 0;
    json_decref(reply.json);
    if (stays)
      return cm_fail(error, CM_IO, "%s lists %s without an end: a page has none, and names a next one", library_client_url(server), kind);
  }
  return CM_OK;
}

/* Adds to each job what it says beside its state: phase, position, its next attempt, what it made, why it failed. */
static void add_status(json_t *jobs)
{
  size_t i;
  json_t *job;
  json_array_foreach(jobs, i, job)
  {
    char text[200] = "";
    const json_t *progress = json_object_get(job, "progress"), *position = json_object_get(job, "position");
    const char *phase = json_string_value(json_object_get(progress, "phase")),
               *made = json_string_value(json_object_get(job, "mapping")),
               *state = json_string_value(json_object_get(job, "state")),
               *why = json_string_value(json_object_get(json_object_get(job, "problem"), "detail"));
    if (made == NULL)
      made = json_string_value(json_object_get(job, "program"));
    cli_retry_text(job, text, sizeof text);
    if (text[0] != '\0') {
      (void)json_object_set_new(job, "status", json_string(text));
      continue;
    }
    if (state != NULL && strcmp(state, "running") == 0 && phase != NULL)
      (void)snprintf(text, sizeof text, "%s %.0f %%", phase, 100 * cli_number(progress, "fraction"));
    else if (position != NULL)
      (void)snprintf(text, sizeof text, "position %.0f", json_number_value(position));
    else
      (void)snprintf(text, sizeof text, "%.120s", made != NULL ? made : why != NULL ? why : "");
    (void)json_object_set_new(job, "status", json_string(text));
  }
}

static const cli_column job_columns[] = {{"ID", "id", 0}, {"STATE", "state", 0}, {"KIND", "kind", 0}, {"NAME", "name", 30},
                                         {"CHIP", "chip", 20}, {"USER", "user", 16}, {"CREATED", "created", 19}, {"STATUS", "status", 60}};
enum { JOB_COLUMNS = sizeof job_columns / sizeof *job_columns };

/* ---- the lists ---- */

typedef struct listing {
  const cli_command *command;
  const char *kind; /* member of the reply */
  const cli_column *columns;
  size_t count;
  const char *empty;
} listing;

/* Opens the server that is named and fetches; the caller closes and decrefs. */
static cm_status open_and_fetch(const arguments *a, cli_run *cli, const char *kind, cli_server **server, json_t **list, cm_error *error)
{
  cm_status status = cli_server_open(&a->where, cli->run.cancel, server, error);
  return status == CM_OK ? fetch(*server, a, kind, a->state, list, error) : status;
}

static int list_command(const listing *what, int argc, char **argv)
{
  arguments a = {.limit = LIMIT_NORMAL};
  int parsed = parse(what->command, argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  json_t *list = NULL;
  cli_run_begin(&cli, true);
  cm_status status = open_and_fetch(&a, &cli, what->kind, &server, &list, &error);
  cli_run_end(&cli);
  coremap_client_free(server);
  if (status == CM_OK) {
    if (a.where.json) {
      json_t *told = json_pack("{s:O}", what->kind, list);
      cli_print_json(told);
      json_decref(told);
    } else {
      if (strcmp(what->kind, "jobs") == 0)
        add_status(list);
      cli_print_table(list, what->columns, what->count, what->empty);
    }
  }
  json_decref(list);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int jobs(int argc, char **argv)
{
  static const listing what = {&cli_command_jobs, "jobs", job_columns, JOB_COLUMNS, "there are no jobs"};
  return list_command(&what, argc, argv);
}

static int mappings(int argc, char **argv)
{
  static const cli_column columns[] = {{"ID", "id", 0}, {"JOB", "job", 0}, {"NAME", "name", 30}, {"CHIP", "chip", 20},
                                       {"USER", "user", 16}, {"PINNED", "pinned", 0}, {"CREATED", "created", 19}, {"NETWORK", "network", 12}};
  static const listing what = {&cli_command_mappings, "mappings", columns, sizeof columns / sizeof *columns, "there are no mappings"};
  return list_command(&what, argc, argv);
}

static int programs(int argc, char **argv)
{
  static const cli_column columns[] = {{"ID", "id", 0}, {"JOB", "job", 0}, {"NAME", "name", 30}, {"CHIP", "chip", 20},
                                       {"USER", "user", 16}, {"PINNED", "pinned", 0}, {"CREATED", "created", 19}, {"MODEL", "network", 12}};
  static const listing what = {&cli_command_programs, "programs", columns, sizeof columns / sizeof *columns, "there are no programs"};
  return list_command(&what, argc, argv);
}

static int networks(int argc, char **argv)
{
  static const cli_column columns[] = {{"FORMAT", "format", 0}, {"NAME", "name", 40}, {"NEURONS", "neurons", 0},
                                       {"SYNAPSES", "synapses", 0}, {"OPERATORS", "operators", 0}, {"BYTES", "bytes", 0},
                                       {"USER", "user", 16}, {"CREATED", "created", 19}, {"ID", "id", 0}};
  static const listing what = {&cli_command_networks, "networks", columns, sizeof columns / sizeof *columns, "there are no networks"};
  return list_command(&what, argc, argv);
}

static int chips(int argc, char **argv)
{
  static const cli_column columns[] = {{"NAME", "name", 0}, {"WIDTH", "width", 0}, {"HEIGHT", "height", 0}, {"CORES", "cores", 0},
                                       {"PRESET", "preset", 0}, {"PROGRAMS", "runs_programs", 0}, {"DESCRIPTION", "description", 50}};
  static const listing what = {&cli_command_chips, "chips", columns, sizeof columns / sizeof *columns, "there are no chips"};
  return list_command(&what, argc, argv);
}

/* ---- top ---- */

static cm_status look(cli_server *server, arguments *a, bool clear, cm_error *error)
{
  json_t *running = NULL, *queued = NULL;
  cm_status status = fetch(server, a, "jobs", "running", &running, error);
  if (status == CM_OK)
    status = fetch(server, a, "jobs", "queued", &queued, error);
  if (status == CM_OK && a->where.json) {
    json_t *told = json_pack("{s:O, s:O}", "running", running, "queued", queued);
    cli_print_json(told);
    json_decref(told);
  } else if (status == CM_OK) {
    if (clear)
      fputs("\033[H\033[2J", stdout);
    fputs(cli_paint(stdout, CLI_BOLD), stdout);
    cli_printf(stdout, "%s", library_client_url(server));
    fputs(cli_paint(stdout, CLI_PLAIN), stdout);
    cli_printf(stdout, ": %zu running, %zu%s queued\n\n", json_array_size(running), json_array_size(queued), json_array_size(queued) == a->limit ? " or more" : "");
    (void)json_array_extend(running, queued);
    while (clear && json_array_size(running) > TOP_ROWS)
      (void)json_array_remove(running, json_array_size(running) - 1);
    add_status(running);
    cli_print_table(running, job_columns, JOB_COLUMNS, "no job is running or queued");
    (void)fflush(stdout);
  }
  json_decref(running);
  json_decref(queued);
  return status;
}

static int top(int argc, char **argv)
{
  arguments a = {.limit = PAGE_MAX};
  int parsed = parse(&cli_command_top, argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  bool stays = isatty(STDOUT_FILENO) == 1 && !a.once && !a.where.json;
  cli_run_begin(&cli, true);
  cm_status status = cli_server_open(&a.where, cli.run.cancel, &server, &error);
  while (status == CM_OK) {
    status = look(server, &a, stays, &error);
    if (!stays)
      break;
    if (status == CM_OK)
      (void)sleep(TOP_SECONDS); /* a signal ends it early */
    if (status == CM_OK)
      status = cm_run_check(&cli.run, &error);
  }
  cli_run_end(&cli);
  coremap_client_free(server);
  return status == CM_OK || (stays && error.status == CM_CANCELLED) ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_jobs = {
  .name = "jobs", .what = "list a server's jobs", .run = jobs, .server = true,
  .usage = "[--state S] [--user NAME] [--network ID] [--limit N] [--json]",
  .about = "Lists jobs, the newest first, with their phase or their place in the queue, what they made or why they failed.", .flags = job_flags};
const cli_command cli_command_mappings = {
  .name = "mappings", .what = "list a server's mappings", .run = mappings, .server = true,
  .usage = "[--user NAME] [--network ID] [--chip NAME] [--limit N] [--json]",
  .about = "Lists mappings, the newest first, with the jobs that made them where those are still there.", .flags = mapping_flags};
const cli_command cli_command_programs = {
  .name = "programs", .what = "list a server's programs", .run = programs, .server = true,
  .usage = "[--user NAME] [--network ID] [--chip NAME] [--limit N] [--json]",
  .about = "Lists programs, the newest first, with the jobs that made them where those are still there.", .flags = mapping_flags};
const cli_command cli_command_networks = {
  .name = "networks", .what = "list a server's networks and models", .run = networks, .server = true,
  .usage = "[--limit N] [--json]", .about = "Lists networks and models, the newest first.", .flags = network_flags};
const cli_command cli_command_chips = {
  .name = "chips", .what = "list a server's chips", .run = chips, .server = true, .usage = "[--json]",
  .about = "Lists the chips that a job can be for. `coremap show chips` lists those of this command.", .flags = chip_flags};
const cli_command cli_command_top = {
  .name = "top", .what = "watch what a server works on", .run = top, .server = true, .usage = "[--once] [--json]",
  .about = "Shows running and queued jobs, anew every two seconds on a terminal until it is interrupted.", .flags = top_flags};
