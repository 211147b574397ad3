/* coremap label: labels of what a server has. */

#include "cli/remote.h"

static const cli_flag flags[] = {
  {"remove", "KEY", CLI_BODY_LIST, "a label that goes; give it again for more"}, CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

/* The labels that something has, and where they stand; the kind is found by asking for each. */
static cm_status find(cli_server *server, const char *id, char *path, size_t size, cli_reply *reply, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks", NULL};
  const char *kind;
  cm_status status = cli_ask_kinds(server, &(cli_search){"GET", kinds, id, "/labels"}, &kind, reply, error);
  (void)snprintf(path, size, "/v1/%s/%.64s/labels", kind, id);
  return status == CM_NOT_FOUND ? cm_fail(error, CM_NOT_FOUND, "there is no job, mapping, program or network %.64s", id) : status;
}

static void print_labels(CM_UNUSED const void *given, const json_t *told)
{
  const char *key;
  json_t *value;
  json_object_foreach(json_object_get(told, "labels"), key, value)
    cli_printf(stdout, "%s=%s\n", key, json_string_value(value));
}

static cm_status label(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const cli_line *line = given;
  const json_t *key;
  char path[120];
  cli_reply reply = {0};
  size_t i;
  CM_TRY(find(server, line->words[0], path, sizeof path, &reply, error));
  json_t *labels = json_object_get(reply.json, "labels");
  (void)json_object_update(labels, json_object_get(line->body, "labels"));
  json_array_foreach(json_object_get(line->body, "remove"), i, key)
    (void)json_object_del(labels, json_string_value(key));
  cm_status status = CM_OK;
  if (json_object_size(line->body) > 0) {
    json_t *body = json_pack("{s:O}", "labels", labels);
    json_decref(reply.json);
    reply = (cli_reply){0};
    status = library_client_ask(server, &(cli_request){.method = "PUT", .path = path, .body = body}, &reply, error);
    json_decref(body);
  }
  *report = reply.json;
  return status;
}

static int check(void *given)
{
  const cli_line *line = given;
  for (int i = 1; i < line->count; i++)
    if (!cli_label_add(line->body, line->words[i]))
      return cli_usage("label", "\"%s\" is not of the form KEY=VALUE", line->words[i]);
  return -1;
}

const cli_command cli_command_label = {
  .name = "label", .what = "labels of a job, mapping, program or network of a server", .check = check, .ask = label, .print = print_labels, .word = "id", .least = 1, .most = CLI_ANY, .server = true,
  .usage = "ID [KEY=VALUE...] [--remove KEY]...",
  .about = "Adds labels to those of a job, sweep, mapping, program or network, in place of those with the same key, and prints what it has then.",
  .flags = flags};
