/* What a connection keeps from one request to the next: who asks many small things over one connection is answered with less work.
 *
 * A reply of the library belongs to nobody but the request while it is sent; a connection has one request at a time, so its kept reply is
 * free again when the next one comes. Only what differs is changed in it: the request's id, and the date once a second. */

#include "api/internal.h"

cm_request *cm_kept_lend(struct MHD_Connection *handle)
{
  cm_kept *kept = cm_connections_kept(handle);
  cm_request *request = kept != NULL ? kept->request : NULL;
  if (request == NULL)
    return calloc(1, sizeof *request);
  kept->request = NULL;
  memset(request, 0, offsetof(cm_request, error));
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

/* What may be kept for a request; NULL: its reply has other headers. */
static cm_kept *kept_for(const cm_request *request)
{
  return request->origin[0] == '\0' ? cm_connections_kept(request->connection) : NULL;
}

bool cm_kept_has(const cm_request *request, uint64_t copy)
{
  const cm_kept *kept = kept_for(request);
  return kept != NULL && kept->reply != NULL && kept->copy == copy;
}

bool cm_kept_take(cm_request *request, const cm_same *same)
{
  cm_kept *kept = kept_for(request);
  if (kept == NULL)
    return false;
  const bool is_kept = kept->reply != NULL && kept->copy == same->copy && (same->copy != 0 || kept->body == same->body);
  if (!is_kept && !cm_kept_make(kept, request, same))
    return same->copy != 0;
  request->kept = kept;
  request->response = kept->reply;
  return true;
}
