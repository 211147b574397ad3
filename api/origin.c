/* By what names and from which pages the server may be asked.
 *
 * Its own name is that of public-url; other names than that, addresses and localhost are refused, so that a name server in
 * somebody else's hand opens nothing. What changes something must come from a page of the server's own, or of an origin that
 * cors-origin lists, whose pages may read replies too but never use a session's cookie. */
#include <strings.h>

#include "api/internal.h"

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
static const char path_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~/";

/* Host and rest of "https://HOST[:PORT]REST"; 0: it is no such URL. */
static size_t read_host(const char *url, const char **host, bool *secure)
{
  *secure = strncmp(url, "https://", 8) == 0;
  if (!*secure && strncmp(url, "http://", 7) != 0)
    return 0;
  *host = strstr(url, "://") + 3;
  return strspn(*host, name_letters);
}

static bool is_clean_path(const char *path)
{
  return path[0] == '/' && strspn(path, path_letters) == strlen(path) && strstr(path, "//") == NULL &&
         strstr(path, "/.") == NULL;
}

static bool read_public(cm_server *server, const char *url)
{
  const char *host = NULL;
  size_t length = read_host(url, &host, &server->secure);
  if (length == 0 || length >= sizeof server->public_host)
    return false;
  const char *path = host + length;
  size_t size = strlen(path);
  if (size > 0 && (!is_clean_path(path) || size >= sizeof server->base))
    return false;
  (void)snprintf(server->public_host, sizeof server->public_host, "%.*s", (int)length, host);
  (void)snprintf(server->public_origin, sizeof server->public_origin, "%.*s", (int)(path - url), url);
  size -= size > 0 && path[size - 1] == '/';
  (void)snprintf(server->base, sizeof server->base, "%.*s", (int)size, path);
  return true;
}

cm_status cm_origin_read(cm_server *server, cm_error *error)
{
  const cm_server_options *o = &server->options;
  char one[300];
  if (o->public_url[0] != '\0' && !read_public(server, o->public_url))
    return cm_fail(error, CM_BAD_OPTION,
                   "public-url is \"%.200s\"; it must be such as https://map.lab.example or https://lab.example/maps", o->public_url);
  for (const char *p = o->cors_origins; (p = cm_list_next(p, one, sizeof one)) != NULL;) {
    const char *host = NULL;
    bool secure;
    size_t length = read_host(one, &host, &secure);
    if (length == 0 || host[length] != '\0')
      return cm_fail(error, CM_BAD_OPTION,
                     "cors-origin is \"%.200s\"; it must be such as https://notebook.lab.example, without a path", one);
  }
  return CM_OK;
}

/* The name of a Host value without its port. */
static bool is_loopback_name(const char *host)
{
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t length = strlen(names[i]);
    if (strncasecmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
      return true;
  }
  return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.:") == strlen(host);
}

/* By which this server may be called. A name that somebody else's name server leads here is none; an address is no name. */
static bool is_own_name(const cm_server *server, const char *host)
{
  bool address = host[0] == '[' || strspn(host, "0123456789.:") == strlen(host);
  return is_loopback_name(host) || (server->exposed && address) ||
         (server->public_host[0] != '\0' && strcasecmp(host, server->public_host) == 0);
}

static bool is_listed(const cm_server *server, const char *origin)
{
  char one[300];
  for (const char *p = server->options.cors_origins; (p = cm_list_next(p, one, sizeof one)) != NULL;)
    if (strcasecmp(one, origin) == 0)
      return true;
  return false;
}

/* "https://map.lab.example" is an origin of this host. */
static bool is_of(const char *origin, const char *host)
{
  const char *after = strstr(origin, "://");
  return after != NULL && strcasecmp(after + 3, host) == 0;
}

bool cm_origin_check(cm_request *request, const char *host, const char *origin)
{
  const cm_server *server = request->server;
  if (host != NULL && !is_own_name(server, host))
    return cm_reply_problem(request, 421, "misdirected", "The request is for another host",
                     server->public_host[0] != '\0'
                         ? "this server answers for its public-url, 127.0.0.1, [::1] and localhost only"
                         : "this server answers for 127.0.0.1, [::1] and localhost only; public-url names another one");
  /* The public URL's pages are ours whatever Host a proxy sends; of its name, those of its scheme alone. */
  bool own = origin == NULL || strcasecmp(origin, server->public_origin) == 0 ||
             (host != NULL && strcasecmp(host, server->public_host) != 0 && is_of(origin, host));
  request->foreign = !own;
  if (!own && strlen(origin) < sizeof request->origin && is_listed(server, origin)) {
    (void)snprintf(request->origin, sizeof request->origin, "%s", origin);
    return true;
  }
  if (!cm_request_is_safe(request) && host != NULL && !own)
    return cm_reply_problem(request, 403, "cross-origin", "Another site asked for this",
                     "requests that change something must not come from a page of another origin; cors-origin lists some"
                     " that may");
  return true;
}

bool cm_origin_preflight(cm_request *request)
{
  if (request->origin[0] == '\0' || strcmp(request->method, "OPTIONS") != 0 ||
      cm_request_header(request, "Access-Control-Request-Method") == NULL)
    return false;
  cm_reply_empty(request, 204);
  cm_reply_header(request, "Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
  cm_reply_header(request, "Access-Control-Allow-Headers",
                  "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, Upload-Offset");
  cm_reply_header(request, "Access-Control-Max-Age", "600");
  return true;
}
