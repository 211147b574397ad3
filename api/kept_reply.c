/* The kept reply of a connection: made once, named and dated anew for each request. */
#include "api/internal.h"

#include <time.h>

static void drop_reply(cm_kept *kept)
{
  if (kept->reply != NULL)
    MHD_destroy_response(kept->reply);
  kept->reply = NULL;
  kept->id[0] = '\0';
  kept->second = 0;
}

bool cm_kept_make(cm_kept *kept, const cm_request *request, const cm_same *same)
{
  char tag[80];
  drop_reply(kept);
  kept->reply = MHD_create_response_from_buffer(same->size, (void *)(uintptr_t)same->body,
                                                same->copy != 0 ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
  if (kept->reply == NULL && same->copy != 0)
    free((void *)(uintptr_t)same->body);
  kept->body = same->copy == 0 ? same->body : NULL;
  kept->copy = same->copy;
  bool whole = kept->reply != NULL && MHD_add_response_header(kept->reply, "Content-Type", same->type) == MHD_YES &&
               MHD_add_response_header(kept->reply, "Cache-Control", "no-cache") == MHD_YES;
  if (whole && same->copy != 0) {
    (void)snprintf(tag, sizeof tag, "\"%s\"", same->tag);
    whole = MHD_add_response_header(kept->reply, "ETag", tag) == MHD_YES;
  }
  for (const cm_header *h = cm_safety_headers; whole && h->name != NULL; h++)
    whole = MHD_add_response_header(kept->reply, h->name, h->value) == MHD_YES;
  if (whole && request->server->options.cors_origins[0] != '\0')
    whole = MHD_add_response_header(kept->reply, "Vary", "Origin") == MHD_YES;
  if (!whole)
    drop_reply(kept);
  return whole;
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
