/* Reverse proxies that are trusted: what their headers say of a request counts (docs/listening.md).
 *
 * Happy path: a connection comes from a trusted proxy; X-Forwarded-For is read from its end, over the addresses of trusted
 * proxies, to the first that is none: the client's. X-Forwarded-Proto and -Host say by what URL a browser came.
 * What can fail: a header that does not parse says nothing, and the proxy itself is the client. From all others these
 * headers count for nothing, so that nobody makes himself another address. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "api/internal.h"
#include "base/number.h"

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

static cm_status add(cm_server *server, const char *text, cm_error *error)
{
  char address[INET6_ADDRSTRLEN];
  cm_address at;
  if (strcmp(text, "unix") == 0) {
    server->trust_unix = true;
    return CM_OK;
  }
  const size_t length = strcspn(text, "/");
  (void)snprintf(address, sizeof address, "%.*s", (int)length, text);
  bool good = length < sizeof address && read_address(address, &at);
  const uint64_t most = good && at.any.sa_family == AF_INET ? 32 : 128;
  uint64_t bits = most;
  if (!good || (text[length] == '/' && (!cm_whole_parse(text + length + 1, &bits) || bits < 1 || bits > most)))
    return cm_fail(error, CM_BAD_OPTION,
                   "trusted-proxy is \"%.100s\"; it must be an address such as 10.0.0.2, a network such as 10.0.0.0/28, or"
                   " unix for all who come by a unix socket", text);
  if (server->proxy_count == CM_PROXIES_MAX)
    return cm_fail(error, CM_BAD_OPTION, "trusted-proxy names more than %d addresses: name their network", CM_PROXIES_MAX);
  cm_proxy *p = &server->proxies[server->proxy_count++];
  (void)bytes_of(&at.any, p->bytes);
  p->bits = (unsigned)(bits + 128 - most);
  return CM_OK;
}

cm_status cm_proxies_read(cm_server *server, cm_error *error)
{
  char one[160];
  for (const char *p = server->options.trusted_proxies; (p = cm_list_next(p, one, sizeof one)) != NULL;)
    if (add(server, one, error) != CM_OK)
      return error->status;
  const char *header = server->options.remote_user;
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  if (header[0] != '\0' && strspn(header, letters) != strlen(header))
    return cm_fail(error, CM_BAD_OPTION, "remote-user is \"%.60s\"; it must be the name of a header, such as Remote-User", header);
  if (header[0] != '\0' && !cm_proxies_any(server))
    return cm_fail(error, CM_BAD_OPTION,
                   "remote-user lets a proxy say who somebody is: name the proxy with trusted-proxy");
  return CM_OK;
}

bool cm_proxies_any(const cm_server *server)
{
  return server->proxy_count > 0 || server->trust_unix;
}

bool cm_proxies_trust(const cm_server *server, const struct sockaddr *address)
{
  unsigned char bytes[16];
  if (address->sa_family == AF_UNIX)
    return server->trust_unix;
  if (!bytes_of(address, bytes))
    return false;
  for (size_t i = 0; i < server->proxy_count; i++) {
    const cm_proxy *p = &server->proxies[i];
    const unsigned whole = p->bits / 8, rest = p->bits % 8;
    if (memcmp(bytes, p->bytes, whole) == 0 && (rest == 0 || ((bytes[whole] ^ p->bytes[whole]) >> (8 - rest)) == 0))
      return true;
  }
  return false;
}

void cm_request_come_from(cm_request *request, const struct sockaddr *address)
{
  cm_address_key(address, request->address);
  request->client.any.sa_family = address->sa_family;
  if (address->sa_family == AF_INET)
    memcpy(&request->client.v4, address, sizeof request->client.v4);
  else if (address->sa_family == AF_INET6)
    memcpy(&request->client.v6, address, sizeof request->client.v6);
  request->proxied = cm_proxies_trust(request->server, address);
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
    cm_request_come_from(request, &at.any);
    more = more && request->proxied;
  }
  request->proxied = true;
  request->https = strcasecmp(take_last(said->scheme), "https") == 0;
}
