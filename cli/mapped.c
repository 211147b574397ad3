#include "cli/mapped.h"

#include <stdio.h>

cm_status cli_get_mapping(const cli_where *where, cli_run *cli, const char *id, const char *view, FILE *stream, cm_error *error)
{
  cli_server *server = NULL;
  cli_reply job = {0}, reply = {0};
  char path[300], mapping[80];
  CM_TRY(cli_server_open(where, cli->run.cancel, &server, error));
  (void)snprintf(mapping, sizeof mapping, "%.64s", id);
  (void)snprintf(path, sizeof path, "/v1/jobs/%s", mapping);
  const cli_request look = {.method = "GET", .path = path};
  cm_status status = library_client_ask(server, &look, &job, error);
  if (status == CM_OK) {
    const char *made = json_string_value(json_object_get(job.json, "mapping"));
    if (made == NULL)
      status = cm_fail(error, CM_CONFLICT, "job %s has made no mapping (yet)", id);
    (void)snprintf(mapping, sizeof mapping, "%s", made != NULL ? made : "");
  } else if (status == CM_NOT_FOUND)
    status = CM_OK;
  json_decref(job.json);
  (void)snprintf(path, sizeof path, "/v1/mappings/%s%.200s", mapping, view);
  const cli_request get = {.method = "GET", .path = path, .download = stream, .run = &cli->run};
  CM_THEN(status, library_client_ask(server, &get, &reply, error));
  json_decref(reply.json);
  coremap_client_free(server);
  return status;
}
