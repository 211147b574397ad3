#include "daemon/manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/number.h"

enum { FIRST = 3 };

/* The number in a variable of the environment; false: there is none. */
static bool read_number(const char *name, uint64_t *number)
{
  const char *text = getenv(name);
  return text != NULL && cm_whole_parse(text, number);
}

/* Whether something is for this process and not for one that it came from. */
static bool is_mine(const char *name)
{
  uint64_t process;
  return read_number(name, &process) && process == (uint64_t)getpid();
}

cm_status cm_manager_sockets(int sockets[CM_SOCKETS_MAX], size_t *count, cm_error *error)
{
  uint64_t given = 0;
  if (!is_mine("LISTEN_PID") || !read_number("LISTEN_FDS", &given))
    given = 0;
  if (given > CM_SOCKETS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "the service manager passed %llu sockets; %d are the most",
                   (unsigned long long)given, CM_SOCKETS_MAX);
  for (size_t i = 0; i < given; i++) {
    sockets[i] = FIRST + (int)i;
    (void)fcntl(sockets[i], F_SETFD, FD_CLOEXEC);
  }
  *count = (size_t)given;
  return CM_OK;
}

void cm_manager_tell(const char *message)
{
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path)
    return;
  const size_t length = strlen(path);
  memcpy(to.sun_path, path, length);
  if (path[0] == '@')
    to.sun_path[0] = '\0'; /* an abstract socket */
  int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (from < 0)
    return;
  (void)sendto(from, message, strlen(message), MSG_NOSIGNAL, (const struct sockaddr *)(const void *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  (void)close(from);
}
