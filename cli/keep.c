/* coremap quota, bin, restore, pin, unpin: what one uses, what one has deleted, and what is to stay. */
#include <stdlib.h>
#include <string.h>

#include "cli/remote.h"
#include "cli/print.h"
#include "cli/table.h"

enum { USER = 1, EMPTY };

static const cli_flag quota_flags[] = {
  {"user", "NAME", USER, "another one's, for operators"}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag bin_flags[] = {
  {"user", "NAME", USER, "another one's, for operators; *: everybody's"}, {"empty", NULL, EMPTY, "delete all of one's own in it for good"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag id_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  char **words;
  int count;
  const char *user;
  bool empty;
} arguments;

/* Negative: go on. */
static int parse(const cli_command *command, int argc, char **argv, bool ids, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    if (flag == USER)
      a->user = optarg;
    else if (flag == EMPTY)
      a->empty = true;
    else if (!cli_where_take(&a->where, flag))
      return cli_ended(flag);
  a->words = argv + optind;
  a->count = argc - optind;
  if (ids ? a->count == 0 : a->count > 0)
    return cli_usage(command->name, ids ? "no id is named" : "no id can be named here");
  return -1;
}

static cm_status ask(cli_server *server, const char *method, const char *path, const char *user, json_t **json, cm_error *error)
{
  char whole[200], *escaped = user != NULL ? library_client_segment(server, user) : NULL;
  cli_reply reply = {0};
  (void)snprintf(whole, sizeof whole, "%s%s%s", path, escaped != NULL ? "?user=" : "", escaped != NULL ? escaped : "");
  free(escaped);
  const cli_request request = {.method = method, .path = whole};
  cm_status status = library_client_ask(server, &request, &reply, error);
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

static int quota_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  (void)cli;
  static const cli_column columns[] = {{"QUOTA", "quota", 0}, {"USE", "use", 0}, {"LIMIT", "limit", 0}, {"FULL", "full", 0},
                                       {"GROUP'S USE", "group_use", 0}, {"ITS LIMIT", "group_limit", 0}};
  json_t *told, *rows = json_array();
  if (ask(server, "GET", "/v1/usage", a->user, &told, error) != CM_OK) {
    json_decref(rows);
    return -1;
  }
  const json_t *quotas = json_object_get(told, "quotas");
  const bool grouped = json_string_length(json_object_get(told, "group")) > 0;
  const char *name;
  json_t *one;
  json_object_foreach((json_t *)(uintptr_t)quotas, name, one)
  {
    const double use = json_number_value(json_object_get(one, "use")), most = json_number_value(json_object_get(one, "quota"));
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
  if (a->where.json)
    cli_print_json(told);
  else
    cli_print_table(rows, columns, grouped ? 6 : 4, "");
  json_decref(rows);
  json_decref(told);
  return EXIT_DONE;
}

static int quota(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_quota, argc, argv, false, &a);
  return status < 0 ? cli_on_server(&a.where, quota_step, &a) : status;
}

/* ---- the bin ---- */

static int bin_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  (void)cli;
  static const cli_column columns[] = {{"ID", "id", 0}, {"KIND", "kind", 0}, {"NAME", "name", 30}, {"USER", "user", 16}, {"BYTES", "bytes", 0},
                                       {"DELETED", "deleted", 19}, {"UNTIL", "until", 19}};
  json_t *told;
  if (ask(server, a->empty ? "DELETE" : "GET", "/v1/bin", a->empty ? NULL : a->user, &told, error) != CM_OK)
    return -1;
  if (a->where.json && told != NULL)
    cli_print_json(told);
  else if (!a->empty)
    cli_print_table(json_object_get(told, "entries"), columns, sizeof columns / sizeof *columns, "the bin is empty");
  json_decref(told);
  return EXIT_DONE;
}

static int bin(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_bin, argc, argv, false, &a);
  return status < 0 ? cli_on_server(&a.where, bin_step, &a) : status;
}

static int restore_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  (void)cli;
  json_t *list = json_array();
  int status = EXIT_DONE;
  for (int i = 0; i < a->count && status == EXIT_DONE; i++) {
    char path[120];
    json_t *told;
    (void)snprintf(path, sizeof path, "/v1/bin/%.64s/restore", a->words[i]);
    if (!cli_is_id(a->words[i]))
      (void)cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id", a->words[i]);
    if (!cli_is_id(a->words[i]) || ask(server, "POST", path, NULL, &told, error) != CM_OK) {
      status = -1;
      continue;
    }
    if (!a->where.json)
      cli_printf(stdout, "%s %s is back\n", json_string_value(json_object_get(told, "kind")), a->words[i]);
    (void)json_array_append_new(list, told);
  }
  if (a->where.json && status == EXIT_DONE)
    cli_print_json(list);
  json_decref(list);
  return status;
}

static int restore(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_restore, argc, argv, true, &a);
  return status < 0 ? cli_on_server(&a.where, restore_step, &a) : status;
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

static int pin_all(cli_server *server, const arguments *a, const char *method, cm_error *error)
{
  for (int i = 0; i < a->count; i++) {
    json_t *told;
    if (!cli_is_id(a->words[i])) {
      (void)cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id", a->words[i]);
      return -1;
    }
    if (pin_one(server, method, a->words[i], &told, error) != CM_OK)
      return -1;
    if (a->where.json)
      cli_print_json(told);
    json_decref(told);
  }
  return EXIT_DONE;
}

static int pin_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  (void)cli;
  return pin_all(server, a, "PUT", error);
}

static int unpin_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  (void)cli;
  return pin_all(server, a, "DELETE", error);
}

static int pin(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_pin, argc, argv, true, &a);
  return status < 0 ? cli_on_server(&a.where, pin_step, &a) : status;
}

static int unpin(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_unpin, argc, argv, true, &a);
  return status < 0 ? cli_on_server(&a.where, unpin_step, &a) : status;
}

const cli_command cli_command_quota = {
  .name = "quota", .what = "what you use of a server, against your limits", .run = quota, .server = true, .usage = "[--user NAME] [--json]",
  .about = "Your use and your quotas, and those of your group (docs/how-to/queue.md): stored bytes, networks, queued and running jobs, core-hours of\n"
           "leases in seven days, processor seconds in 24 hours.",
  .flags = quota_flags};
const cli_command cli_command_bin = {
  .name = "bin", .what = "what you have deleted on a server, and can bring back", .run = bin, .server = true,
  .usage = "[--empty] [--user NAME] [--json]",
  .about = "Deleted networks, mappings, programs and records of jobs, with the day on which they go for good (docs/how-to/retention.md).", .flags = bin_flags};
const cli_command cli_command_restore = {
  .name = "restore", .what = "bring back what was deleted on a server", .run = restore, .server = true, .usage = "ID... [--json]",
  .about = "Takes networks, mappings, programs and records of jobs out of the bin, as they were.", .flags = id_flags};
const cli_command cli_command_pin = {
  .name = "pin", .what = "keep something on a server for good", .run = pin, .server = true, .usage = "ID... [--json]",
  .about = "No rule of the server's administrators (docs/how-to/retention.md) takes these mappings, programs or networks.", .flags = id_flags};
const cli_command cli_command_unpin = {
  .name = "unpin", .what = "let a server's rules take something again", .run = unpin, .server = true, .usage = "ID... [--json]",
  .about = "Takes pins away.", .flags = id_flags};
