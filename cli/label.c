/* coremap label: labels of what a server has. */
#include <stdio.h>
#include <string.h>

#include "cli/print.h"
#include "cli/remote.h"

enum { REMOVE = 1 };

static const cli_flag flags[] = {
  {"remove", "KEY", REMOVE, "a label that goes; give it again for more"}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  const char *id;
  json_t *given, *removed; /* {"labels": {KEY: VALUE}}, [KEY] */
} arguments;

/* The labels that something has, and where they stand; the kind is found by asking for each. */
static cm_status find(cli_server *server, const char *id, char *path, size_t size, cli_reply *reply, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks", NULL};
  const char *kind;
  cm_status status = cli_ask_kinds(server, &(cli_search){"GET", kinds, id, "/labels"}, &kind, reply, error);
  (void)snprintf(path, size, "/v1/%s/%.64s/labels", kind, id);
  return status == CM_NOT_FOUND ? cm_fail(error, CM_NOT_FOUND, "there is no job, mapping, program or network %.64s", id) : status;
}

static void print_labels(const json_t *labels)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)labels, key, value)
    cli_printf(stdout, "%s=%s\n", key, json_string_value(value));
}

static int label_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  const json_t *key;
  char path[120];
  cli_reply reply = {0};
  size_t i;
  (void)cli;
  if (!cli_is_id(a->id)) {
    (void)cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id", a->id);
    return -1;
  }
  if (find(server, a->id, path, sizeof path, &reply, error) != CM_OK)
    return -1;
  json_t *labels = json_object_get(reply.json, "labels");
  (void)json_object_update(labels, json_object_get(a->given, "labels"));
  json_array_foreach(a->removed, i, key)
    (void)json_object_del(labels, json_string_value(key));
  cm_status status = CM_OK;
  if (json_object_size(a->given) > 0 || json_array_size(a->removed) > 0) {
    json_t *body = json_pack("{s:O}", "labels", labels);
    const cli_request put = {.method = "PUT", .path = path, .body = body};
    json_decref(reply.json);
    reply = (cli_reply){0};
    status = library_client_ask(server, &put, &reply, error);
    json_decref(body);
  }
  if (status == CM_OK && a->where.json)
    cli_print_json(reply.json);
  else if (status == CM_OK)
    print_labels(json_object_get(reply.json, "labels"));
  json_decref(reply.json);
  return status == CM_OK ? EXIT_DONE : -1;
}

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_label, argc, argv)) != -1;)
    if (flag == REMOVE)
      (void)json_array_append_new(a->removed, json_string(optarg));
    else if (!cli_where_take(&a->where, flag))
      return cli_ended(flag);
  if (optind == argc)
    return cli_usage("label", "no id is named");
  a->id = argv[optind];
  for (int i = optind + 1; i < argc; i++)
    if (!cli_label_add(a->given, argv[i]))
      return cli_usage("label", "\"%s\" is not of the form KEY=VALUE", argv[i]);
  return -1;
}

static int label(int argc, char **argv)
{
  arguments a = {.where.quiet = true, .given = json_object(), .removed = json_array()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = cli_on_server(&a.where, label_step, &a);
  json_decref(a.given);
  json_decref(a.removed);
  return status;
}

const cli_command cli_command_label = {
  .name = "label", .what = "labels of a job, mapping, program or network of a server", .run = label, .server = true,
  .usage = "ID [KEY=VALUE...] [--remove KEY]...",
  .about = "Adds labels to those of a job, sweep, mapping, program or network, in place of those with the same key, and prints what it has then.",
  .flags = flags};
