/* What a service manager (systemd) hands to a service and wants to hear from it, without its library: the sockets are
 * descriptors from 3 on, and messages are datagrams. */
#pragma once

#include "base/status.h"

enum { CM_SOCKETS_MAX = 16 };

/* The sockets that the manager opened for this process (LISTEN_PID, LISTEN_FDS; sd_listen_fds(3)); they are not passed on
 * to children. To be called once, before there are threads. CM_BAD_OPTION: too many. */
cm_status cm_manager_sockets(int sockets[CM_SOCKETS_MAX], size_t *count, cm_error *error);

/* Tells the manager "READY=1" and the like (NOTIFY_SOCKET; sd_notify(3)); nothing where there is none. */
void cm_manager_tell(const char *message);
