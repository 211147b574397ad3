/* The sockets that clients come to. They are ours and not the library's, because only then may an address be taken over
 * that a server killed a moment ago still has old connections on (SO_REUSEADDR; while another one listens there, Linux
 * refuses it all the same), and because a service manager may have opened them (socket activation).
 *
 * Who would be reached by whom is decided before the first one opens: a place that others than this user reach needs users,
 * and one beyond this machine TLS, or proxies that have it and are the only ones let in (connections.c asks cm_listen_admits). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/number.h"

enum { BACKLOG = 4096 };

/* ---- where ---- */

/* "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:/PATH". */
static cm_status read_place(const char *text, cm_place *place, cm_error *error)
{
  const char *colon = strrchr(text, ':'), *from = text;
  char address[INET6_ADDRSTRLEN];
  uint64_t port = 0;
  *place = (cm_place){0};
  if (strncmp(text, "unix:", 5) == 0) {
    if (text[5] != '/' || strlen(text + 5) >= sizeof place->at.local.sun_path)
      return cm_fail(error, CM_BAD_OPTION, "listen is \"%.150s\"; a unix socket is unix:/PATH, of at most %zu bytes", text,
                     sizeof place->at.local.sun_path - 1);
    place->at.local.sun_family = AF_UNIX;
    memcpy(place->at.local.sun_path, text + 5, strlen(text + 5) + 1);
    place->size = sizeof place->at.local;
    return CM_OK;
  }
  size_t length = colon != NULL ? (size_t)(colon - text) : 0;
  if (length >= 2 && text[0] == '[' && text[length - 1] == ']') { /* [::1]:8080 */
    from++;
    length -= 2;
  }
  if (colon == NULL || length == 0 || length >= sizeof address || !cm_whole_parse(colon + 1, &port) || port > 65535)
    return cm_fail(error, CM_BAD_OPTION, "listen is \"%.150s\"; it must be ADDRESS:PORT, such as 127.0.0.1:8080, or"
                   " unix:/PATH", text);
  (void)snprintf(address, sizeof address, "%.*s", (int)length, from);
  if (inet_pton(AF_INET, address, &place->at.v4.sin_addr) == 1) {
    place->at.v4.sin_family = AF_INET;
    place->at.v4.sin_port = htons((uint16_t)port);
    place->size = sizeof place->at.v4;
  } else if (inet_pton(AF_INET6, address, &place->at.v6.sin6_addr) == 1) {
    place->at.v6.sin6_family = AF_INET6;
    place->at.v6.sin6_port = htons((uint16_t)port);
    place->size = sizeof place->at.v6;
  } else
    return cm_fail(error, CM_BAD_OPTION, "\"%s\" is no numeric address; 127.0.0.1, [::1] or 0.0.0.0 would do", address);
  return CM_OK;
}

/* A socket that was handed to this process. */
static cm_status read_socket(int descriptor, cm_place *place, cm_error *error)
{
  int listens = 0, kind = 0;
  socklen_t size = sizeof listens, kind_size = sizeof kind;
  *place = (cm_place){.size = sizeof place->at};
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &kind_size) != 0 || listens == 0 || kind != SOCK_STREAM ||
      getsockname(descriptor, &place->at.any, &place->size) != 0 ||
      (place->at.any.sa_family != AF_INET && place->at.any.sa_family != AF_INET6 && place->at.any.sa_family != AF_UNIX))
    return cm_fail(error, CM_BAD_OPTION,
                   "descriptor %d, which the service manager passed, is no listening stream socket of IP or unix: the"
                   " socket unit needs ListenStream=", descriptor);
  return CM_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
  if (address->sa_family == AF_INET)
    return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24) == 127;
  const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
  return address->sa_family == AF_INET6 &&
         (IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127));
}

/* Whether others than this user may connect to a unix socket. */
static bool is_shared(const cm_listener *l, unsigned mode)
{
  struct stat about;
  if (l->given)
    return l->place.size <= sizeof(sa_family_t) || stat(l->place.at.local.sun_path, &about) != 0 ||
           (about.st_mode & 0077) != 0 || about.st_uid != geteuid();
  return (mode & 0077) != 0;
}

void cm_listen_name(const cm_listener *l, char *name, size_t size)
{
  const cm_place *p = &l->place;
  char address[INET6_ADDRSTRLEN] = "";
  if (p->at.any.sa_family == AF_UNIX) {
    (void)snprintf(name, size, "unix:%s", p->size > sizeof(sa_family_t) ? p->at.local.sun_path : "");
    return;
  }
  bool v6 = p->at.any.sa_family == AF_INET6;
  (void)inet_ntop(p->at.any.sa_family, v6 ? (const void *)&p->at.v6.sin6_addr : &p->at.v4.sin_addr, address, sizeof address);
  (void)snprintf(name, size, "http%s://%s%s%s:%u", l->tls ? "s" : "", v6 ? "[" : "", address, v6 ? "]" : "",
                 ntohs(v6 ? p->at.v6.sin6_port : p->at.v4.sin_port));
}

/* ---- whether that will do ---- */

static cm_status add(cm_server *server, const cm_place *place, int given, cm_error *error)
{
  if (server->listener_count == CM_LISTENERS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "listen names more than %d places", CM_LISTENERS_MAX);
  cm_listener *l = &server->listeners[server->listener_count++];
  *l = (cm_listener){.server = server, .place = *place, .socket = given, .given = given >= 0};
  bool local = place->at.any.sa_family == AF_UNIX;
  l->tls = !local && server->options.tls_certificate[0] != '\0';
  l->beyond = !local && !is_loopback(&place->at.any);
  server->exposed = server->exposed || l->beyond || (local && is_shared(l, server->options.socket_mode));
  return CM_OK;
}

static cm_status read_places(cm_server *server, cm_error *error)
{
  const cm_server_options *o = &server->options;
  cm_place place;
  for (size_t i = 0; i < o->socket_count; i++)
    if (read_socket(o->sockets[i], &place, error) != CM_OK || add(server, &place, o->sockets[i], error) != CM_OK)
      return error->status;
  char one[160];
  for (const char *p = o->listen; o->socket_count == 0 && (p = cm_list_next(p, one, sizeof one)) != NULL;)
    if (read_place(one, &place, error) != CM_OK || add(server, &place, -1, error) != CM_OK)
      return error->status;
  return server->listener_count > 0 ? CM_OK : cm_fail(error, CM_BAD_OPTION, "listen names no place: 127.0.0.1:8080 is one");
}

cm_status cm_listen_check(cm_server *server, cm_error *error)
{
  const cm_server_options *o = &server->options;
  bool users, tls = o->tls_certificate[0] != '\0';
  char name[160];
  if (tls != (o->tls_key[0] != '\0'))
    return cm_fail(error, CM_BAD_OPTION, "tls-certificate and tls-key come together");
  CM_TRY(read_places(server, error));
  for (size_t i = 0; i < server->listener_count; i++)
    if (server->listeners[i].beyond && !tls && !cm_proxies_any(server)) {
      cm_listen_name(&server->listeners[i], name, sizeof name);
      return cm_fail(error, CM_BAD_OPTION,
                     "%s is more than this machine: that needs TLS (tls-certificate and tls-key), or a reverse proxy that"
                     " has it, before a loopback address (public-url) or named by its address (trusted-proxy)", name);
    }
  server->exposed = server->exposed || o->public_url[0] != '\0' || cm_proxies_any(server);
  server->secure = server->secure || tls;
  CM_TRY(cm_users_exist(o->store->database, &users, error));
  return users || !server->exposed
             ? CM_OK
             : cm_fail(error, CM_BAD_OPTION,
                       "whoever reaches a server without users may do all, and this one would be reached from outside: make"
                       " the first user with coremapd user add NAME --role admin");
}

bool cm_listen_admits(const cm_listener *listener, const struct sockaddr *address)
{
  return !listener->beyond || listener->tls || is_loopback(address) ||
         cm_proxies_trust(listener->server, address);
}

/* ---- opening ---- */

static cm_status cannot(const cm_listener *l, int cause, cm_error *error)
{
  char name[160];
  cm_listen_name(l, name, sizeof name);
  return cm_fail(error, CM_CONFLICT, "cannot listen on %s: %s%s", name, strerror(cause),
                 cause == EADDRINUSE ? "; another server listens there: stop it, or take another place with --listen" : "");
}

/* A socket's file that nobody listens behind any more is taken away; one that somebody does is EADDRINUSE. */
static bool clear_path(const cm_place *place)
{
  struct stat about;
  if (lstat(place->at.local.sun_path, &about) != 0)
    return true;
  if (!S_ISSOCK(about.st_mode)) {
    errno = EEXIST;
    return false;
  }
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool alive = probe >= 0 && connect(probe, &place->at.any, place->size) == 0;
  if (probe >= 0)
    (void)close(probe);
  errno = EADDRINUSE;
  return !alive && unlink(place->at.local.sun_path) == 0;
}

static cm_status open_one(cm_listener *l, unsigned mode, cm_error *error)
{
  cm_place *p = &l->place;
  const int family = p->at.any.sa_family, yes = 1;
  int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  /* The file is made with this process's umask (077), so that nobody comes in before the mode is the wanted one. */
  bool open = made >= 0 && (family != AF_UNIX || clear_path(p)) &&
              (family == AF_UNIX || setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0) &&
              (family != AF_INET6 || setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) == 0) &&
              bind(made, &p->at.any, p->size) == 0 &&
              (family != AF_UNIX || chmod(p->at.local.sun_path, mode) == 0) && listen(made, BACKLOG) == 0 &&
              (family == AF_UNIX || getsockname(made, &p->at.any, &p->size) == 0);
  if (!open) {
    int cause = errno;
    if (made >= 0)
      (void)close(made);
    return cannot(l, cause, error);
  }
  l->socket = made;
  return CM_OK;
}

cm_status cm_listen(cm_server *server, cm_error *error)
{
  for (size_t i = 0; i < server->listener_count; i++) {
    cm_listener *l = &server->listeners[i];
    if (l->given)
      (void)fcntl(l->socket, F_SETFL, fcntl(l->socket, F_GETFL) | O_NONBLOCK);
    else if (open_one(l, server->options.socket_mode, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

void cm_listen_close(cm_server *server)
{
  for (size_t i = 0; i < server->listener_count; i++) {
    cm_listener *l = &server->listeners[i];
    if (l->socket < 0 || l->closed)
      continue;
    l->closed = true;
    (void)close(l->socket);
    if (!l->given && l->place.at.any.sa_family == AF_UNIX)
      (void)unlink(l->place.at.local.sun_path);
  }
}
