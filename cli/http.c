#include "cli/http.h"

#include <stdlib.h>

#include "cli/context.h"

bool cli_where_take(cli_where *where, int flag)
{
  switch (flag) {
  case CLI_SERVER: where->server = optarg; return true;
  case CLI_CONTEXT: where->context = optarg; return true;
  case CLI_JSON: where->json = true; return true;
  case CLI_QUIET: where->quiet = true; return true;
  default: return false;
  }
}

cm_status cli_server_open(const cli_where *where, const atomic_bool *cancel, cli_server **made, cm_error *error)
{
  cli_context context = {.name = ""};
  const char *given = where->server, *environment = getenv("COREMAP_SERVER");
  if (given != NULL && where->context != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "a context is a server: name either --server or --context");
  if (given == NULL && where->context == NULL && environment != NULL && environment[0] != '\0')
    given = environment;
  if (given == NULL && cli_context_find(where->context, &context, error) != CM_OK)
    return error->status;
  const bool own = context.token[0] != '\0' && getenv("COREMAP_TOKEN") == NULL;
  const char *url = context.name[0] != '\0' ? context.url : given != NULL ? given : "http://127.0.0.1:8080";
  return library_client_open(url, own ? context.token : NULL, cancel, made, error);
}
