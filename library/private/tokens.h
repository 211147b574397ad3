/* Where the tokens are kept by which a client signs in to servers: $COREMAP_TOKEN, or a file of the user's that nobody else may read
 * (docs/how-to/users.md). Never an argument: arguments show in lists of processes. */
#pragma once

#include <jansson.h>

#include "base/status.h"

enum { LIBRARY_TOKEN_MAX = 256 };

/* A file of secrets in ~/.config/coremap as a JSON object, empty when there is none; the caller decrefs. CM_CONFLICT: others can
 * read it; CM_NOT_FOUND: there is no home folder; CM_DAMAGED, CM_IO, CM_NO_MEMORY. Writing replaces it as a whole. */
cm_status library_kept_read(const char *name, json_t **all, cm_error *error);
cm_status library_kept_write(const char *name, const json_t *all, cm_error *error);

/* The token for the server at `url`, "" when there is none. CM_CONFLICT: others can read the file, or the token would go to
 * another machine unencrypted; CM_DAMAGED, CM_IO, CM_NO_MEMORY. */
cm_status library_token_find(const char *url, char token[LIBRARY_TOKEN_MAX], cm_error *error);

/* Keeps a token for a server; NULL forgets the one that is kept, *known (may be NULL) says whether there was one. */
cm_status library_token_keep(const char *url, const char *token, bool *known, cm_error *error);

/* CM_CONFLICT when what goes to `url` could be read on its way. */
cm_status library_token_safe(const char *url, cm_error *error);
