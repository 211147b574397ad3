/* coremap occupancy, reserve, release: the cores of a server's chips. */
#include "cli/remote.h"
#include "cli/table.h"

enum { CORES = 1 };

static const cli_flag occupancy_flags[] = {
  {"occupy", "CORES", CORES, "take cores: X,Y or a rectangle X0,Y0,X1,Y1, as often as needed"},
  {"release", "CORES", CORES, "free cores that are taken"},
  {"broken", "CORES", CORES, "cores that do not work"},
  {"repaired", "CORES", CORES, "cores that work again"},
  {"owner", "TEXT", CLI_BODY, "of the cores that are taken"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag reserve_flags[] = {
  {"count", "N", CLI_BODY_VALUE, "so many free cores, wherever they lie best"},
  {"cores", "CORES", CORES, "these: X,Y or a rectangle X0,Y0,X1,Y1, as often as needed"},
  {"owner", "TEXT", CLI_BODY, "shown beside the lease"},
  {"ttl", "X", CLI_BODY_VALUE, "seconds after which silence ends it"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag release_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

/* "X,Y" or "X0,Y0,X1,Y1" to the list `name` of the body; false: it is neither. */
static bool add_cores(json_t *body, const char *name, const char *text)
{
  unsigned n[4];
  int used = 0, numbers = sscanf(text, "%6u,%6u%n,%6u,%6u%n", &n[0], &n[1], &used, &n[2], &n[3], &used);
  if ((numbers != 2 && numbers != 4) || text[used] != '\0')
    return false;
  return cli_list_add(body, name, numbers == 2 ? json_pack("[i, i]", (int)n[0], (int)n[1])
                                               : json_pack("[i, i, i, i]", (int)n[0], (int)n[1], (int)n[2], (int)n[3]));
}

static int take_cores(void *given, CM_UNUSED int code)
{
  const cli_line *line = given;
  return add_cores(line->body, cli_taken(), optarg) ? -1 : cli_usage(line->command->name, "--%s is X,Y or X0,Y0,X1,Y1, not \"%s\"", cli_taken(), optarg);
}

/* What a request has beside the chip's path: "occupancy". */
typedef struct asked {
  const char *method, *after, *match;
  const json_t *body;
} asked;

static cm_status ask(cli_server *server, const cli_line *line, const asked *what, json_t **json, cm_error *error)
{
  char path[400];
  cli_reply reply = {0};
  char *chip = library_client_segment(server, line->words[0]);
  (void)snprintf(path, sizeof path, "/v1/chips/%.200s/%.100s", chip != NULL ? chip : "", what->after);
  free(chip);
  CM_TRY(library_client_ask(server, &(cli_request){.method = what->method, .path = path, .body = what->body, .match = what->match}, &reply, error));
  *json = reply.json;
  return CM_OK;
}

/* ---- occupancy ---- */

static cm_status occupancy(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **reply, cm_error *error)
{
  const cli_line *line = given;
  const bool changes = json_object_size(line->body) > 0;
  json_t *holders = NULL;
  cm_error ignored;
  /* Changes on top of each other are all kept: each is of named cores, and the server refuses what does not fit. */
  CM_TRY(ask(server, line, changes ? &(asked){"PATCH", "occupancy", "*", line->body} : &(asked){"GET", "occupancy", NULL, NULL}, reply, error));
  if (line->json)
    return CM_OK;
  /* People want to know whose leases are; a server of a release before, or one that may not be read, tells less. */
  if (ask(server, line, &(asked){"GET", "holders", NULL, NULL}, &holders, &ignored) == CM_OK && json_object_get(holders, "taken") != NULL)
    (void)json_object_set(*reply, "taken", json_object_get(holders, "taken"));
  json_decref(holders);
  return CM_OK;
}

static void print_occupancy(CM_UNUSED const void *given, const json_t *o)
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

/* ---- leases ---- */

static int check_reserve(void *given)
{
  const json_t *body = ((cli_line *)given)->body;
  return (json_object_get(body, "cores") == NULL) != (json_object_get(body, "count") == NULL) ? -1 : cli_usage("reserve", "say which --cores, or how many with --count");
}

static cm_status reserve(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **reply, cm_error *error)
{
  return ask(server, given, &(asked){"POST", "reservations", NULL, ((cli_line *)given)->body}, reply, error);
}

static void print_lease(CM_UNUSED const void *given, const json_t *lease)
{
  cli_puts(cli_text(lease, "id"));
}

static int check_release(void *given)
{
  const char *lease = ((cli_line *)given)->words[1];
  return cli_is_id(lease) ? -1 : cli_usage("release", "\"%s\" is no id of a lease", lease);
}

static cm_status release(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const cli_line *line = given;
  json_t *reply = NULL;
  CM_TRY(ask(server, line, &(asked){"DELETE", cm_say("reservations/%.64s", line->words[1]).text, NULL, NULL}, &reply, error));
  json_decref(reply);
  *report = line->json ? json_pack("{s:s}", "released", line->words[1]) : NULL;
  return CM_OK;
}

const cli_command cli_command_occupancy = {
  .name = "occupancy", .what = "show or change which cores of a server's chip are taken", .take = take_cores, .ask = occupancy, .print = print_occupancy, .word = "chip", .server = true,
  .usage = "CHIP [--occupy CORES]... [--release CORES]... [--broken CORES]... [--repaired CORES]... [--owner TEXT] [--json]",
  .about = "Shows how many cores of a chip are free and who has the others, after changing it where a flag says so. --json prints\n"
           "what `coremap map --occupancy` reads.",
  .flags = occupancy_flags};
const cli_command cli_command_reserve = {
  .name = "reserve", .what = "lease cores of a server's chip", .take = take_cores, .check = check_reserve, .ask = reserve, .print = print_lease, .word = "chip", .server = true,
  .usage = "CHIP (--count N | --cores CORES...) [--owner TEXT] [--ttl X] [--json]",
  .about = "Leases cores and prints the lease's id. Only the lease can free them; without a keepalive it ends after --ttl.", .flags = reserve_flags};
const cli_command cli_command_release = {
  .name = "release", .what = "end a lease", .check = check_release, .ask = release, .word = "chip and lease", .least = 2, .most = 2, .server = true, .usage = "CHIP LEASE [--json]",
  .about = "Frees the cores of a lease. `coremap occupancy CHIP` shows leases as owners, lease:ID.", .flags = release_flags};
