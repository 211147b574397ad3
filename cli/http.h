/* The server that a command line names; requests go by library/private/client.h. */
#pragma once

#include "cli/cli.h"
#include "library/private/client.h"

typedef coremap_client cli_server;
typedef library_request cli_request;
typedef library_reply cli_reply;

/* The server that is named, by --server, --context, $COREMAP_SERVER or a context (cli/context.h), else
 * http://127.0.0.1:8080; nothing is asked yet. `cancel` ends a request that runs. The caller's: coremap_client_free. It signs
 * in with the context's token, or with the one that is kept for it. Errors: those of coremap_client_open and cli_context_find. */
cm_status cli_server_open(const cli_line *line, const atomic_bool *cancel, cli_server **made, cm_error *error);
