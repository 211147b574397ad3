/* coremap rm: removes things of a server, of whatever kind. */
#include <stdlib.h>
#include <string.h>

#include "cli/remote.h"

static const cli_flag flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  char **words;
  int count;
} arguments;

/* Removes what has that name, of the first kind that knows it. */
static cm_status remove_one(cli_server *server, const char *name, const char **kind, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks", "chips", NULL};
  char *segment = library_client_segment(server, name);
  cli_reply reply = {0};
  cm_status status = segment == NULL ? CM_NOT_FOUND : cli_ask_kinds(server, &(cli_search){"DELETE", kinds, segment, ""}, kind, &reply, error);
  json_decref(reply.json);
  free(segment);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "the server has no job, mapping, program, network or chip \"%.64s\"", name);
  return status;
}

static int rm_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  json_t *list = json_array();
  int status = EXIT_DONE;
  (void)cli;
  for (int i = 0; i < a->count && status == EXIT_DONE; i++) {
    const char *kind = "";
    if (a->words[i][0] == '\0' || strchr(a->words[i], '/') != NULL)
      (void)cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id or name", a->words[i]);
    if (a->words[i][0] == '\0' || strchr(a->words[i], '/') != NULL || remove_one(server, a->words[i], &kind, error) != CM_OK)
      status = -1;
    else if (a->where.json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s}", "kind", kind, "id", a->words[i]));
    else
      cli_printf(stdout, "removed %.*s %s\n", (int)strlen(kind) - 1, kind, a->words[i]);
  }
  if (a->where.json) {
    json_t *told = json_pack("{s:O}", "removed", list);
    cli_print_json(told);
    json_decref(told);
  }
  json_decref(list);
  return status;
}

static int rm(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  for (int flag; (flag = cli_next(&cli_command_rm, argc, argv)) != -1;)
    if (!cli_where_take(&a.where, flag))
      return cli_ended(flag);
  a.words = argv + optind;
  a.count = argc - optind;
  return a.count > 0 ? cli_on_server(&a.where, rm_step, &a) : cli_usage("rm", "no id is named");
}

const cli_command cli_command_rm = {
  .name = "rm", .what = "remove jobs, mappings, programs, networks or chips from a server", .run = rm, .server = true,
  .usage = "ID|CHIP... [--json]",
  .about = "Removes what has these ids or, of chips, names, one after another; it ends with the first that is not there or may not go.",
  .flags = flags};
