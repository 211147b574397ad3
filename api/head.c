/* The head of a request: checked and led to its route before any of the body is read.
 *
 * Happy path: the path is split in decoded segments, the route found, room made for the body.
 * What can fail: a head that two parties could read differently, another host or origin, a target that is no clean
 * path, no such route, a query that the route does not know, a server that is going down, a body announced too large;
 * the problem is the reply then. */
#include <errno.h>
#include <strings.h>

#include "api/internal.h"

static void refuse(cm_request *request, const char *why)
{
  CM_REPLY_BAD(request, "%s", why);
}

/* Where it is not certain where a request ends, what follows on its connection is not read as another one. */
static bool refuse_framing(cm_request *request, const char *why)
{
  refuse(request, why);
  cm_reply_header(request, "Connection", "close");
  return false;
}

static int hex_digit(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Decodes %XX in place; false for broken escapes, control characters and encoded slashes. */
static bool decode(char *segment)
{
  char *out = segment;
  for (char *p = segment; *p != '\0'; p++) {
    int c = (unsigned char)*p;
    if (c == '%') {
      int high = hex_digit(p[1]), low = high < 0 ? -1 : hex_digit(p[2]);
      if (low < 0)
        return false;
      c = high * 16 + low;
      p += 2;
      if (c == '/')
        return false;
    }
    if (c < 0x20 || c == 0x7f || c == '\\')
      return false;
    *out++ = (char)c;
  }
  *out = '\0';
  return true;
}

/* Splits the path in decoded segments. */
static bool split_path(cm_request *request)
{
  if (strchr(request->target, ' ') != NULL) {
    (void)refuse_framing(request, "the target must have no spaces; %20 stands for one");
    return false;
  }
  /* Proxies pass the base path on, or take it away: both will do. */
  const size_t base = strlen(request->server->base);
  const char *target = request->target;
  if (base > 0 && strncmp(target, request->server->base, base) == 0 && strchr("/?", target[base]) != NULL)
    target += base;
  if (base > 0 && target > request->target && target[0] != '/') {
    cm_reply_empty(request, 308); /* relative links of the viewer need the slash */
    cm_reply_location(request, "/%s", target[0] == '?' ? target : "");
    return false;
  }
  if (request->target[0] != '/' || strlen(request->target) > CM_TARGET_BYTES_MAX ||
      strstr(request->target, "%00") != NULL) {
    refuse(request, "the target must be an absolute path without NUL bytes, of at most 8192 bytes");
    return false;
  }
  request->path = strndup(target, strcspn(target, "?#"));
  if (request->path == NULL) {
    cm_reply_text(request, 503, NULL, NULL, 0);
    return false;
  }
  char *rest = request->path + 1;
  while (rest != NULL && *rest != '\0') {
    char *segment = strsep(&rest, "/");
    if (request->segments == CM_SEGMENTS_MAX || segment[0] == '\0' || !decode(segment) || strcmp(segment, ".") == 0 ||
        strcmp(segment, "..") == 0) {
      refuse(request, "the path has empty, dot, too many or badly escaped segments");
      return false;
    }
    request->segment[request->segments++] = segment;
  }
  return true;
}

typedef struct head {
  int lengths, encodings, hosts, users, secrets;
  bool malformed;
  const char *length, *encoding, *host, *origin, *public_host, *id;
  const char *user_header; /* by which proxies tell who somebody is; "": none */
  const char *user, *secret;
  cm_forwarded forwarded;
} head;

static bool is_token(const char *name)
{
  static const char others[] = "!#$%&'*+-.^_`|~";
  for (const char *p = name; *p != '\0'; p++)
    if (!(*p >= '0' && *p <= '9') && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') && strchr(others, *p) == NULL)
      return false;
  return name[0] != '\0';
}

static bool is_printable(const char *value)
{
  for (const char *p = value; *p != '\0'; p++)
    if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
      return false;
  return true;
}

static enum MHD_Result note_header(void *context, CM_UNUSED enum MHD_ValueKind kind, const char *name, const char *value)
{
  head *h = context;
  value = value != NULL ? value : "";
  h->malformed = h->malformed || !is_token(name) || !is_printable(value);
  if (strcasecmp(name, "Content-Length") == 0) {
    h->lengths++;
    h->length = value;
  } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
    h->encodings++;
    h->encoding = value;
  } else if (strcasecmp(name, "Host") == 0) {
    h->hosts++;
    h->host = value;
  } else if (strcasecmp(name, "Origin") == 0)
    h->origin = value;
  else if (strcasecmp(name, "X-Forwarded-For") == 0) {
    size_t used = strlen(h->forwarded.from);
    (void)snprintf(h->forwarded.from + used, sizeof h->forwarded.from - used, "%s%s", used > 0 ? "," : "", value);
  } else if (strcasecmp(name, "X-Forwarded-Proto") == 0)
    (void)snprintf(h->forwarded.scheme, sizeof h->forwarded.scheme, "%s", value);
  else if (strcasecmp(name, "X-Request-Id") == 0)
    h->id = value;
  else if (strcasecmp(name, "X-Forwarded-Host") == 0)
    h->public_host = value;
  else if (h->user_header[0] != '\0' && strcasecmp(name, h->user_header) == 0) {
    h->users++;
    h->user = value;
  } else if (strcasecmp(name, CM_PROXY_SECRET_HEADER) == 0) {
    h->secrets++;
    h->secret = value;
  }
  return MHD_YES;
}

/* Requests whose end two parties could see in different places. */
static bool check_framing(cm_request *request, const head *h, const char *version)
{
  if (h->malformed)
    return refuse_framing(request, "a header needs a name without spaces and a value without control characters");
  if (h->lengths > 1 || h->encodings > 1 || (h->lengths > 0 && h->encodings > 0))
    return refuse_framing(request, "Content-Length and Transfer-Encoding must come once at most, and not both");
  if (h->length != NULL && (h->length[0] == '\0' || strspn(h->length, "0123456789") != strlen(h->length)))
    return refuse_framing(request, "Content-Length must be a number");
  if (h->encoding != NULL && strcmp(version, "HTTP/1.1") != 0)
    return refuse_framing(request, "Transfer-Encoding is HTTP/1.1's");
  if (h->encoding != NULL && strcasecmp(h->encoding, "chunked") != 0) {
    cm_reply_problem(request, 501, "transfer-encoding", "The transfer coding is not known",
                     "the only one is chunked; send a body of known length, or chunked");
    cm_reply_header(request, "Connection", "close");
    return false;
  }
  if (h->hosts > 1 || (h->hosts == 0 && strcmp(version, "HTTP/1.1") == 0))
    return refuse_framing(request, "one Host header is needed");
  return true;
}

/* The length that the head announces fits the route; false: refused. */
static bool check_length(cm_request *request, const char *text)
{
  if (text == NULL)
    return true;
  errno = 0;
  unsigned long long length = strtoull(text, NULL, 10);
  return cm_body_fits(request, errno != 0 ? UINT64_MAX : length);
}

/* A form holds a file between lines of its own: no route takes one. */
static bool check_form(cm_request *request)
{
  static const char form[] = "multipart/form-data";
  const char *type = cm_request_header(request, "Content-Type");
  if (type == NULL || strncasecmp(type, form, sizeof form - 1) != 0)
    return true;
  return CM_REPLY_BAD(request, "this is a form; send the file itself: curl -T FILE (with -X %s), not -F", request->method);
}

void cm_head_take(cm_request *request, const char *method, const char *version)
{
  head h = {.user_header = request->server->options.remote_user};
  (void)snprintf(request->method, sizeof request->method, "%s", method);
  (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_header, &h);
  const bool proxied = request->proxied = cm_proxies_believe(request, h.secrets, h.secret);
  cm_proxies_take(request, &h.forwarded);
  if (proxied && h.users == 1 && h.user[0] != '\0')
    request->remote_user = h.user;
  if (proxied && h.id != NULL)
    cm_request_rename(request, h.id);
  if (!cm_library_told_all(request->connection, request->raw, strlen(request->target), version))
    (void)refuse_framing(request, "the target and each header are one line of text, without NUL bytes");
  bool sound = request->status == 0 && check_framing(request, &h, version) &&
               cm_origin_check(request, proxied && h.public_host != NULL ? h.public_host : h.host, h.origin);
  request->has_body = h.encodings > 0 || (h.length != NULL && strcmp(h.length, "0") != 0);
  if (!sound || cm_origin_preflight(request) || !split_path(request))
    return;
  request->route = cm_route_find(request);
  if (request->route == NULL || !cm_access_take(request))
    return;
  if (atomic_load(&request->server->draining) && !request->route->while_draining) {
    cm_reply_problem(request, 503, "draining", "The server is going down", "nothing new is accepted; try again soon");
    cm_reply_header(request, "Retry-After", "10");
    return;
  }
  if (cm_route_check_query(request) && check_form(request) && check_length(request, h.length))
    cm_body_open(request);
}
