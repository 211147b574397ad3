/* What a connection keeps from one request to the next: who asks many small things over one connection is answered with less work.
 *
 * A reply of the library belongs to nobody but the request while it is sent; a connection has one request at a time, so its kept reply is
 * free again when the next one comes. Only what differs is changed in it: the request's id, and the date once a second. */
#include <stdlib.h>
#include <string.h>

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

bool cm_kept_take(cm_request *request, const char *type, const char *body, size_t size)
{
  cm_kept *kept = cm_connections_kept(request->connection);
  if (kept == NULL || request->origin[0] != '\0') /* its reply has other headers */
    return false;
  if ((kept->reply == NULL || kept->body != body) && !cm_kept_make(kept, request, type, body, size))
    return false;
  request->kept = kept;
  request->response = kept->reply;
  return true;
}
