/* Requests of the commands that talk to a server: submit, wait, get, cancel. */
#ifndef CM_CLI_HTTP_H
#define CM_CLI_HTTP_H

#include <stdio.h>

#include "cli/cli.h"

typedef struct cli_server cli_server;

/* What the command line says of the server; NULL: nothing. */
typedef struct cli_where {
  const char *server, *context;
  bool json, quiet; /* and of what is printed */
} cli_where;

/* Takes one of CLI_SERVER_FLAGS, --json or --quiet with its argument (optarg); false: it is another flag. */
bool cli_where_take(cli_where *where, int flag);

/* The server that is named, by --server, --context, $COREMAP_SERVER or a context (cli/context.h), else
 * http://127.0.0.1:8080; nothing is asked yet. `cancel` ends a request that runs. The caller's: cli_server_close. It signs
 * in with the context's token, or with the one that is kept for it (cli/token.h). Errors: CM_BAD_REQUEST (no URL), those of
 * cli_token_find and cli_context_find, memory. */
cm_status cli_server_open(const cli_where *where, const atomic_bool *cancel, cli_server **made, cm_error *error);
void cli_server_close(cli_server *server);

/* Its address without a slash at the end; and another token than the one that is kept for it. */
const char *cli_server_url(const cli_server *server);
void cli_server_use(cli_server *server, const char *token);

typedef struct cli_request {
  const char *method, *path; /* path begins with '/' */
  const json_t *body;        /* NULL: none, or a file */
  FILE *upload;              /* the body, from here on; NULL: none */
  FILE *download;            /* takes the body of a good reply as it comes; NULL: it is JSON */
  const char *known;         /* ETag that is known already: 304 when nothing changed; NULL or "": none */
  const char *match;         /* If-Match; NULL: none */
  cm_run *run;               /* told how far an upload or download is; NULL: nobody */
} cli_request;

typedef struct cli_reply {
  long status;
  json_t *json; /* the caller's; NULL: none, or downloaded */
  char etag[128];
} cli_reply;

/* One request. Errors: that of the server's problem reply, by its code; CM_IO when there is no reply; CM_CANCELLED. */
cm_status cli_server_ask(cli_server *server, const cli_request *request, cli_reply *reply, cm_error *error);

/* `text` as one segment of a path, a newly allocated string; NULL: no memory. */
char *cli_url_segment(cli_server *server, const char *text);

#endif
