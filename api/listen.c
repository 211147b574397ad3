/* The socket that clients come to. It is ours and not the library's, because only then may an address be taken over
 * that a server killed a moment ago still has old connections on (SO_REUSEADDR; while another one listens there, Linux
 * refuses it all the same). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/internal.h"

enum { BACKLOG = 4096 };

typedef union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} address;

static cm_status read_address(const cm_server_options *options, address *to, socklen_t *size, cm_error *error)
{
  *to = (address){0};
  if (inet_pton(AF_INET, options->address, &to->v4.sin_addr) == 1) {
    to->v4.sin_family = AF_INET;
    to->v4.sin_port = htons(options->port);
    *size = sizeof to->v4;
  } else if (inet_pton(AF_INET6, options->address, &to->v6.sin6_addr) == 1) {
    to->v6.sin6_family = AF_INET6;
    to->v6.sin6_port = htons(options->port);
    *size = sizeof to->v6;
  } else
    return cm_fail(error, CM_BAD_OPTION, "\"%s\" is no numeric address; 127.0.0.1 or [::1] would do", options->address);
  return CM_OK;
}

static bool is_loopback(const address *at)
{
  return at->any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr)
                                       : (ntohl(at->v4.sin_addr.s_addr) >> 24) == 127;
}

/* The host of "https://HOST[:PORT]"; false: it is no such URL. */
static bool read_public(const char *url, char *host, size_t size, bool *secure)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
  *secure = strncmp(url, "https://", 8) == 0;
  if (!*secure && strncmp(url, "http://", 7) != 0)
    return false;
  const char *name = strstr(url, "://") + 3;
  size_t length = strspn(name, letters);
  if (length == 0 || length >= size || (name[length] != '\0' && strcmp(name + length, "/") != 0))
    return false;
  (void)snprintf(host, size, "%.*s", (int)length, name);
  return true;
}

cm_status cm_listen_check(cm_server *server, cm_error *error)
{
  const cm_server_options *o = &server->options;
  address at;
  socklen_t size;
  bool users, tls = o->tls_certificate[0] != '\0', public_secure = false;
  if (read_address(o, &at, &size, error) != CM_OK)
    return error->status;
  if (tls != (o->tls_key[0] != '\0'))
    return cm_fail(error, CM_BAD_OPTION, "tls-certificate and tls-key come together");
  if (o->public_url[0] != '\0' &&
      !read_public(o->public_url, server->public_host, sizeof server->public_host, &public_secure))
    return cm_fail(error, CM_BAD_OPTION,
                   "public-url is \"%.200s\"; it must be such as https://map.lab.example, without a path", o->public_url);
  if (!is_loopback(&at) && !tls)
    return cm_fail(error, CM_BAD_OPTION,
                   "%s is more than this machine: that needs TLS (tls-certificate and tls-key), or a reverse proxy that has it,"
                   " before a loopback address (public-url)", o->address);
  server->exposed = !is_loopback(&at) || o->public_url[0] != '\0';
  server->secure = tls || public_secure;
  if (cm_users_exist(o->store->database, &users, error) != CM_OK)
    return error->status;
  return users || !server->exposed
             ? CM_OK
             : cm_fail(error, CM_BAD_OPTION,
                       "whoever reaches a server without users may do all, and this one would be reached from outside: make"
                       " the first user with coremapd user add NAME --role admin");
}

static cm_status cannot(const cm_server_options *options, const address *at, int cause, cm_error *error)
{
  bool v6 = at->any.sa_family == AF_INET6;
  return cm_fail(error, CM_CONFLICT, "cannot listen on %s%s%s:%u: %s%s", v6 ? "[" : "", options->address,
                 v6 ? "]" : "", options->port, strerror(cause),
                 cause == EADDRINUSE ? "; another server listens there: stop it, or take another port with --listen"
                                     : "");
}

cm_status cm_listen(const cm_server_options *options, int *descriptor, uint16_t *port, cm_error *error)
{
  address at;
  socklen_t size;
  const int yes = 1;
  if (read_address(options, &at, &size, error) != CM_OK)
    return error->status;
  int made = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool open = made >= 0 && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
              (at.any.sa_family != AF_INET6 || setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) == 0) &&
              bind(made, &at.any, size) == 0 && listen(made, BACKLOG) == 0 &&
              getsockname(made, &at.any, &size) == 0;
  if (!open) {
    int cause = errno;
    if (made >= 0)
      (void)close(made);
    return cannot(options, &at, cause, error);
  }
  *descriptor = made;
  *port = ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
  return CM_OK;
}
