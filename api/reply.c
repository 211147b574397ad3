/* Every response is made here, so every one carries the same safety headers and is counted. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/internal.h"
#include "api/problem.h"
#include "base/foreign.h"
#include "base/json.h"

static const char out_of_memory[] =
    "{\"type\":\"urn:coremapd:problem:no-memory\",\"title\":\"The machine has no memory left\",\"status\":503,"
    "\"code\":\"no-memory\"}";

const cm_header cm_safety_headers[] = {{"X-Content-Type-Options", "nosniff"},
                                       {"Referrer-Policy", "no-referrer"},
                                       {"Cross-Origin-Resource-Policy", "same-origin"},
                                       {"X-Frame-Options", "DENY"},
                                       {NULL, NULL}};

void cm_reply_forget(cm_request *request)
{
  cm_kept_release(request);
  request->status = 0;
  request->sent = 0;
}

/* A reply that lacks a header for want of memory is none: the status stays, which says that there was one, and
 * cm_reply_send closes the connection. */
static void add_header(cm_request *request, const char *name, const char *value)
{
  if (request->response != NULL && MHD_add_response_header(request->response, name, value) != MHD_YES)
    cm_kept_release(request);
}

static void set(cm_request *request, unsigned status, const char *type, struct MHD_Response *response)
{
  cm_reply_forget(request);
  request->status = status;
  request->response = response;
  if (type != NULL)
    add_header(request, "Content-Type", type);
  for (const cm_header *h = cm_safety_headers; h->name != NULL; h++)
    add_header(request, h->name, h->value);
}

static void reply_static(cm_request *request, unsigned status, const char *type, const char *body, size_t size)
{
  set(request, status, type,
      MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT));
  request->sent = size;
}


void cm_reply_text(cm_request *request, unsigned status, const char *type, char *body, size_t size)
{
  if (body == NULL) {
    reply_static(request, 503, "application/problem+json", out_of_memory, sizeof out_of_memory - 1);
    return;
  }
  struct MHD_Response *response = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
  if (response == NULL)
    free(body);
  set(request, status, type, response);
  request->sent = size;
  add_header(request, "Cache-Control", "no-cache");
}

void cm_reply_same(cm_request *request, const cm_same *same)
{
  cm_reply_forget(request);
  if (cm_kept_take(request, same)) {
    request->status = 200;
    request->sent = same->size;
  } else if (same->copy != 0) {
    cm_reply_text(request, 200, same->type, (char *)(uintptr_t)same->body, same->size);
    cm_reply_header(request, "ETag", "\"%s\"", same->tag);
  } else {
    reply_static(request, 200, same->type, same->body, same->size);
    add_header(request, "Cache-Control", "no-cache");
  }
}

static void reply_json(cm_request *request, unsigned status, const char *type, json_t *body)
{
  char *text = body != NULL ? cm_json_dumps(body, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(body);
  size_t size = text != NULL ? strlen(text) : 0;
  if (text != NULL)
    text[size++] = '\n'; /* in the place of the NUL: the size says where it ends */
  cm_reply_text(request, status, type, text, size);
}

void cm_reply_json(cm_request *request, unsigned status, json_t *body)
{
  reply_json(request, status, "application/json", body);
}

static const char *word(const json_t *problem, const char *name)
{
  const char *text = json_string_value(json_object_get(problem, name));
  return text != NULL ? text : "";
}

/* Who reports a problem can name the request by it; the audit trail tells of refused changes why. */
static json_t *with_id(cm_request *request, json_t *problem)
{
  char why[800];
  if (problem == NULL)
    return NULL;
  (void)snprintf(why, sizeof why, "%s: %s", word(problem, "code"), word(problem, "detail"));
  (void)cm_foreign_copy(why, CM_FOREIGN_LINE, request->refusal, sizeof request->refusal);
  if (request->refusals != NULL)
    (void)json_array_append(request->refusals, problem);
  (void)json_object_set_new(problem, "request", json_string(request->id));
  return problem;
}

bool cm_reply_error(cm_request *request, const cm_error *error)
{
  reply_json(request, cm_problem_status(error->status), "application/problem+json", with_id(request, cm_problem_json(error)));
  if (error->status == CM_NO_MEMORY)
    cm_reply_header(request, "Retry-After", "10");
  return false;
}

void cm_reply_refusal(cm_request *request, unsigned status, json_t *problem)
{
  reply_json(request, status, "application/problem+json", with_id(request, problem));
}

bool cm_reply_problem(cm_request *request, unsigned status, const char *code, const char *title, const char *detail, ...)
{
  char text[600];
  va_list arguments;
  va_start(arguments, detail);
  (void)vsnprintf(text, sizeof text, detail, arguments);
  va_end(arguments);
  reply_json(request, status, "application/problem+json", with_id(request, cm_problem_plain(status, code, title, text)));
  return false;
}

void cm_reply_empty(cm_request *request, unsigned status)
{
  set(request, status, NULL, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

void cm_reply_header(cm_request *request, const char *name, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  add_header(request, name, text);
}

void cm_reply_location(cm_request *request, const char *format, ...)
{
  char path[400];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(path, sizeof path, format, arguments);
  va_end(arguments);
  cm_reply_header(request, "Location", "%s%s", request->server->base, path);
}

void cm_reply_private(cm_request *request)
{
  if (request->response != NULL)
    (void)MHD_del_response_header(request->response, "Cache-Control", "no-cache");
  add_header(request, "Cache-Control", "no-store");
}

void cm_reply_stream(cm_request *request, const char *type, MHD_ContentReaderCallback reader, void *context,
                     MHD_ContentReaderFreeCallback release)
{
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, reader, context, release);
  if (response == NULL)
    release(context);
  set(request, 200, type, response);
  cm_reply_header(request, "Cache-Control", "no-store");
}

/* ---- conditional and partial replies ---- */

/* True when a comma-separated list of entity tags names this one; weak tags compare equal here. */
static bool lists_tag(const char *list, const char *etag)
{
  size_t length = strlen(etag);
  if (strcmp(list, "*") == 0)
    return true;
  for (const char *p = strchr(list, '"'); p != NULL; p = strchr(p, '"')) {
    const char *end = strchr(++p, '"');
    if (end == NULL)
      return false;
    if ((size_t)(end - p) == length && strncmp(p, etag, length) == 0)
      return true;
    p = end + 1;
  }
  return false;
}

bool cm_reply_unchanged(cm_request *request, const char *etag)
{
  const char *seen = cm_request_header(request, "If-None-Match");
  if (seen == NULL || !lists_tag(seen, etag))
    return false;
  cm_reply_empty(request, 304);
  cm_reply_header(request, "ETag", "\"%s\"", etag);
  return true;
}

typedef enum range_kind { RANGE_NONE, RANGE_ONE, RANGE_BAD } range_kind;

static bool digits(const char **p, uint64_t *value)
{
  uint64_t v = 0;
  const char *start = *p;
  for (; **p >= '0' && **p <= '9'; (*p)++)
    if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
      return false;
  *value = v;
  return *p > start;
}

/* One "bytes=a-b", "a-" or "-n". Several ranges, other units and nonsense are ignored, as RFC 9110 allows. */
static range_kind read_range(const char *text, uint64_t size, uint64_t *first, uint64_t *last)
{
  if (text == NULL || strncmp(text, "bytes=", 6) != 0)
    return RANGE_NONE;
  const char *p = text + 6;
  uint64_t a, b;
  if (*p == '-') {
    p++;
    if (!digits(&p, &b) || *p != '\0')
      return RANGE_NONE;
    if (b == 0 || size == 0)
      return RANGE_BAD;
    *first = b < size ? size - b : 0;
    *last = size - 1;
    return RANGE_ONE;
  }
  if (!digits(&p, &a) || *p++ != '-')
    return RANGE_NONE;
  if (*p == '\0')
    b = UINT64_MAX;
  else if (!digits(&p, &b) || *p != '\0' || b < a)
    return RANGE_NONE;
  if (a >= size)
    return RANGE_BAD;
  *first = a;
  *last = b < size - 1 ? b : size - 1;
  return RANGE_ONE;
}

static void reply_plain(cm_request *request, int descriptor, uint64_t size, const char *type, const char *etag)
{
  uint64_t first = 0, last = size > 0 ? size - 1 : 0;
  const char *condition = cm_request_header(request, "If-Range");
  range_kind kind = condition != NULL && !lists_tag(condition, etag)
                        ? RANGE_NONE
                        : read_range(cm_request_header(request, "Range"), size, &first, &last);
  if (kind == RANGE_BAD) {
    close(descriptor);
    cm_reply_problem(request, 416, "range", "The range lies outside", "the file has %llu bytes",
                     (unsigned long long)size);
    cm_reply_header(request, "Content-Range", "bytes */%llu", (unsigned long long)size);
    return;
  }
  uint64_t length = kind == RANGE_ONE ? last - first + 1 : size;
  struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(length, descriptor, first);
  if (response == NULL)
    close(descriptor);
  set(request, kind == RANGE_ONE ? 206 : 200, type, response);
  request->sent = length;
  cm_reply_header(request, "ETag", "\"%s\"", etag);
  cm_reply_header(request, "Accept-Ranges", "bytes");
  if (kind == RANGE_ONE)
    cm_reply_header(request, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)first,
                    (unsigned long long)last, (unsigned long long)size);
}

static void reply_packed(cm_request *request, int descriptor, const char *type, const char *etag)
{
  struct MHD_Response *response = cm_gzip_response(descriptor, &request->sent);
  if (response == NULL)
    close(descriptor);
  set(request, 200, type, response);
  cm_reply_header(request, "ETag", "\"%s\"", etag);
  cm_reply_header(request, "Content-Encoding", "gzip");
}

static void add_caching(cm_request *request, const char *type, const char *vary)
{
  const bool pack = cm_gzip_packs(type);
  cm_reply_header(request, "Cache-Control", "no-cache");
  if (pack || vary[0] != '\0')
    cm_reply_header(request, "Vary", "%s%s%s", vary, pack && vary[0] != '\0' ? ", " : "", pack ? "Accept-Encoding" : "");
}

/* The tag of the packed bytes, which are others. */
static void tag_packed(char tag[CM_SHA_MAX + 8], const char *etag)
{
  (void)snprintf(tag, CM_SHA_MAX + 8, "%s-gzip", etag);
}

bool cm_reply_known(cm_request *request, const char *type, const char *etag, const char *vary)
{
  char packed[CM_SHA_MAX + 8];
  tag_packed(packed, etag);
  if (!cm_reply_unchanged(request, etag) && !(cm_gzip_packs(type) && cm_reply_unchanged(request, packed)))
    return false;
  add_caching(request, type, vary);
  return true;
}

void cm_reply_opened(cm_request *request, int file, const char *type, const char *etag, const char *vary)
{
  char packed[CM_SHA_MAX + 8];
  struct stat about;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(file);
    (void)cm_fail(&request->error, CM_NOT_FOUND, "there is no such file; GET /openapi.json lists what there is");
    cm_reply_error(request, &request->error);
    return;
  }
  tag_packed(packed, etag);
  if (cm_gzip_wanted(request, type, (uint64_t)about.st_size))
    reply_packed(request, file, type, packed);
  else
    reply_plain(request, file, (uint64_t)about.st_size, type, etag);
  add_caching(request, type, vary);
}

void cm_reply_file(cm_request *request, const char *path, const char *type, const char *etag, const char *vary)
{
  if (cm_reply_known(request, type, etag, vary))
    return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    cm_reply_opened(request, file, type, etag, vary);
    return;
  }
  if (errno == ENOENT)
    (void)cm_fail(&request->error, CM_NOT_FOUND, "there is no such file; GET /openapi.json lists what there is");
  else
    (void)cm_fail(&request->error, CM_IO, "the file cannot be opened (error %d)", errno);
  cm_reply_error(request, &request->error);
}

/* What lets a page of a listed origin read it. */
static void add_origin(cm_request *request)
{
  if (request->server->options.cors_origins[0] != '\0')
    cm_reply_header(request, "Vary", "Origin");
  if (request->origin[0] == '\0')
    return;
  cm_reply_header(request, "Access-Control-Allow-Origin", "%s", request->origin);
  cm_reply_header(request, "Access-Control-Expose-Headers",
                  "Accept-Ranges, Content-Disposition, Content-Range, ETag, Location, Retry-After, Upload-Length, Upload-Offset, X-Request-Id");
}

enum MHD_Result cm_reply_send(cm_request *request, double now)
{
  request->stage = CM_STAGE_ANSWERED;
  if (request->response == NULL)
    return MHD_NO;
  if (request->kept == NULL) {
    add_header(request, "X-Request-Id", request->id);
    add_origin(request);
  } else
    (void)cm_kept_name(request);
  if (request->response == NULL)
    return MHD_NO;
  atomic_fetch_add(&request->server->counters.requests[request->status / 100 < 6 ? request->status / 100 : 5], 1);
  if (request->route != NULL) {
    const double taken = now - (request->whole > 0 ? request->whole : request->started) - request->slept;
    cm_durations_add(&request->server->latency[request->route - cm_routes], cm_request_bounds, taken);
  }
  enum MHD_Result result = cm_library_queue(request->connection, request->status, request->response);
  cm_kept_release(request);
  return result;
}
