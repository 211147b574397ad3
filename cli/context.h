/* Contexts: names for a server and the token for it, one of which is current. They are kept beside the tokens. */
#pragma once

#include "library/private/client.h"
#include "library/private/tokens.h"

enum { CLI_CONTEXT_NAME_MAX = 64 };

typedef struct cli_context {
  char name[CLI_CONTEXT_NAME_MAX]; /* "": none */
  char url[LIBRARY_URL_MAX], token[LIBRARY_TOKEN_MAX]; /* token "": none */
} cli_context;

/* The context `name`; NULL: $COREMAP_CONTEXT, else the current one, or none (name ""). CM_NOT_FOUND: there is no such. */
cm_status cli_context_find(const char *name, cli_context *context, cm_error *error);

/* Keeps a context, and makes it the current one. CM_BAD_REQUEST: its name is not letters, digits, '.', '-' and '_'. */
cm_status cli_context_keep(const char *name, const char *url, const char *token, cm_error *error);

/* Forgets one; *known says whether there was one. */
cm_status cli_context_forget(const char *name, bool *known, cm_error *error);
