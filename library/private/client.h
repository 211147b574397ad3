/* Requests to a server as our own commands make them, with streams, runs and jansson's JSON in place of the files and texts of
 * coremap/client.h, which stands on this. */
#pragma once

#include <coremap/client.h>
#include <jansson.h>
#include <stdatomic.h>

#include "base/run.h"

enum { LIBRARY_URL_MAX = 512 };

typedef struct library_request {
  const char *method, *path; /* path begins with '/' */
  const json_t *body;        /* NULL: none, or a file */
  FILE *upload;              /* the body, from here on; NULL: none */
  FILE *download;            /* takes the body of a good reply as it comes; NULL: it is JSON */
  bool in_memory;            /* what is downloaded: it may have as many bytes as JSON */
  const char *known;         /* ETag that is known already: 304 when nothing changed; NULL or "": none */
  const char *match;         /* If-Match; NULL: none */
  const char *offset;        /* Upload-Offset; NULL: none */
  cm_run *run;               /* told how far an upload or download is; NULL: nobody */
} library_request;

typedef struct library_reply {
  long status;
  json_t *json; /* an object, the caller's; NULL: none, or downloaded */
  char etag[128];
} library_reply;

/* As coremap_client_open; `cancel`, which may be NULL, ends a request that runs. */
cm_status library_client_open(const char *url, const char *token, const atomic_bool *cancel, coremap_client **made, cm_error *error);

/* Its address without a slash at the end; and another token than the one that it has. */
const char *library_client_url(const coremap_client *client);
void library_client_use(coremap_client *client, const char *token);

/* One request. Errors: that of the server's problem reply, by its code; CM_IO when there is no reply; CM_TOO_LARGE; CM_CANCELLED. */
cm_status library_client_ask(coremap_client *client, const library_request *request, library_reply *reply, cm_error *error);

/* `text` as one segment of a path, a newly allocated string; NULL: no memory. */
char *library_client_segment(coremap_client *client, const char *text);
