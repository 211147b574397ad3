/* coremap sweep: many jobs of one request, and what they make compared. */
#include <math.h>

#include "cli/remote.h"
#include "cli/table.h"
#include "cli/upload.h"

enum { AXIS = 1, BY, BUDGET };
enum { SWEEP_ID = 20, COLUMNS_MAX = 12, ROWS_SHOWN = 20 };

typedef struct arguments {
  cli_line line; /* its body is the request, with "axes" and "budget" */
  const char *format;
  bool no_wait;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME", CLI_BODY_LIST, "a chip of the server; give it again for more"},
  {"axis", "NAME=VALUES", AXIS, "a job option (docs/reference/options.md) and its values: seed=1..20, objective=time,energy; give it again for more"},
  {"keep", "best|pareto|all", CLI_BODY, "which mappings stay; all unless given"},
  {"by", "METRIC[,METRIC]", BY, "what is compared; energy_pj unless given"},
  {"jobs", "N", BUDGET, "only the first N points are run"},
  {"cpu-seconds", "X", BUDGET, "the rest is cancelled when the jobs have used X seconds of processors together"},
  {"idle", "N", BUDGET, "... when N in a row were no better"},
  {"gap", "X", BUDGET, "... when the first metric, step_ns or cores_used, is within this part of its bound: 0.05"},
  {"format", "NAME", CLI_TEXT, "the network's format, whatever it looks like: @N", CLI_AT(format)},
  {"name", "TEXT", CLI_BODY, "the sweep's name; the file's unless given"},
  {"priority", "N", CLI_BODY_VALUE, "-100 to 100, higher first"},
  {"cluster", "auto|always|never", CLI_BODY, "whether its jobs go to the server's cluster (auto: by what each is expected to take)"},
  CLI_VISIBILITY_FLAG,
  {"label", "KEY=VALUE", CLI_LABEL, "a label of the sweep, its jobs and what they make; give it again for more"},
  {"no-wait", NULL, CLI_ON, "print the sweep's id and do not wait until it has ended", CLI_AT(no_wait)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG,
  {0}};

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
static bool set_axis(json_t *axes, const char *pair)
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
    (void)json_object_set(axes, name, json_array_get(values, 0));
    json_decref(values);
  } else
    (void)json_object_set_new(axes, name, values);
  return true;
}

/* The object of that name in the request. */
static json_t *part_of(json_t *body, const char *name)
{
  if (json_object_get(body, name) == NULL)
    (void)json_object_set_new(body, name, json_object());
  return json_object_get(body, name);
}

static int take(void *given, int code)
{
  json_t *body = ((cli_line *)given)->body;
  char word[80];
  const char *words = optarg;
  if (code == AXIS)
    return set_axis(part_of(body, "axes"), optarg) ? -1 : cli_usage("sweep", "--axis \"%s\" is not of the form NAME=VALUES: seed=1..20 or objective=time,energy", optarg);
  while (code == BY && next_word(&words, word, sizeof word))
    (void)cli_list_add(body, "by", json_string(word));
  return code == BY || cli_option_set(part_of(body, "budget"), cli_taken(), optarg) ? -1 : cli_usage("sweep", "--%s \"%s\" is not text", cli_taken(), optarg);
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

static void print_table(const void *given, const json_t *sweep)
{
  if (((const arguments *)given)->no_wait) {
    cli_print_job(given, sweep);
    return;
  }
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
  char cursor[40] = "";
  *sweep = NULL;
  do {
    cli_reply reply = {0};
    CM_TRY(cli_ask(server, "GET", cm_say("/v1/sweeps/%.64s%s%s", id, cursor[0] != '\0' ? "?cursor=" : "", cursor).text, NULL, &reply, error));
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

static int judge(const void *given, const json_t *sweep)
{
  const char *state = cli_text(sweep, "state");
  return ((const arguments *)given)->no_wait || (strcmp(state, "failed") != 0 && strcmp(state, "cancelled") != 0) ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- the sweep ---- */

static cm_status queue(cli_server *server, cli_run *cli, const arguments *a, cli_reply *reply, cm_error *error)
{
  char **networks = a->line.words;
  json_t *body = a->line.body;
  CM_TRY(cli_rename_options("map", a->line.options, error));
  for (int i = 0; i < a->line.count; i++) {
    json_t *network = NULL;
    const cli_upload file = {cli_input(networks[i]), networks[i], a->format, json_string_value(json_object_get(body, "visibility"))};
    CM_TRY(cli_upload_network(server, cli, &file, &network, error));
    (void)cli_list_add(body, "network", json_incref(json_object_get(network, "id")));
    json_decref(network);
  }
  (void)json_object_set_new(body, "kind", json_string("sweep"));
  if (json_object_get(body, "name") == NULL)
    (void)json_object_set_new(body, "name", json_string(cli_base_name(networks[0])));
  (void)json_object_set(body, "base", a->line.options);
  (void)part_of(body, "axes");
  return cli_post_job(&a->line, server, reply, error);
}

static cm_status sweep(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  const char *first = a->line.words[0];
  cli_reply reply = {0};
  if (json_object_get(a->line.body, "chip") == NULL)
    return a->line.count == 1 && strlen(first) == SWEEP_ID && cli_is_id(first) ? fetch(server, first, report, error)
           : cm_fail(error, CM_BAD_REQUEST, "a network is mapped on a chip: name one or more of the server's with --chip (coremap chips)");
  CM_TRY(queue(server, cli, a, &reply, error));
  if (a->no_wait) {
    *report = reply.json;
    return CM_OK;
  }
  cm_status status = cli_follow(server, cli, reply.etag, &reply.json, error);
  CM_THEN(status, fetch(server, cli_id(reply.json, "id"), report, error));
  json_decref(reply.json);
  return status;
}

const cli_command cli_command_sweep = {
  .name = "sweep", .what = "many jobs of one request on a server, compared", .take = take, .ask = sweep, .print = print_table, .judge = judge,
  .word = "network", .least = 1, .most = CLI_ANY, .size = sizeof(arguments), .reads = true, .server = true,
  .options = CLI_OPTIONS_MAP,
  .usage = "NETWORK|ID... --chip NAME... [--axis NAME=VALUES...] [OPTION...]\nSWEEP",
  .about = "Maps the networks on the chips once for each point of the axes, as jobs of a server, and prints what they made, best\n"
           "first. Options that are no axis hold for all. Of the id of a sweep that is there: its table.",
  .flags = flags};
