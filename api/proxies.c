/* Reverse proxies that are trusted: what their headers say of a request counts (docs/how-to/listening.md).
 *
 * Happy path: a connection comes from a trusted proxy; X-Forwarded-For is read from its end, over the addresses of trusted
 * proxies, to the first that is none: the client's. X-Forwarded-Proto and -Host say by what URL a browser came.
 * Who a proxy is shows its account on a unix socket, or a secret that it sends: an address alone is all who have accounts there.
 * What can fail: a header that does not parse says nothing, and the proxy itself is the client. From all others these
 * headers count for nothing, so that nobody makes himself another address. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/number.h"

enum { SECRET_MIN = 16, SECRET_MAX = 256, SECRET_FILE_MAX = 4096 };

const char *cm_list_next(const char *list, char *one, size_t size)
{
  list += strspn(list, " ,\t");
  size_t length = strcspn(list, " ,\t");
  (void)snprintf(one, size, "%.*s", (int)length, list);
  return length > 0 ? list + length : NULL;
}

/* An address as 16 bytes, IPv4 ones mapped into IPv6. */
static bool bytes_of(const struct sockaddr *address, unsigned char bytes[16])
{
  static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
  if (address->sa_family == AF_INET) {
    memcpy(bytes, mapped, sizeof mapped);
    memcpy(bytes + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
  } else if (address->sa_family == AF_INET6)
    memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
  else
    return false;
  return true;
}

static bool read_address(const char *text, cm_address *made)
{
  *made = (cm_address){0};
  if (inet_pton(AF_INET, text, &made->v4.sin_addr) == 1)
    made->any.sa_family = AF_INET;
  else if (inet_pton(AF_INET6, text, &made->v6.sin6_addr) == 1)
    made->any.sa_family = AF_INET6;
  else
    return false;
  return true;
}

/* An account by its name or number; NULL: the server's own. */
static cm_status add_account(cm_server *server, const char *name, cm_error *error)
{
  uint64_t number = geteuid();
  if (name != NULL && !cm_whole_parse(name, &number)) {
    const struct passwd *found = getpwnam(name); /* at start, when no other thread asks */ // NOLINT(concurrency-mt-unsafe)
    if (found == NULL)
      return cm_fail(error, CM_BAD_OPTION, "trusted-proxy is \"unix:%.60s\"; this machine has no such account", name);
    number = found->pw_uid;
  }
  if (server->proxy_account_count == CM_PROXY_ACCOUNTS_MAX || number >= UINT32_MAX)
    return cm_fail(error, CM_BAD_OPTION, "trusted-proxy names more than %d accounts, or one that cannot be", CM_PROXY_ACCOUNTS_MAX);
  server->proxy_accounts[server->proxy_account_count++] = (uid_t)number;
  return CM_OK;
}

static cm_status add(cm_server *server, const char *text, cm_error *error)
{
  char address[INET6_ADDRSTRLEN];
  cm_address at;
  if (strcmp(text, "unix") == 0 || strncmp(text, "unix:", 5) == 0)
    return add_account(server, text[4] == ':' ? text + 5 : NULL, error);
  const size_t length = strcspn(text, "/");
  (void)snprintf(address, sizeof address, "%.*s", (int)length, text);
  bool good = length < sizeof address && read_address(address, &at);
  const uint64_t most = good && at.any.sa_family == AF_INET ? 32 : 128;
  uint64_t bits = most;
  if (!good || (text[length] == '/' && (!cm_whole_parse(text + length + 1, &bits) || bits < 1 || bits > most)))
    return cm_fail(error, CM_BAD_OPTION,
                   "trusted-proxy is \"%.100s\"; it must be an address such as 10.0.0.2, a network such as 10.0.0.0/28,"
                   " unix:ACCOUNT for that account by a unix socket, or unix for the server's own", text);
  if (server->proxy_count == CM_PROXIES_MAX)
    return cm_fail(error, CM_BAD_OPTION, "trusted-proxy names more than %d addresses: name their network", CM_PROXIES_MAX);
  cm_proxy *p = &server->proxies[server->proxy_count++];
  (void)bytes_of(&at.any, p->bytes);
  p->bits = (unsigned)(bits + 128 - most);
  return CM_OK;
}

static bool same_bits(const unsigned char a[16], const unsigned char b[16], unsigned bits)
{
  const unsigned whole = bits / 8, rest = bits % 8;
  return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

/* Whether a trusted address is one of this machine's own, which all have who have accounts on it. */
static bool trusts_loopback(const cm_server *server)
{
  static const cm_proxy loopback[] = {{.bytes = {[10] = 0xff, [11] = 0xff, [12] = 127}, .bits = 104}, {.bytes = {[15] = 1}, .bits = 128}};
  for (size_t i = 0; i < server->proxy_count; i++)
    for (size_t j = 0; j < sizeof loopback / sizeof *loopback; j++) {
      const cm_proxy *given = &server->proxies[i], *own = &loopback[j];
      if (same_bits(given->bytes, own->bytes, given->bits < own->bits ? given->bits : own->bits))
        return true;
    }
  return false;
}

/* An address is whoever reaches it: on loopback every account of the machine, and who names users must not be that on any. */
static cm_status check_senders(const cm_server *server, cm_error *error)
{
  const bool names_users = server->options.remote_user[0] != '\0';
  if (server->has_proxy_secret || !(names_users ? server->proxy_count > 0 : trusts_loopback(server)))
    return CM_OK;
  return cm_fail(error, CM_BAD_OPTION,
                 "trusted-proxy names %s: every account of that machine could say %s. Let the proxy come by a unix socket (listen unix:/PATH,"
                 " trusted-proxy unix:ACCOUNT), or send " CM_PROXY_SECRET_HEADER " with the text in a file that proxy-secret names",
                 names_users ? "an address, and remote-user a header" : "this machine's own address",
                 names_users ? "who it is, and be anybody" : "what address it has");
}

static cm_status check_remote_user(const cm_server *server, cm_error *error)
{
  const char *header = server->options.remote_user;
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  if (header[0] == '\0')
    return server->options.auto_add ? cm_fail(error, CM_BAD_OPTION, "auto-add adds whom a proxy names: remote-user says by which header")
                                    : CM_OK;
  if (strspn(header, letters) != strlen(header))
    return cm_fail(error, CM_BAD_OPTION, "remote-user is \"%.60s\"; it must be the name of a header, such as Remote-User", header);
  if (!cm_proxies_any(server))
    return cm_fail(error, CM_BAD_OPTION, "remote-user lets a proxy say who somebody is: name the proxy with trusted-proxy");
  return CM_OK;
}

/* The secret's hash; its file must be closed to others, and its text fit a header. */
static cm_status read_secret(cm_server *server, cm_error *error)
{
  const char *path = server->options.proxy_secret;
  struct stat about;
  char *text = NULL;
  size_t size = 0;
  if (path[0] == '\0')
    return CM_OK;
  if (stat(path, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", path);
  if ((about.st_mode & 0007) != 0)
    return cm_fail(error, CM_BAD_OPTION, "proxy-secret %s may be read by all on this machine: chmod 600 it", path);
  CM_TRY(cm_file_read(path, SECRET_FILE_MAX, &text, &size, error));
  while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
    size--;
  bool good = size >= SECRET_MIN && size <= SECRET_MAX;
  for (size_t i = 0; good && i < size; i++)
    good = text[i] > ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\';
  if (good)
    (void)crypto_generichash(server->proxy_secret, sizeof server->proxy_secret, (const unsigned char *)text, size, NULL, 0);
  server->has_proxy_secret = good;
  sodium_memzero(text, size);
  free(text);
  return good ? CM_OK
              : cm_fail(error, CM_BAD_OPTION, "proxy-secret %s must hold one line of %d to %d letters, digits and signs without"
                        " spaces and quotes, such as openssl rand -hex 32 makes", path, SECRET_MIN, SECRET_MAX);
}

cm_status cm_proxies_read(cm_server *server, cm_error *error)
{
  char one[160];
  for (const char *p = server->options.trusted_proxies; (p = cm_list_next(p, one, sizeof one)) != NULL;)
    CM_TRY(add(server, one, error));
  CM_TRY(read_secret(server, error));
  if (server->has_proxy_secret && server->proxy_count == 0)
    return cm_fail(error, CM_BAD_OPTION, "proxy-secret is what proxies send that come from an address: trusted-proxy names none");
  CM_TRY(check_senders(server, error));
  return check_remote_user(server, error);
}

bool cm_proxies_any(const cm_server *server)
{
  return server->proxy_count > 0 || server->proxy_account_count > 0;
}

bool cm_proxies_trust(const cm_server *server, const struct sockaddr *address)
{
  unsigned char bytes[16];
  if (address->sa_family == AF_UNIX)
    return server->proxy_account_count > 0;
  if (!bytes_of(address, bytes))
    return false;
  for (size_t i = 0; i < server->proxy_count; i++)
    if (same_bits(server->proxies[i].bytes, bytes, server->proxies[i].bits))
      return true;
  return false;
}

/* Whether the account at the other end of a unix socket is one that is trusted. */
static bool trusts_account(const cm_server *server, int socket)
{
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return false;
  for (size_t i = 0; i < server->proxy_account_count; i++)
    if (server->proxy_accounts[i] == peer.uid)
      return true;
  return false;
}

/* The request's client has this address. */
static void come_from(cm_request *request, const struct sockaddr *address)
{
  cm_address_key(address, request->address);
  request->client.any.sa_family = address->sa_family;
  if (address->sa_family == AF_INET)
    memcpy(&request->client.v4, address, sizeof request->client.v4);
  else if (address->sa_family == AF_INET6)
    memcpy(&request->client.v6, address, sizeof request->client.v6);
  request->proxied = cm_proxies_trust(request->server, address);
}

void cm_request_meet(cm_request *request)
{
  const union MHD_ConnectionInfo *address = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const union MHD_ConnectionInfo *socket = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (address == NULL || address->client_addr == NULL)
    return;
  come_from(request, address->client_addr);
  if (address->client_addr->sa_family == AF_UNIX)
    request->proxied = socket != NULL && trusts_account(request->server, socket->connect_fd);
}

bool cm_proxies_believe(const cm_request *request, int secrets, const char *secret)
{
  const cm_server *server = request->server;
  unsigned char hash[crypto_generichash_BYTES];
  if (!request->proxied || request->client.any.sa_family == AF_UNIX || !server->has_proxy_secret)
    return request->proxied;
  if (secrets != 1)
    return false;
  (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)secret, strlen(secret), NULL, 0);
  return sodium_memcmp(hash, server->proxy_secret, sizeof hash) == 0;
}

void cm_request_client(const cm_request *request, char text[CM_CLIENT_MAX])
{
  const cm_address *at = &request->client;
  (void)snprintf(text, CM_CLIENT_MAX, "unix");
  if (at->any.sa_family == AF_INET)
    (void)inet_ntop(AF_INET, &at->v4.sin_addr, text, CM_CLIENT_MAX);
  else if (at->any.sa_family == AF_INET6)
    (void)inet_ntop(AF_INET6, &at->v6.sin6_addr, text, CM_CLIENT_MAX);
}

/* The last item of a list: what the nearest proxy said. The list loses it. */
static char *take_last(char *list)
{
  char *comma = strrchr(list, ','), *item = comma != NULL ? comma + 1 : list;
  item += strspn(item, " \t");
  for (size_t end = strlen(item); end > 0 && (item[end - 1] == ' ' || item[end - 1] == '\t'); end--)
    item[end - 1] = '\0';
  if (comma != NULL)
    *comma = '\0';
  return item;
}

/* "1.2.3.4", "1.2.3.4:567", "2001:db8::1", "[2001:db8::1]:567". */
static bool read_forwarded(char *text, cm_address *at)
{
  if (text[0] == '[') {
    text++;
    text[strcspn(text, "]")] = '\0';
  } else if (strchr(text, ':') == strrchr(text, ':'))
    text[strcspn(text, ":")] = '\0';
  return read_address(text, at);
}

void cm_proxies_take(cm_request *request, cm_forwarded *said)
{
  cm_address at;
  if (!request->proxied)
    return;
  for (bool more = said->from[0] != '\0'; more;) {
    more = strchr(said->from, ',') != NULL;
    if (!read_forwarded(take_last(said->from), &at))
      break;
    come_from(request, &at.any);
    more = more && request->proxied;
  }
  request->proxied = true;
  request->https = strcasecmp(take_last(said->scheme), "https") == 0;
}
