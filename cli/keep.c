/* coremap quota, bin, restore, pin, unpin: what one uses, what one has deleted, and what is to stay. */
#include "cli/remote.h"
#include "cli/table.h"

typedef struct arguments {
  cli_line line;
  const char *user;
  bool empty;
} arguments;

static const cli_flag quota_flags[] = {
  {"user", "NAME", CLI_TEXT, "another one's, for operators", CLI_AT(user)}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag bin_flags[] = {
  {"user", "NAME", CLI_TEXT, "another one's, for operators; *: everybody's", CLI_AT(user)}, {"empty", NULL, CLI_ON, "delete all of one's own in it for good", CLI_AT(empty)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
#define IDS .word = "id", .least = 1, .most = CLI_ANY
static const cli_flag id_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

static cm_status ask(cli_server *server, const char *method, const char *path, const char *user, json_t **json, cm_error *error)
{
  char whole[200], *escaped = user != NULL ? library_client_segment(server, user) : NULL;
  cli_reply reply = {0};
  (void)snprintf(whole, sizeof whole, "%s%s%s", path, escaped != NULL ? "?user=" : "", escaped != NULL ? escaped : "");
  free(escaped);
  cm_status status = cli_ask(server, method, whole, NULL, &reply, error);
  *json = reply.json;
  return status;
}

/* ---- quota ---- */

/* A figure as people read it; "-" for null. */
static json_t *figure(const char *quota, const json_t *value)
{
  static const char *const units[] = {"", " KB", " MB", " GB", " TB", " PB"};
  double number = json_number_value(value);
  size_t unit = 0;
  if (!json_is_number(value))
    return json_string("-");
  if (strcmp(quota, "bytes") != 0)
    return json_sprintf("%.6g", number);
  for (; number >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
    number /= 1000;
  return json_sprintf("%.3g%s", number, units[unit]);
}

static cm_status quota(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **told, cm_error *error)
{
  return ask(server, "GET", "/v1/usage", ((arguments *)given)->user, told, error);
}

static void print_quota(CM_UNUSED const void *given, const json_t *told)
{
  static const cli_column columns[] = {{"QUOTA", "quota", 0}, {"USE", "use", 0}, {"LIMIT", "limit", 0}, {"FULL", "full", 0},
                                       {"GROUP'S USE", "group_use", 0}, {"ITS LIMIT", "group_limit", 0}};
  json_t *rows = json_array(), *one;
  const bool grouped = json_string_length(json_object_get(told, "group")) > 0;
  const char *name;
  json_object_foreach(json_object_get(told, "quotas"), name, one)
  {
    const double use = cli_number(one, "use"), most = cli_number(one, "quota");
    json_t *row = json_pack("{s:s, s:o, s:o}", "quota", name, "use", figure(name, json_object_get(one, "use")), "limit",
                            figure(name, json_object_get(one, "quota")));
    (void)json_object_set_new(row, "full", json_is_number(json_object_get(one, "quota"))
                                             ? json_sprintf("%.0f %%", 100 * use / (most > 0 ? most : 1)) : json_string(""));
    if (grouped) {
      (void)json_object_set_new(row, "group_use", figure(name, json_object_get(one, "group_use")));
      (void)json_object_set_new(row, "group_limit", figure(name, json_object_get(one, "group_quota")));
    }
    (void)json_array_append_new(rows, row);
  }
  cli_print_table(rows, columns, grouped ? 6 : 4, "");
  json_decref(rows);
}

/* ---- the bin ---- */

static cm_status bin(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **told, cm_error *error)
{
  const arguments *a = given;
  return ask(server, a->empty ? "DELETE" : "GET", "/v1/bin", a->empty ? NULL : a->user, told, error);
}

static void print_bin(const void *given, const json_t *told)
{
  static const cli_column columns[] = {{"ID", "id", 0}, {"KIND", "kind", 0}, {"NAME", "name", 30}, {"USER", "user", 16}, {"BYTES", "bytes", 0},
                                       {"DELETED", "deleted", 19}, {"UNTIL", "until", 19}};
  if (!((const arguments *)given)->empty)
    cli_print_table(json_object_get(told, "entries"), columns, sizeof columns / sizeof *columns, "the bin is empty");
}

static cm_status check_id(const char *word, cm_error *error)
{
  return cli_is_id(word) ? CM_OK : cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id", word);
}

static cm_status restore(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **list, cm_error *error)
{
  const cli_line *line = given;
  *list = json_array();
  for (int i = 0; i < line->count; i++) {
    json_t *told;
    CM_TRY(check_id(line->words[i], error));
    CM_TRY(ask(server, "POST", cm_say("/v1/bin/%.64s/restore", line->words[i]).text, NULL, &told, error));
    if (!line->json)
      cli_printf(stdout, "%s %s is back\n", json_string_value(json_object_get(told, "kind")), line->words[i]);
    (void)json_array_append_new(*list, told);
  }
  return CM_OK;
}

/* What was told as it came. */
static void print_nothing(CM_UNUSED const void *given, CM_UNUSED const json_t *list)
{
}

/* ---- pins ---- */

/* The kind is found by asking for each. */
static cm_status pin_one(cli_server *server, const char *method, const char *id, json_t **told, cm_error *error)
{
  static const char *const kinds[] = {"mappings", "programs", "networks", NULL};
  const char *kind;
  cli_reply reply = {0};
  cm_status status = cli_ask_kinds(server, &(cli_search){method, kinds, id, "/pin"}, &kind, &reply, error);
  *told = reply.json;
  return status == CM_NOT_FOUND ? cm_fail(error, CM_NOT_FOUND, "there is no mapping, program or network %.64s", id) : status;
}

static cm_status pin_all(const cli_line *line, cli_server *server, const char *method, cm_error *error)
{
  for (int i = 0; i < line->count; i++) {
    json_t *told;
    CM_TRY(check_id(line->words[i], error));
    CM_TRY(pin_one(server, method, line->words[i], &told, error));
    if (line->json)
      cli_print_json(told);
    json_decref(told);
  }
  return CM_OK;
}

static cm_status pin(void *line, coremap_client *server, CM_UNUSED cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  return pin_all(line, server, "PUT", error);
}

static cm_status unpin(void *line, coremap_client *server, CM_UNUSED cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  return pin_all(line, server, "DELETE", error);
}

const cli_command cli_command_quota = {
  .name = "quota", .what = "what you use of a server, against your limits", .ask = quota, .print = print_quota, .size = sizeof(arguments), .server = true, .usage = "[--user NAME] [--json]",
  .about = "Your use and your quotas, and those of your group (docs/how-to/queue.md): stored bytes, networks, queued and running jobs, core-hours of\n"
           "leases in seven days, processor seconds in 24 hours.",
  .flags = quota_flags};
const cli_command cli_command_bin = {
  .name = "bin", .what = "what you have deleted on a server, and can bring back", .ask = bin, .print = print_bin, .size = sizeof(arguments), .server = true,
  .usage = "[--empty] [--user NAME] [--json]",
  .about = "Deleted networks, mappings, programs and records of jobs, with the day on which they go for good (docs/how-to/retention.md).", .flags = bin_flags};
const cli_command cli_command_restore = {
  .name = "restore", .what = "bring back what was deleted on a server", .ask = restore, .print = print_nothing, IDS, .server = true, .usage = "ID... [--json]",
  .about = "Takes networks, mappings, programs and records of jobs out of the bin, as they were.", .flags = id_flags};
const cli_command cli_command_pin = {
  .name = "pin", .what = "keep something on a server for good", .ask = pin, IDS, .server = true, .usage = "ID... [--json]",
  .about = "No rule of the server's administrators (docs/how-to/retention.md) takes these mappings, programs or networks.", .flags = id_flags};
const cli_command cli_command_unpin = {
  .name = "unpin", .what = "let a server's rules take something again", .ask = unpin, IDS, .server = true, .usage = "ID... [--json]",
  .about = "Takes pins away.", .flags = id_flags};
