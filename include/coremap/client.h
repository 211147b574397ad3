/* coremap: requests to a coremapd server.
 *
 * A client talks to one server and to nobody else: what redirects is an error, and a token goes over https, or in the clear to
 * this machine alone. A reply in JSON has at most 8 MiB, which come within the time-out once they begin, a file at most what
 * $COREMAP_DOWNLOAD_LIMIT says, 64G unless set; a server that sends or takes less than 1 KiB a second for $COREMAP_TIMEOUT
 * seconds, 300 unless set, is given up. $SSL_CERT_FILE says whom to trust instead of the machine's authorities. Clients may be used
 * side by side, each by one thread at a time. */
#ifndef COREMAP_CLIENT_H
#define COREMAP_CLIENT_H

#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_client coremap_client;
typedef struct coremap_reply coremap_reply;

/* A client of the server at `url` ("https://map.lab.example"); nothing is asked yet. `token` signs in; "": nobody does; NULL:
 * $COREMAP_TOKEN, or what `coremap login` keeps for this address. Errors: bad-request (no address, no token), conflict (the token
 * would go unencrypted, or others can read it), no-memory. */
int coremap_client_open(const char *url, const char *token, coremap_client **client, coremap_error **error);

/* Asks for `path` ("/v1/jobs"). `request` is a JSON object, or NULL, with any of "body" (JSON to send), "file" (a file to send
 * instead, by its path), "offset" (where in an upload it begins), "known" (the ETag of what is known), "match" (If-Match) and "output"
 * (the file that a good reply goes to, whole or not at all). `progress`, or NULL, is told at least once a second that the request goes
 * on, with a fraction below 0 where none is known. The caller frees *reply. Errors: what the server says, by its code; io (no answer,
 * not all of it, or none of a server of this kind), too-large, cancelled, no-memory. */
int coremap_client_ask(coremap_client *client, const char *method, const char *path, const char *request, coremap_progress progress,
                       void *user, coremap_reply **reply, coremap_error **error);

/* The status: 304 where what is known is still so; and the ETag, "" when there is none. */
unsigned coremap_reply_status(const coremap_reply *reply);
const char *coremap_reply_etag(const coremap_reply *reply);

/* The JSON object that came; "": none did, or it went to a file. */
const char *coremap_reply_text(const coremap_reply *reply);

void coremap_reply_free(coremap_reply *reply);    /* NULL is allowed */
void coremap_client_free(coremap_client *client); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
