/* coremap occupancy, reserve, release: the cores of a server's chips. */
#include <stdlib.h>

#include "cli/remote.h"
#include "cli/print.h"
#include "cli/table.h"

enum { OCCUPY = 1, FREE, BROKEN, REPAIRED, OWNER, CORES, COUNT, TTL };

static const cli_flag occupancy_flags[] = {
  {"occupy", "CORES", OCCUPY, "take cores: X,Y or a rectangle X0,Y0,X1,Y1, as often as needed"},
  {"release", "CORES", FREE, "free cores that are taken"},
  {"broken", "CORES", BROKEN, "cores that do not work"},
  {"repaired", "CORES", REPAIRED, "cores that work again"},
  {"owner", "TEXT", OWNER, "of the cores that are taken"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag reserve_flags[] = {
  {"count", "N", COUNT, "so many free cores, wherever they lie best"},
  {"cores", "CORES", CORES, "these: X,Y or a rectangle X0,Y0,X1,Y1, as often as needed"},
  {"owner", "TEXT", OWNER, "shown beside the lease"},
  {"ttl", "X", TTL, "seconds after which silence ends it"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag release_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  const char *chip, *lease;
  json_t *body;
} arguments;

/* "X,Y" or "X0,Y0,X1,Y1" to the list `name` of the body; false: it is neither. */
static bool add_cores(json_t *body, const char *name, const char *text)
{
  unsigned n[4];
  int used = 0, numbers = sscanf(text, "%6u,%6u%n,%6u,%6u%n", &n[0], &n[1], &used, &n[2], &n[3], &used);
  if ((numbers != 2 && numbers != 4) || text[used] != '\0')
    return false;
  json_t *list = json_object_get(body, name);
  if (list == NULL) {
    list = json_array();
    (void)json_object_set_new(body, name, list);
  }
  return json_array_append_new(list, numbers == 2 ? json_pack("[i, i]", (int)n[0], (int)n[1])
                                                  : json_pack("[i, i, i, i]", (int)n[0], (int)n[1], (int)n[2], (int)n[3])) == 0;
}

/* Negative: go on. `words`: how many are named beside the flags. */
static int parse(const cli_command *command, int argc, char **argv, int words, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    switch (flag) {
    case OCCUPY:
    case FREE:
    case BROKEN:
    case REPAIRED:
    case CORES:
      if (!add_cores(a->body, cli_taken(), optarg))
        return cli_usage(command->name, "--%s is X,Y or X0,Y0,X1,Y1, not \"%s\"", cli_taken(), optarg);
      break;
    case OWNER: (void)json_object_set_new(a->body, "owner", json_string(optarg)); break;
    case COUNT:
    case TTL: (void)json_object_set_new(a->body, cli_taken(), cli_option_value(optarg)); break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  if (argc - optind != words)
    return cli_usage(command->name, words == 2 ? "a chip and a lease are needed" : "one chip is needed");
  a->chip = argv[optind];
  a->lease = words == 2 ? argv[optind + 1] : NULL;
  return -1;
}

typedef cm_status (*step)(cli_server *server, const arguments *a, json_t **reply, cm_error *error);

/* Negative: go on; *reply is the caller's either way. */
static int on_server(const arguments *a, step take, json_t **reply)
{
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  cli_run_begin(&cli, true);
  cm_status status = cli_server_open(&a->where, cli.run.cancel, &server, &error);
  CM_THEN(status, take(server, a, reply, &error));
  cli_run_end(&cli);
  coremap_client_free(server);
  return status == CM_OK ? -1 : cli_fail(&error);
}

static cm_status ask(cli_server *server, const arguments *a, const char *method, const char *after, const json_t *body,
                     const char *match, json_t **json, cm_error *error)
{
  char path[400];
  cli_reply reply = {0};
  char *chip = library_client_segment(server, a->chip);
  (void)snprintf(path, sizeof path, "/v1/chips/%.200s/%.100s", chip != NULL ? chip : "", after);
  free(chip);
  const cli_request request = {.method = method, .path = path, .body = body, .match = match};
  if (library_client_ask(server, &request, &reply, error) == CM_OK)
    *json = reply.json;
  else
    return error->status;
  return CM_OK;
}

/* ---- occupancy ---- */

static cm_status occupancy_step(cli_server *server, const arguments *a, json_t **reply, cm_error *error)
{
  bool changes = json_object_size(a->body) > 0;
  json_t *holders = NULL;
  cm_error ignored;
  /* Changes on top of each other are all kept: each is of named cores, and the server refuses what does not fit. */
  cm_status status = ask(server, a, changes ? "PATCH" : "GET", "occupancy", changes ? a->body : NULL, changes ? "*" : NULL, reply, error);
  if (status != CM_OK || a->where.json)
    return status;
  /* People want to know whose leases are; a server of a release before, or one that may not be read, tells less. */
  if (ask(server, a, "GET", "holders", NULL, NULL, &holders, &ignored) == CM_OK && json_object_get(holders, "taken") != NULL)
    (void)json_object_set(*reply, "taken", json_object_get(holders, "taken"));
  json_decref(holders);
  return CM_OK;
}

static void print_occupancy(const json_t *o)
{
  static const cli_column columns[] = {{"OWNER", "owner", 60}, {"LEASE", "lease", 24}, {"UNTIL", "until", 24}, {"CORES", "count", 0}};
  const json_t *f = json_object_get(o, "fragmentation"), *taken = json_object_get(o, "taken"), *one;
  json_t *rows = json_array();
  size_t i, k;
  json_array_foreach(taken, i, one)
  {
    double count = 0;
    const json_t *box;
    json_array_foreach(json_object_get(one, "cores"), k, box)
    {
      double w = json_number_value(json_array_get(box, 2)) - json_number_value(json_array_get(box, 0)) + 1,
             h = json_number_value(json_array_get(box, 3)) - json_number_value(json_array_get(box, 1)) + 1;
      count += json_array_size(box) == 4 ? w * h : 1;
    }
    const char *owner = json_string_value(json_object_get(one, "owner"));
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:I}", "owner", owner != NULL && owner[0] != '\0' ? owner : "(nobody named)",
                                                "lease", cli_text(one, "lease"), "until", cli_text(one, "until"), "count", (json_int_t)count));
  }
  double cores = cli_number(o, "width") * cli_number(o, "height");
  cli_printf(stdout, "%s: %.0f of %.0f cores free, largest free rectangle %.0f, fragmentation %.1f %%\n",
         cli_text(o, "chip"), cli_number(o, "free"), cores, cli_number(f, "largest_free_rectangle"),
         100 * cli_number(f, "value"));
  if (json_array_size(json_object_get(o, "broken")) > 0)
    fputs("some cores are broken: --json lists them\n", stdout);
  cli_print_table(rows, columns, sizeof columns / sizeof *columns, "no core is taken");
  json_decref(rows);
}

static int occupancy(int argc, char **argv)
{
  arguments a = {.body = json_object()};
  json_t *reply = NULL;
  int status = parse(&cli_command_occupancy, argc, argv, 1, &a);
  if (status < 0)
    status = on_server(&a, occupancy_step, &reply);
  if (status < 0 && a.where.json)
    cli_print_json(reply);
  else if (status < 0)
    print_occupancy(reply);
  json_decref(reply);
  json_decref(a.body);
  return status < 0 ? EXIT_DONE : status;
}

/* ---- leases ---- */

static cm_status reserve_step(cli_server *server, const arguments *a, json_t **reply, cm_error *error)
{
  return ask(server, a, "POST", "reservations", a->body, NULL, reply, error);
}

static int reserve(int argc, char **argv)
{
  arguments a = {.body = json_object()};
  json_t *lease = NULL;
  int status = parse(&cli_command_reserve, argc, argv, 1, &a);
  if (status < 0 && (json_object_get(a.body, "cores") == NULL) == (json_object_get(a.body, "count") == NULL))
    status = cli_usage("reserve", "say which --cores, or how many with --count");
  if (status < 0)
    status = on_server(&a, reserve_step, &lease);
  if (status < 0 && a.where.json)
    cli_print_json(lease);
  else if (status < 0)
    cli_puts(cli_text(lease, "id"));
  json_decref(lease);
  json_decref(a.body);
  return status < 0 ? EXIT_DONE : status;
}

static cm_status release_step(cli_server *server, const arguments *a, json_t **reply, cm_error *error)
{
  char after[100];
  (void)snprintf(after, sizeof after, "reservations/%.64s", a->lease);
  return ask(server, a, "DELETE", after, NULL, NULL, reply, error);
}

static int release(int argc, char **argv)
{
  arguments a = {0};
  json_t *reply = NULL;
  int status = parse(&cli_command_release, argc, argv, 2, &a);
  if (status < 0 && !cli_is_id(a.lease))
    status = cli_usage("release", "\"%s\" is no id of a lease", a.lease);
  if (status < 0)
    status = on_server(&a, release_step, &reply);
  if (status < 0 && a.where.json) {
    json_t *told = json_pack("{s:s}", "released", a.lease);
    cli_print_json(told);
    json_decref(told);
  }
  json_decref(reply);
  return status < 0 ? EXIT_DONE : status;
}

const cli_command cli_command_occupancy = {
  .name = "occupancy", .what = "show or change which cores of a server's chip are taken", .run = occupancy, .server = true,
  .usage = "CHIP [--occupy CORES]... [--release CORES]... [--broken CORES]... [--repaired CORES]... [--owner TEXT] [--json]",
  .about = "Shows how many cores of a chip are free and who has the others, after changing it where a flag says so. --json prints\n"
           "what `coremap map --occupancy` reads.",
  .flags = occupancy_flags};
const cli_command cli_command_reserve = {
  .name = "reserve", .what = "lease cores of a server's chip", .run = reserve, .server = true,
  .usage = "CHIP (--count N | --cores CORES...) [--owner TEXT] [--ttl X] [--json]",
  .about = "Leases cores and prints the lease's id. Only the lease can free them; without a keepalive it ends after --ttl.", .flags = reserve_flags};
const cli_command cli_command_release = {
  .name = "release", .what = "end a lease", .run = release, .server = true, .usage = "CHIP LEASE [--json]",
  .about = "Frees the cores of a lease. `coremap occupancy CHIP` shows leases as owners, lease:ID.", .flags = release_flags};
