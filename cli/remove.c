/* coremap rm: removes things of a server, of whatever kind. */

#include "cli/remote.h"

static const cli_flag flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

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

static cm_status rm(void *given, coremap_client *server, CM_UNUSED cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  const cli_line *line = given;
  json_t *list = json_array();
  cm_status status = CM_OK;
  for (int i = 0; i < line->count && status == CM_OK; i++) {
    const char *kind = "", *word = line->words[i];
    status = word[0] == '\0' || strchr(word, '/') != NULL ? cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id or name", word)
                                                          : remove_one(server, word, &kind, error);
    if (status == CM_OK && line->json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s}", "kind", kind, "id", word));
    else if (status == CM_OK)
      cli_printf(stdout, "removed %.*s %s\n", (int)strlen(kind) - 1, kind, word);
  }
  if (line->json) {
    json_t *told = json_pack("{s:O}", "removed", list);
    cli_print_json(told);
    json_decref(told);
  }
  json_decref(list);
  return status;
}

const cli_command cli_command_rm = {
  .name = "rm", .what = "remove jobs, mappings, programs, networks or chips from a server", .ask = rm, .word = "id or chip", .least = 1, .most = CLI_ANY, .server = true,
  .usage = "ID|CHIP... [--json]",
  .about = "Removes what has these ids or, of chips, names, one after another; it ends with the first that is not there or may not go.",
  .flags = flags};
