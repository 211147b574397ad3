/* Which route a request is for. */
#include "api/handlers.h"

const cm_route cm_routes[] = {
#define ROUTE(method, pattern, handler, operation, body, lane, drains, query, right, object, deed) \
  {method, pattern, handler, #handler, operation, CM_BODY_##body, CM_LANE_##lane, drains, query, CM_RIGHT_##right, CM_OBJECT_##object, CM_DEED_##deed},
#include "api/routes.def"
#undef ROUTE
};
const size_t cm_route_count = sizeof cm_routes / sizeof *cm_routes;

/* Segments of each route's pattern; ANY for those that take the rest of a path. */
enum { ANY = 255 };
static unsigned char segments_of[sizeof cm_routes / sizeof *cm_routes];

static void count_segments(void)
{
  for (size_t i = 0; i < cm_route_count; i++) {
    const char *pattern = cm_routes[i].pattern;
    for (const char *p = pattern; *p != '\0'; p++)
      segments_of[i] = (unsigned char)(segments_of[i] + (p[0] == '/' && p[1] != '\0'));
    if (strstr(pattern, "*}") != NULL)
      segments_of[i] = ANY;
  }
}

/* Compares a pattern with the request's segments, filling param. */
static bool matches(cm_request *request, const char *pattern)
{
  size_t params = 0, i = 0;
  const char *p = pattern + 1; /* after the first '/' */
  while (*p != '\0') {
    size_t length = strcspn(p, "/");
    if (p[0] == '{' && p[length - 2] == '*')
      return request->segments > 0 && strcmp(request->segment[0], "v1") != 0;
    if (i >= request->segments)
      return false;
    if (p[0] == '{')
      request->param[params++] = request->segment[i];
    else if (strlen(request->segment[i]) != length || strncmp(request->segment[i], p, length) != 0)
      return false;
    i++;
    p += length;
    if (*p == '/')
      p++;
  }
  return i == request->segments;
}

static bool same_method(const cm_request *request, const char *method)
{
  return strcmp(request->method, method) == 0 ||
         (strcmp(request->method, "HEAD") == 0 && strcmp(method, "GET") == 0);
}

static void allow(char *list, size_t size, const char *method)
{
  size_t used = strlen(list);
  (void)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", method);
  if (strcmp(method, "GET") == 0)
    allow(list, size, "HEAD");
}

/* True when a list of names separated by spaces has this one. */
static bool lists(const char *names, const char *name)
{
  size_t length = strlen(name);
  for (const char *p = names; length > 0 && (p = strstr(p, name)) != NULL; p++)
    if ((p == names || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
      return true;
  return false;
}

typedef struct query {
  const char *names, *unknown, *twice;
  const char *seen[CM_QUERY_MAX];
  size_t count;
} query;

static enum MHD_Result note_argument(void *context, CM_UNUSED enum MHD_ValueKind kind, const char *name,
                                     CM_UNUSED const char *value)
{
  query *q = context;
  if (!lists(q->names, name) || q->count == CM_QUERY_MAX) {
    q->unknown = name;
    return MHD_NO;
  }
  for (size_t i = 0; i < q->count; i++)
    if (strcmp(q->seen[i], name) == 0)
      q->twice = name;
  q->seen[q->count++] = name;
  return MHD_YES;
}

bool cm_route_check_query(cm_request *request)
{
  const char *names = request->route->query;
  query q = {.names = names};
  if (strcmp(names, "*") == 0)
    return true;
  (void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, note_argument, &q);
  if (q.unknown != NULL && names[0] == '\0')
    CM_REPLY_BAD(request, "unknown query argument \"%.60s\"; there are none here", q.unknown);
  else if (q.unknown != NULL)
    CM_REPLY_BAD(request, "unknown query argument \"%.60s\"; here there are: %s", q.unknown, names);
  else if (q.twice != NULL)
    CM_REPLY_BAD(request, "query argument \"%.60s\" comes twice", q.twice);
  return request->status == 0;
}

const cm_route *cm_route_find(cm_request *request)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char allowed[96] = "";
  (void)pthread_once(&once, count_segments);
  for (size_t i = 0; i < cm_route_count; i++) {
    const cm_route *route = &cm_routes[i];
    const bool rest = segments_of[i] == ANY;
    if (!rest && segments_of[i] != request->segments)
      continue;
    if ((rest && allowed[0] != '\0') || !matches(request, route->pattern))
      continue;
    if (same_method(request, route->method))
      return route;
    allow(allowed, sizeof allowed, route->method);
  }
  if (allowed[0] == '\0')
    cm_reply_problem(request, 404, "not-found", "There is no such resource",
                     "nothing is served at %.200s; GET /openapi.json"
                     " lists all resources",
                     request->target);
  else {
    cm_reply_problem(request, 405, "method-not-allowed", "The method is not allowed here",
                     "%s is not allowed here; %s are", request->method, allowed);
    cm_reply_header(request, "Allow", "%s", allowed);
  }
  return NULL;
}
