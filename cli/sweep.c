/* coremap sweep: many jobs of one request, and what they make compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/upload.h"

enum { CHIP = 1, AXIS, KEEP, BY, JOBS, CPU_SECONDS, IDLE, GAP, FORMAT, NAME, PRIORITY, CLUSTER, VISIBILITY, NO_WAIT, LABEL };
enum { SWEEP_ID = 20, COLUMNS_MAX = 12, ROWS_SHOWN = 20 };

static const cli_flag flags[] = {
  {"chip", "NAME", CHIP, "a chip of the server; give it again for more"},
  {"axis", "NAME=VALUES", AXIS, "a job option (docs/reference/options.md) and its values: seed=1..20, objective=time,energy; give it again for more"},
  {"keep", "best|pareto|all", KEEP, "which mappings stay; all unless given"},
  {"by", "METRIC[,METRIC]", BY, "what is compared; energy_pj unless given"},
  {"jobs", "N", JOBS, "only the first N points are run"},
  {"cpu-seconds", "X", CPU_SECONDS, "the rest is cancelled when the jobs have used X seconds of processors together"},
  {"idle", "N", IDLE, "... when N in a row were no better"},
  {"gap", "X", GAP, "... when the first metric, step_ns or cores_used, is within this part of its bound: 0.05"},
  {"format", "NAME", FORMAT, "the network's format, whatever it looks like: @N"},
  {"name", "TEXT", NAME, "the sweep's name; the file's unless given"},
  {"priority", "N", PRIORITY, "-100 to 100, higher first"},
  {"cluster", "auto|always|never", CLUSTER, "whether its jobs go to the server's cluster (auto: by what each is expected to take)"},
  {"visibility", "lab|group|private", VISIBILITY, "who sees what is sent and made: every user, your group, nobody else; else as the server's settings say"},
  {"label", "KEY=VALUE", LABEL, "a label of the sweep, its jobs and what they make; give it again for more"},
  {"no-wait", NULL, NO_WAIT, "print the sweep's id and do not wait until it has ended"},
  CLI_SERVER_FLAGS,
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

typedef struct arguments {
  cli_where where;
  const char *format;
  char **networks; /* as named on the command line */
  int count;
  json_t *body, *base, *axes, *budget;
  bool no_wait;
} arguments;

/* ---- the command line ---- */

/* The next of some words with commas between, cut to `size`; false: there are no more. */
static bool next_word(const char **words, char *word, size_t size)
{
  if (*words == NULL)
    return false;
  const size_t length = strcspn(*words, ",");
  (void)snprintf(word, size, "%.*s", (int)length, *words);
  *words = (*words)[length] == ',' ? *words + length + 1 : NULL;
  return true;
}

/* "1..20" stays, for the server to count; "a,b" is a list. */
static bool set_axis(arguments *a, const char *pair)
{
  const char *equals = strchr(pair, '=');
  char name[64], value[256];
  if (equals == NULL || equals == pair || (size_t)(equals - pair) >= sizeof name || equals[1] == '\0')
    return false;
  for (size_t i = 0; i <= (size_t)(equals - pair); i++)
    name[i] = (char)(pair[i] == '-' ? '_' : pair[i]);
  name[equals - pair] = '\0';
  json_t *values = json_array();
  const char *words = equals + 1;
  while (next_word(&words, value, sizeof value))
    (void)json_array_append_new(values, cli_option_value(value));
  if (json_array_size(values) == 1 && strstr(equals, "..") != NULL) {
    (void)json_object_set(a->axes, name, json_array_get(values, 0));
    json_decref(values);
  } else
    (void)json_object_set_new(a->axes, name, values);
  return true;
}

static void add_to_list(json_t *object, const char *name, json_t *value)
{
  json_t *list = json_object_get(object, name);
  if (list == NULL) {
    (void)json_object_set_new(object, name, json_array());
    list = json_object_get(object, name);
  }
  (void)json_array_append_new(list, value);
}

/* What a flag sets, by its code: in the request or its budget; false: the value is no text. */
static bool take(arguments *a, int flag)
{
  char word[80];
  const char *words = optarg;
  switch (flag) {
  case CHIP: add_to_list(a->body, "chip", json_string(optarg)); return true;
  case BY:
    while (next_word(&words, word, sizeof word))
      add_to_list(a->body, "by", json_string(word));
    return true;
  case CLUSTER:
  case KEEP:
  case NAME:
  case VISIBILITY: return json_object_set_new(a->body, cli_taken(), json_string(optarg)) == 0;
  case PRIORITY: return json_object_set_new(a->body, "priority", cli_option_value(optarg)) == 0;
  case JOBS:
  case IDLE:
  case GAP: return json_object_set_new(a->budget, cli_taken(), cli_option_value(optarg)) == 0;
  case CPU_SECONDS: return json_object_set_new(a->budget, "cpu_seconds", cli_option_value(optarg)) == 0;
  default: return cli_option_set(a->base, cli_taken(), optarg);
  }
}

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_sweep, argc, argv)) != -1;) {
    if (flag == FORMAT)
      a->format = optarg;
    else if (flag == NO_WAIT)
      a->no_wait = true;
    else if (flag == AXIS) {
      if (!set_axis(a, optarg))
        return cli_usage("sweep", "--axis \"%s\" is not of the form NAME=VALUES: seed=1..20 or objective=time,energy", optarg);
    } else if (flag == LABEL) {
      if (!cli_label_add(a->body, optarg))
        return cli_usage("sweep", "--label \"%s\" is not of the form KEY=VALUE", optarg);
    } else if (flag == VISIBILITY && !cli_is_visibility(optarg))
      return cli_usage("sweep", "--visibility is \"%s\"; it must be lab, group or private", optarg);
    else if ((flag >= CHIP && flag <= VISIBILITY) || flag == CLI_TAKES_OPTION) {
      if (!take(a, flag))
        return cli_usage("sweep", "--%s \"%s\" is not text", cli_taken(), optarg);
    } else if (!cli_where_take(&a->where, flag))
      return cli_ended(flag);
  }
  if (optind == argc)
    return cli_usage("sweep", "no network is named");
  a->networks = argv + optind;
  a->count = argc - optind;
  return -1;
}

/* ---- the table ---- */

static double value_of(const json_t *row, const char *metric)
{
  const json_t *value = json_object_get(json_object_get(row, "metrics"), metric);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

typedef struct ranked {
  json_t *row;
  double value; /* turned so that less is better; NAN: none */
  size_t order;
} ranked;

static int compare(const void *a, const void *b)
{
  const ranked *x = a, *y = b;
  if (isnan(x->value) != isnan(y->value))
    return isnan(x->value) ? 1 : -1;
  if (x->value != y->value && !isnan(x->value))
    return x->value < y->value ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

/* The rows, best first, flat: what a table's columns name. */
static json_t *flat_rows(const json_t *sweep)
{
  const json_t *rows = json_object_get(sweep, "rows"), *by = json_object_get(sweep, "by"), *row;
  const char *first = json_string_value(json_array_get(by, 0)), *better = json_string_value(json_array_get(json_object_get(sweep, "better"), 0));
  const double way = better != NULL && strcmp(better, "more") == 0 ? -1 : 1;
  const size_t count = json_array_size(rows);
  ranked *order = calloc(count + 1, sizeof *order);
  json_t *flat = json_array();
  size_t i;
  json_array_foreach(rows, i, row)
    if (order != NULL && first != NULL)
      order[i] = (ranked){json_array_get(rows, i), way * value_of(row, first), i};
  if (order != NULL)
    qsort(order, count, sizeof *order, compare);
  for (i = 0; order != NULL && i < count; i++) {
    json_t *one = json_deep_copy(json_object_get(order[i].row, "options"));
    size_t k;
    const json_t *metric;
    if (one == NULL)
      one = json_object();
    json_array_foreach(by, k, metric)
      if (!isnan(value_of(order[i].row, json_string_value(metric))))
        (void)json_object_set_new(one, json_string_value(metric), json_real(value_of(order[i].row, json_string_value(metric))));
    static const char *const plain[] = {"chip", "state", "network", NULL};
    for (k = 0; plain[k] != NULL; k++)
      (void)json_object_set(one, plain[k], json_object_get(order[i].row, plain[k]));
    if (json_is_true(json_object_get(order[i].row, "kept")))
      (void)json_object_set(one, "mapping", json_object_get(order[i].row, "mapping"));
    (void)json_array_append_new(flat, one);
  }
  free(order);
  return flat;
}

static void print_table(const json_t *sweep)
{
  json_t *rows = flat_rows(sweep), *value;
  const json_t *metric;
  const char *name;
  cli_column columns[COLUMNS_MAX] = {{"chip", "chip", 24}};
  size_t count = 1, i;
  json_object_foreach(json_object_get(sweep, "axes"), name, value)
    if (count + 4 < COLUMNS_MAX)
      columns[count++] = (cli_column){name, name, 24};
  json_array_foreach(json_object_get(sweep, "by"), i, metric)
    columns[count++] = (cli_column){json_string_value(metric), json_string_value(metric), 0};
  columns[count++] = (cli_column){"state", "state", 0};
  columns[count++] = (cli_column){"mapping", "mapping", 0};
  const size_t all = json_array_size(rows);
  while (json_array_size(rows) > ROWS_SHOWN)
    (void)json_array_remove(rows, json_array_size(rows) - 1);
  cli_print_table(rows, columns, count, "no jobs");
  if (all > ROWS_SHOWN)
    cli_printf(stdout, "and %zu more: coremap sweep %s --json has all\n", all - ROWS_SHOWN, cli_text(sweep, "id"));
  const char *stopped = cli_text(sweep, "stopped");
  cli_printf(stdout, "sweep %s: %.0f jobs, %.0f done, %.0f failed, %.0f cancelled, %.1f CPU s%s%s\n", cli_text(sweep, "id"), cli_number(sweep, "jobs"),
             cli_number(sweep, "done"), cli_number(sweep, "failed"), cli_number(sweep, "cancelled"), cli_number(sweep, "cpu_seconds"),
             stopped[0] != '\0' ? "; stopped: " : "", stopped);
  json_decref(rows);
}

/* All rows of a sweep, page after page; the caller's. */
static cm_status fetch(cli_server *server, const char *id, json_t **sweep, cm_error *error)
{
  char path[160], cursor[40] = "";
  *sweep = NULL;
  do {
    cli_reply reply = {0};
    (void)snprintf(path, sizeof path, "/v1/sweeps/%.64s%s%s", id, cursor[0] != '\0' ? "?cursor=" : "", cursor);
    if (cli_ask(server, "GET", path, NULL, &reply, error) != CM_OK) {
      json_decref(*sweep);
      return error->status;
    }
    const char *next = json_string_value(json_object_get(reply.json, "next"));
    (void)snprintf(cursor, sizeof cursor, "%s", next != NULL ? next : "");
    (void)json_object_del(reply.json, "next");
    if (*sweep == NULL)
      *sweep = json_incref(reply.json);
    else
      (void)json_array_extend(json_object_get(*sweep, "rows"), json_object_get(reply.json, "rows"));
    json_decref(reply.json);
  } while (cursor[0] != '\0');
  return CM_OK;
}

static int tell(cli_server *server, const arguments *a, const char *id, cm_error *error)
{
  json_t *sweep;
  if (fetch(server, id, &sweep, error) != CM_OK)
    return -1;
  if (a->where.json)
    cli_print_json(sweep);
  else
    print_table(sweep);
  const char *state = cli_text(sweep, "state");
  const bool well = strcmp(state, "failed") != 0 && strcmp(state, "cancelled") != 0;
  json_decref(sweep);
  return well ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- the sweep ---- */

static cm_status queue(cli_server *server, cli_run *cli, const arguments *a, cli_reply *reply, cm_error *error)
{
  CM_TRY(cli_rename_options("map", a->base, error));
  for (int i = 0; i < a->count; i++) {
    json_t *network = NULL;
    const cli_upload file = {cli_input(a->networks[i]), a->networks[i], a->format, json_string_value(json_object_get(a->body, "visibility"))};
    CM_TRY(cli_upload_network(server, cli, &file, &network, error));
    add_to_list(a->body, "network", json_incref(json_object_get(network, "id")));
    json_decref(network);
  }
  (void)json_object_set_new(a->body, "kind", json_string("sweep"));
  if (json_object_get(a->body, "name") == NULL)
    (void)json_object_set_new(a->body, "name", json_string(cli_base_name(a->networks[0])));
  (void)json_object_set(a->body, "base", a->base);
  (void)json_object_set(a->body, "axes", a->axes);
  if (json_object_size(a->budget) > 0)
    (void)json_object_set(a->body, "budget", a->budget);
  const cli_request post = {.method = "POST", .path = "/v1/jobs", .body = a->body};
  return library_client_ask(server, &post, reply, error);
}

static int sweep_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  cli_reply reply = {0};
  if (a->count == 1 && strlen(a->networks[0]) == SWEEP_ID && cli_is_id(a->networks[0]) && json_object_get(a->body, "chip") == NULL)
    return tell(server, a, a->networks[0], error);
  if (json_object_get(a->body, "chip") == NULL) {
    (void)cm_fail(error, CM_BAD_REQUEST, "a network is mapped on a chip: name one or more of the server's with --chip (coremap chips)");
    return -1;
  }
  if (queue(server, cli, a, &reply, error) != CM_OK)
    return -1;
  if (a->no_wait)
    return cli_tell_job(server, cli, &reply, &a->where, false, error);
  cm_status status = cli_follow(server, cli, reply.etag, &reply.json, error);
  const int told = status == CM_OK ? tell(server, a, cli_id(reply.json, "id"), error) : -1;
  json_decref(reply.json);
  return told;
}

static int sweep_command(int argc, char **argv)
{
  arguments a = {.body = json_object(), .base = json_object(), .axes = json_object(), .budget = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = cli_on_server(&a.where, sweep_step, &a);
  json_decref(a.body);
  json_decref(a.base);
  json_decref(a.axes);
  json_decref(a.budget);
  return status;
}

const cli_command cli_command_sweep = {
  .name = "sweep", .what = "many jobs of one request on a server, compared", .run = sweep_command, .reads = true, .server = true,
  .options = CLI_OPTIONS_MAP,
  .usage = "NETWORK|ID... --chip NAME... [--axis NAME=VALUES...] [OPTION...]\nSWEEP",
  .about = "Maps the networks on the chips once for each point of the axes, as jobs of a server, and prints what they made, best\n"
           "first. Options that are no axis hold for all. Of the id of a sweep that is there: its table.",
  .flags = flags};
