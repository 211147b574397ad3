/* Happy path: GET /readyz over the socket, of which the status line is looked at. What can fail: nobody listens, or answers within ten
 * seconds; the server is not ready, and says why. */
#include "daemon/health.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/command.h"

enum { PATIENCE_S = 10, REPLY_MAX = 4096 };

static const char usage[] =
  "usage: coremapd health unix:/PATH\n"
  "\n"
  "Asks the server that listens there (--listen unix:/PATH) whether it is ready: exit status 0, or 1 and why it is not. For the health\n"
  "checks of containers and managers; over TCP any client asks GET /readyz.\n";

/* A connected socket; -1: errno says why. */
static int connect_to(const char *path)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const struct timeval patience = {.tv_sec = PATIENCE_S};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle >= 0 && (setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
                      setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
                      connect(handle, (const struct sockaddr *)&address, sizeof address) != 0)) {
    const int why = errno;
    (void)close(handle);
    errno = why;
    return -1;
  }
  return handle;
}

/* The reply to GET /readyz as text; false: there is none. */
static bool ask(int handle, char reply[REPLY_MAX])
{
  static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  size_t used = 0;
  ssize_t got = send(handle, request, sizeof request - 1, MSG_NOSIGNAL);
  if (got != (ssize_t)sizeof request - 1)
    return false;
  while (used + 1 < REPLY_MAX && (got = recv(handle, reply + used, REPLY_MAX - 1 - used, 0)) > 0)
    used += (size_t)got;
  reply[used] = '\0';
  return got >= 0 && strncmp(reply, "HTTP/1.1 ", 9) == 0;
}

int cm_health_run(int count, char **words)
{
  char reply[REPLY_MAX];
  if (count == 3 && (strcmp(words[2], "--help") == 0 || strcmp(words[2], "-h") == 0)) {
    (void)fputs(usage, stdout);
    return EXIT_SUCCESS;
  }
  if (count != 3 || strncmp(words[2], "unix:/", 6) != 0)
    return cm_command_wrong("health", "a socket is needed, unix:/PATH, not ", count > 2 ? words[2] : "nothing");
  const int handle = connect_to(words[2] + 5);
  const bool answered = handle >= 0 && ask(handle, reply);
  if (!answered)
    (void)fprintf(stderr, "coremapd: no answer from %s: %s\n", words[2], strerror(errno));
  if (handle >= 0)
    (void)close(handle);
  if (!answered)
    return EXIT_FAILURE;
  const bool ready = strncmp(reply + 9, "200 ", 4) == 0;
  const char *detail = strstr(reply, "\"detail\": ");
  if (!ready)
    (void)fprintf(stderr, "coremapd: not ready: %.*s\n", (int)strcspn(detail != NULL ? detail + 10 : reply, "\r\n"), detail != NULL ? detail + 10 : reply);
  return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
