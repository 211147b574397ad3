/* coremap jobs, networks, mappings, programs, chips, top: what a server has. */
#include <ctype.h>
#include <time.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/table.h"

enum { LIMIT = 1, SINCE, LABEL, COLUMNS, ARGUMENT };
enum { PAGE_MAX = 1000, LIMIT_NORMAL = 50, TOP_SECONDS = 2, TOP_ROWS = 30, ARGUMENTS_MAX = 16, COLUMNS_MAX = 12, PATH_SIZE = 6000, LABELS_SIZE = 2000 };

typedef struct arguments {
  cli_line line;
  struct {
    const char *name, *value;
  } given[ARGUMENTS_MAX]; /* arguments of the query */
  size_t count;
  char labels[LABELS_SIZE], since[24], column[COLUMNS_MAX][40];
  size_t columns;
  uint32_t limit;
  bool once;
} arguments;
static const arguments fifty = {.limit = LIMIT_NORMAL}, page = {.limit = PAGE_MAX};

#define STATE_FLAG {"state", "queued|running|done|failed|cancelled", ARGUMENT, "only these"}
#define USER_FLAG {"user", "NAME", ARGUMENT, "only those of this user"}
#define NETWORK_FLAG {"network", "ID", ARGUMENT, "only those of this network"}
#define CHIP_FLAG {"chip", "NAME", ARGUMENT, "only those for this chip"}
#define NAME_FLAG {"name", "TEXT", ARGUMENT, "only those with TEXT in their name"}
#define LIST_FLAGS \
  {"label", "KEY=VALUE", LABEL, "only those with this label, or with KEY alone, any of it; give it again for more"}, \
  {"since", "TIME", SINCE, "only those of the last 30m, 12h, 3d or 2w, or from 2026-11-29 on (UTC)"}, \
  {"sort", "MEMBER", ARGUMENT, "by a member such as step_ns, the smallest first; with a - before it, the largest"}, \
  {"columns", "MEMBER,...", COLUMNS, "which members are shown (docs/reference/http.md)"}, \
  {"limit", "N", LIMIT, "at most N, the newest; 50 unless given"}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}

static const cli_flag job_flags[] = {
  STATE_FLAG, USER_FLAG, NETWORK_FLAG, CHIP_FLAG, NAME_FLAG, {"kind", "map|compile|simulate|sweep", ARGUMENT, "only these"},
  {"sweep", "ID", ARGUMENT, "only the points of this sweep"}, LIST_FLAGS};
static const cli_flag mapping_flags[] = {
  USER_FLAG, NETWORK_FLAG, CHIP_FLAG, NAME_FLAG, {"sweep", "ID", ARGUMENT, "only those that this sweep made or found"}, LIST_FLAGS};
static const cli_flag network_flags[] = {USER_FLAG, NAME_FLAG, LIST_FLAGS};
static const cli_flag chip_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag top_flags[] = {
  {"once", NULL, CLI_ON, "print it once; so it is where standard output is no terminal", CLI_AT(once)}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

static bool give(arguments *a, const char *name, const char *value)
{
  if (a->count == ARGUMENTS_MAX)
    return false;
  a->given[a->count].name = name;
  a->given[a->count++].value = value;
  return true;
}

/* "3d" or "2026-11-29" as seconds since 1970; false: it is neither. */
static bool read_since(const char *text, char since[24])
{
  static const struct {
    char letter;
    long seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
  char *end;
  struct tm day = {0};
  const long number = strtol(text, &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (end > text && number >= 0 && number < 100000 && end[0] == units[i].letter && end[1] == '\0') {
      (void)snprintf(since, 24, "%lld", (long long)time(NULL) - (long long)number * units[i].seconds);
      return true;
    }
  const char *rest = strptime(text, "%Y-%m-%d", &day);
  if (rest == NULL || *rest != '\0')
    return false;
  (void)snprintf(since, 24, "%lld", (long long)timegm(&day));
  return true;
}

static bool add_label(arguments *a, const char *label)
{
  const size_t used = strlen(a->labels);
  return strchr(label, ',') == NULL &&
         (size_t)snprintf(a->labels + used, sizeof a->labels - used, "%s%s", used > 0 ? "," : "", label) < sizeof a->labels - used;
}

static bool read_columns(arguments *a, const char *words)
{
  for (a->columns = 0; a->columns < COLUMNS_MAX; words++) {
    const size_t length = strcspn(words, ",");
    if (length == 0 || length >= sizeof *a->column)
      return false;
    (void)snprintf(a->column[a->columns++], sizeof *a->column, "%.*s", (int)length, words);
    words += length;
    if (*words == '\0')
      return true;
  }
  return false;
}

static int take(void *given, int code)
{
  arguments *a = given;
  const char *command = a->line.command->name;
  switch (code) {
  case ARGUMENT: return give(a, cli_taken(), optarg) ? -1 : cli_usage(command, "there are too many conditions");
  case LABEL: return (a->labels[0] != '\0' || give(a, "label", a->labels)) && add_label(a, optarg) ? -1 : cli_usage(command, "--label is KEY=VALUE or KEY, not \"%s\"", optarg);
  case SINCE: return (a->since[0] != '\0' || give(a, "since", a->since)) && read_since(optarg, a->since) ? -1 : cli_usage(command, "--since is a time such as 12h, 3d or 2026-11-29, not \"%s\"", optarg);
  case COLUMNS: return read_columns(a, optarg) ? -1 : cli_usage(command, "--columns has up to %d members between commas, not \"%s\"", COLUMNS_MAX, optarg);
  default: return cli_whole32(optarg, 1, UINT32_MAX, &a->limit) ? -1 : cli_usage(command, "--limit is at least 1, not \"%s\"", optarg);
  }
}

static bool add_argument(cli_server *server, char path[PATH_SIZE], const char *name, const char *value)
{
  if (value == NULL)
    return true;
  char *segment = library_client_segment(server, value);
  size_t used = strlen(path);
  bool fits = segment != NULL &&
              snprintf(path + used, PATH_SIZE - used, "%c%s=%s", strchr(path, '?') == NULL ? '?' : '&', name, segment) < (int)(PATH_SIZE - used);
  free(segment);
  return fits;
}

/* The path of a page: of so many, after a cursor unless it is "". */
static cm_status make_path(cli_server *server, const arguments *a, const char *kind, size_t most, const char *cursor, char path[PATH_SIZE], cm_error *error)
{
  char limit[16];
  (void)snprintf(path, PATH_SIZE, "/v1/%s", kind);
  (void)snprintf(limit, sizeof limit, "%zu", most);
  bool fits = strcmp(kind, "chips") == 0 || add_argument(server, path, "limit", limit);
  for (size_t i = 0; i < a->count && fits; i++)
    fits = add_argument(server, path, a->given[i].name, a->given[i].value);
  fits = fits && add_argument(server, path, "cursor", cursor[0] != '\0' ? cursor : NULL);
  return fits ? CM_OK : cm_fail(error, CM_BAD_REQUEST, "the values of the flags are too long: together they have room for %d bytes", PATH_SIZE);
}

/* The newest of a listed resource, page after page, at most a->limit; the caller decrefs. */
static cm_status fetch(cli_server *server, const arguments *a, const char *kind, json_t **list, cm_error *error)
{
  char cursor[400] = "";
  *list = json_array();
  for (bool more = true; more && json_array_size(*list) < a->limit;) {
    char path[PATH_SIZE];
    const size_t left = a->limit - json_array_size(*list);
    cli_reply reply = {0};
    CM_TRY(make_path(server, a, kind, left < PAGE_MAX ? left : PAGE_MAX, cursor, path, error));
    CM_TRY(cli_ask(server, "GET", path, NULL, &reply, error));
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

/* ---- the lists ---- */

/* A list of things by the member of the reply that has them, and its columns. */
typedef struct listing {
  const char *kind;
  const cli_column columns[COLUMNS_MAX];
} listing;

static const listing listings[] = {
  {"jobs", {{"ID", "id", 0}, {"STATE", "state", 0}, {"KIND", "kind", 0}, {"NAME", "name", 30}, {"CHIP", "chip", 20}, {"USER", "user", 16},
            {"CREATED", "created", 19}, {"STATUS", "status", 60}}},
  {"mappings", {{"ID", "id", 0}, {"JOB", "job", 0}, {"NAME", "name", 30}, {"CHIP", "chip", 20}, {"USER", "user", 16}, {"PINNED", "pinned", 0},
                {"CREATED", "created", 19}, {"NETWORK", "network", 12}}},
  {"programs", {{"ID", "id", 0}, {"JOB", "job", 0}, {"NAME", "name", 30}, {"CHIP", "chip", 20}, {"USER", "user", 16}, {"PINNED", "pinned", 0},
                {"CREATED", "created", 19}, {"MODEL", "network", 12}}},
  {"networks", {{"FORMAT", "format", 0}, {"NAME", "name", 40}, {"NEURONS", "neurons", 0}, {"SYNAPSES", "synapses", 0}, {"OPERATORS", "operators", 0},
                {"BYTES", "bytes", 0}, {"USER", "user", 16}, {"CREATED", "created", 19}, {"ID", "id", 0}}},
  {"chips", {{"NAME", "name", 0}, {"WIDTH", "width", 0}, {"HEIGHT", "height", 0}, {"CORES", "cores", 0}, {"PRESET", "preset", 0},
             {"PROGRAMS", "runs_programs", 0}, {"DESCRIPTION", "description", 50}}},
};

/* The members that are asked for, or the list's own columns. */
static void print_columns(const arguments *a, const json_t *list, const listing *what, const char *empty)
{
  cli_column columns[COLUMNS_MAX];
  char titles[COLUMNS_MAX][sizeof *a->column];
  size_t count = a->columns;
  for (size_t i = 0; i < a->columns; i++) {
    size_t used = 0;
    for (; a->column[i][used] != '\0'; used++)
      titles[i][used] = (char)toupper((unsigned char)a->column[i][used]);
    titles[i][used] = '\0';
    columns[i] = (cli_column){titles[i], a->column[i], 0};
  }
  while (a->columns == 0 && count < COLUMNS_MAX && what->columns[count].title != NULL)
    count++;
  cli_print_table(list, a->columns > 0 ? columns : what->columns, count, empty);
}

/* A command is called as what it lists. */
static cm_status list(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  const char *kind = a->line.command->name;
  json_t *rows = NULL;
  const cm_status status = fetch(server, a, kind, &rows, error);
  *report = json_pack("{s:o}", kind, rows);
  return status;
}

static void print_list(const void *given, const json_t *report)
{
  const arguments *a = given;
  const char *kind = a->line.command->name;
  json_t *rows = json_object_get(report, kind);
  char empty[40];
  (void)snprintf(empty, sizeof empty, "there are no %s", kind);
  if (strcmp(kind, "jobs") == 0)
    add_status(rows);
  for (size_t i = 0; i < sizeof listings / sizeof *listings; i++)
    if (strcmp(listings[i].kind, kind) == 0)
      print_columns(a, rows, &listings[i], empty);
}

/* ---- top ---- */

static cm_status look(cli_server *server, arguments *a, bool clear, cm_error *error)
{
  json_t *running = NULL, *queued = NULL;
  a->count = 0;
  (void)give(a, "state", "running");
  cm_status status = fetch(server, a, "jobs", &running, error);
  a->given[0].value = "queued";
  CM_THEN(status, fetch(server, a, "jobs", &queued, error));
  if (status == CM_OK && a->line.json) {
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
    print_columns(a, running, &listings[0], "no job is running or queued");
    (void)fflush(stdout);
  }
  json_decref(running);
  json_decref(queued);
  return status;
}

static cm_status top(void *given, coremap_client *server, cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  arguments *a = given;
  const bool stays = isatty(STDOUT_FILENO) == 1 && !a->once && !a->line.json;
  cm_status status = look(server, a, stays, error);
  while (stays && status == CM_OK) {
    (void)sleep(TOP_SECONDS); /* a signal ends it early */
    status = cm_run_check(&cli->run, error);
    CM_THEN(status, look(server, a, stays, error));
  }
  return stays && status == CM_CANCELLED ? CM_OK : status;
}

#define LIST .ask = list, .take = take, .print = print_list, .size = sizeof(arguments), .defaults = &fifty
const cli_command cli_command_jobs = {
  .name = "jobs", .what = "list a server's jobs", LIST, .server = true,
  .usage = "[--state S] [--chip NAME] [--name TEXT] [--label KEY=VALUE] [--since TIME] [--columns MEMBER,...] [--json]",
  .about = "Lists jobs, the newest first, with their phase or their place in the queue, what they made or why they failed.", .flags = job_flags};
const cli_command cli_command_mappings = {
  .name = "mappings", .what = "list a server's mappings", LIST, .server = true,
  .usage = "[--chip NAME] [--name TEXT] [--label KEY=VALUE] [--sort MEMBER] [--columns MEMBER,...] [--json]",
  .about = "Lists mappings, the newest first, with the jobs that made them where those are still there.", .flags = mapping_flags};
const cli_command cli_command_programs = {
  .name = "programs", .what = "list a server's programs", LIST, .server = true,
  .usage = "[--chip NAME] [--name TEXT] [--label KEY=VALUE] [--sort MEMBER] [--columns MEMBER,...] [--json]",
  .about = "Lists programs, the newest first, with the jobs that made them where those are still there.", .flags = mapping_flags};
const cli_command cli_command_networks = {
  .name = "networks", .what = "list a server's networks and models", LIST, .server = true,
  .usage = "[--name TEXT] [--label KEY=VALUE] [--limit N] [--json]", .about = "Lists networks and models, the newest first.", .flags = network_flags};
const cli_command cli_command_chips = {
  .name = "chips", .what = "list a server's chips", LIST, .server = true, .usage = "[--json]",
  .about = "Lists the chips that a job can be for. `coremap show chips` lists those of this command.", .flags = chip_flags};
const cli_command cli_command_top = {
  .name = "top", .what = "watch what a server works on", .ask = top, .take = take, .size = sizeof(arguments), .defaults = &page, .server = true, .usage = "[--once] [--json]",
  .about = "Shows running and queued jobs, anew every two seconds on a terminal until it is interrupted.", .flags = top_flags};
