/* What a connection keeps from one request to the next: who asks many small things over one connection is answered with less work.
 *
 * A reply of the library belongs to nobody but the request while it is sent; a connection has one request at a time, so its kept reply is
 * free again when the next one comes. Only what differs is changed in it: the request's id, and the date once a second. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/internal.h"

cm_request *cm_kept_lend(struct MHD_Connection *handle)
{
  cm_kept *kept = cm_connections_kept(handle);
  cm_request *request = kept != NULL ? kept->request : NULL;
  if (request == NULL)
    return calloc(1, sizeof *request);
  kept->request = NULL;
  memset(request, 0, sizeof *request);
  return request;
}

void cm_kept_return(struct MHD_Connection *handle, cm_request *request)
{
  cm_kept *kept = cm_connections_kept(handle);
  if (kept != NULL && kept->request == NULL)
    kept->request = request;
  else
    free(request);
}

static void drop_reply(cm_kept *kept)
{
  if (kept->reply != NULL)
    MHD_destroy_response(kept->reply);
  kept->reply = NULL;
  kept->id[0] = '\0';
  kept->second = 0;
}

static bool make_reply(cm_kept *kept, const cm_request *request, const char *type, const char *body, size_t size)
{
  drop_reply(kept);
  kept->reply = MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);
  kept->body = body;
  bool whole = kept->reply != NULL && MHD_add_response_header(kept->reply, "Content-Type", type) == MHD_YES &&
               MHD_add_response_header(kept->reply, "Cache-Control", "no-cache") == MHD_YES;
  for (const cm_header *h = cm_safety_headers; whole && h->name != NULL; h++)
    whole = MHD_add_response_header(kept->reply, h->name, h->value) == MHD_YES;
  if (whole && request->server->options.cors_origins[0] != '\0')
    whole = MHD_add_response_header(kept->reply, "Vary", "Origin") == MHD_YES;
  if (!whole)
    drop_reply(kept);
  return whole;
}

bool cm_kept_take(cm_request *request, const char *type, const char *body, size_t size)
{
  cm_kept *kept = cm_connections_kept(request->connection);
  if (kept == NULL || request->origin[0] != '\0') /* its reply has other headers */
    return false;
  if ((kept->reply == NULL || kept->body != body) && !make_reply(kept, request, type, body, size))
    return false;
  request->kept = kept;
  request->response = kept->reply;
  return true;
}

bool cm_http_date(time_t when, char text[CM_HTTP_DATE_MAX])
{
  struct tm parts;
  return gmtime_r(&when, &parts) != NULL && strftime(text, CM_HTTP_DATE_MAX, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0;
}

static bool date_reply(cm_kept *kept)
{
  char text[CM_HTTP_DATE_MAX];
  const time_t now = time(NULL);
  if (now == kept->second)
    return true;
  kept->second = now;
  return cm_http_date(now, text) &&
         MHD_add_response_header(kept->reply, "Date", text) == MHD_YES; /* it takes the older one's place */
}

bool cm_kept_name(cm_request *request)
{
  cm_kept *kept = request->kept;
  bool sound = kept->id[0] == '\0' || MHD_del_response_header(kept->reply, "X-Request-Id", kept->id) == MHD_YES;
  memcpy(kept->id, request->id, sizeof kept->id);
  sound = sound && MHD_add_response_header(kept->reply, "X-Request-Id", kept->id) == MHD_YES && date_reply(kept);
  if (sound)
    return true;
  drop_reply(kept);
  request->kept = NULL;
  request->response = NULL;
  return false;
}

void cm_kept_release(cm_request *request)
{
  if (request->response != NULL && request->kept == NULL)
    MHD_destroy_response(request->response);
  request->response = NULL;
  request->kept = NULL;
}

void cm_kept_clear(cm_kept *kept)
{
  drop_reply(kept);
  free(kept->request);
  kept->request = NULL;
}
