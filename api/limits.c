/* The limits as they are now: a reload changes them. */
#include "api/internal.h"

cm_server_limits cm_server_limits_now(cm_server *server)
{
  pthread_mutex_lock(&server->limits_lock);
  cm_server_limits limits = server->limits;
  pthread_mutex_unlock(&server->limits_lock);
  return limits;
}
