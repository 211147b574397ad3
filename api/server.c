/* From a connection to a handler and back.
 *
 * Happy path: MHD tells the request line (note_target), then the head (begin: checks and route), then the body in
 * pieces (take_body: into memory, or hashed into a file), then its end (dispatch: the connection is suspended and a
 * pool thread runs the handler); the handler's reply resumes the connection, and answer sends it.
 *
 * What can fail: a malformed or smuggled head (refused in the first call; MHD then closes the connection), a body that
 * is larger than allowed (what follows is read and thrown away, then 413), a client that is too slow (closed), no
 * memory (closed). */
#include "api/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/internal.h"

enum {
  CONNECTIONS_MAX = 4000,
  IDLE_SECONDS = 60,
  BODY_SECONDS_MAX = 120,
  FILE_SECONDS_MAX = 6 * 3600,
  DISCARD_MAX = 16 << 20, /* of a body that is refused already */
};

/* ---- the head ---- */

static void *note_target(void *context, const char *target, struct MHD_Connection *connection)
{
  cm_server *server = context;
  cm_request *request = calloc(1, sizeof *request);
  if (request == NULL)
    return NULL;
  request->target = strdup(target);
  if (request->target == NULL) {
    free(request);
    return NULL;
  }
  request->server = server;
  request->store = server->options.store;
  request->connection = connection;
  request->started = cm_now();
  atomic_fetch_add(&server->counters.active, 1);
  return request;
}

/* Closes and removes what has arrived of a file; harmless when there is none. */
static void drop_file(cm_request *request)
{
  if (request->file != NULL)
    fclose(request->file);
  request->file = NULL;
  if (request->file_path[0] != '\0')
    unlink(request->file_path);
  request->file_path[0] = '\0';
}

static void free_request(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
  cm_server *server = context;
  cm_request *request = *slot;
  (void)connection;
  (void)code;
  if (request == NULL)
    return;
  if (request->response != NULL)
    MHD_destroy_response(request->response);
  drop_file(request);
  free(request->body);
  free(request->path);
  free(request->target);
  free(request);
  *slot = NULL;
  atomic_fetch_sub(&server->counters.active, 1);
}

static void refuse(cm_request *request, const char *why)
{
  cm_reply_problem(request, 400, "bad-request", "The request cannot be understood", "%s", why);
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
  size_t length = strcspn(request->target, "?#");
  if (request->target[0] != '/' || strlen(request->target) > CM_TARGET_BYTES_MAX ||
      strstr(request->target, "%00") != NULL) {
    refuse(request, "the target must be an absolute path without NUL bytes, of at most 8192 bytes");
    return false;
  }
  request->path = strndup(request->target, length);
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
  int lengths, encodings, hosts;
  const char *length, *host, *origin;
} head;

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
  head *h = context;
  (void)kind;
  if (strcasecmp(name, "Content-Length") == 0) {
    h->lengths++;
    h->length = value;
  } else if (strcasecmp(name, "Transfer-Encoding") == 0)
    h->encodings++;
  else if (strcasecmp(name, "Host") == 0) {
    h->hosts++;
    h->host = value;
  } else if (strcasecmp(name, "Origin") == 0)
    h->origin = value;
  return MHD_YES;
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

/* Requests that two parties could read differently are refused; and as there are no tokens on loopback, so are those
 * that a web page of another origin makes a browser send. */
static bool check_head(cm_request *request, head *h)
{
  (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_header, h);
  if (h->lengths > 1 || h->encodings > 1 || (h->lengths > 0 && h->encodings > 0)) {
    refuse(request, "Content-Length and Transfer-Encoding must come once at most, and not both");
    return false;
  }
  if (h->length != NULL && (h->length[0] == '\0' || strspn(h->length, "0123456789") != strlen(h->length))) {
    refuse(request, "Content-Length must be a number");
    return false;
  }
  if (h->hosts > 1 || (h->host != NULL && !is_loopback_name(h->host))) {
    cm_reply_problem(request, 421, "misdirected", "The request is for another host",
                     "this server answers for 127.0.0.1, [::1] and localhost only");
    return false;
  }
  bool safe = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
  if (!safe && h->origin != NULL && h->host != NULL) {
    const char *after = strstr(h->origin, "://");
    if (after == NULL || strcasecmp(after + 3, h->host) != 0) {
      cm_reply_problem(request, 403, "cross-origin", "Another site asked for this",
                       "requests that change something must not come from a page of another origin");
      return false;
    }
  }
  return true;
}

static uint64_t body_limit(const cm_request *request)
{
  switch (request->route->body) {
  case CM_BODY_FILE:
    return request->server->options.upload_bytes_max;
  case CM_BODY_BULK:
    return CM_OCCUPANCY_BYTES_MAX;
  case CM_BODY_JSON:
  case CM_BODY_NONE:
    break;
  }
  return CM_JSON_BYTES_MAX;
}

static void refuse_size(cm_request *request)
{
  cm_error error;
  (void)cm_fail(&error, CM_TOO_LARGE, "the body is larger than the %llu bytes that are accepted here",
                (unsigned long long)body_limit(request));
  cm_error_figure(&error, "limit_bytes", body_limit(request));
  cm_reply_error(request, &error);
}

static bool open_file(cm_request *request)
{
  cm_error error;
  char id[CM_ID_MAX];
  cm_store_id(id);
  if (cm_store_free_bytes(request->store) < request->server->options.disk_free_min) {
    (void)cm_fail(&error, CM_DISK_FULL, "the disk is nearly full: uploads are refused until there is more room");
    cm_reply_error(request, &error);
    return false;
  }
  if (cm_path(request->file_path, &error, "%s/incoming/%s.part", request->store->folder, id) != CM_OK) {
    cm_reply_error(request, &error);
    return false;
  }
  request->file = fopen(request->file_path, "wbe");
  if (request->file == NULL) {
    (void)cm_fail_errno(&error, errno, "cannot create", request->file_path);
    cm_reply_error(request, &error);
    return false;
  }
  crypto_hash_sha256_init(&request->hash);
  return true;
}

static void begin(cm_request *request, const char *method)
{
  head h = {0};
  (void)snprintf(request->method, sizeof request->method, "%s", method);
  request->stage = CM_STAGE_BODY;
  bool sound = check_head(request, &h);
  request->has_body = h.encodings > 0 || (h.length != NULL && strcmp(h.length, "0") != 0);
  if (!sound || !split_path(request))
    return;
  request->route = cm_route_find(request);
  if (request->route == NULL)
    return;
  if (atomic_load(&request->server->draining) && !request->route->while_draining) {
    cm_reply_problem(request, 503, "draining", "The server is going down", "nothing new is accepted; try again soon");
    cm_reply_header(request, "Retry-After", "10");
    return;
  }
  if (h.length != NULL) {
    errno = 0;
    unsigned long long length = strtoull(h.length, NULL, 10);
    if (errno != 0 || length > body_limit(request)) {
      refuse_size(request);
      return;
    }
  }
  if (request->route->body == CM_BODY_FILE)
    (void)open_file(request);
}

/* ---- the body ---- */

static bool keep_in_memory(cm_request *request, const char *data, size_t size)
{
  if (request->body_size + size + 1 > request->body_room) {
    size_t room = (request->body_size + size + 1) * 2;
    char *larger = realloc(request->body, room);
    if (larger == NULL)
      return false;
    request->body = larger;
    request->body_room = room;
  }
  memcpy(request->body + request->body_size, data, size);
  request->body_size += size;
  request->body[request->body_size] = '\0';
  return true;
}

/* Takes a piece of the body; MHD_NO closes the connection. */
static enum MHD_Result take_body(cm_request *request, const char *data, size_t size)
{
  bool file = request->route != NULL && request->route->body == CM_BODY_FILE;
  if (cm_now() - request->started > (file ? FILE_SECONDS_MAX : BODY_SECONDS_MAX))
    return MHD_NO;
  if (request->status != 0 || request->route == NULL) {
    request->discarded += size;
    return request->discarded > DISCARD_MAX ? MHD_NO : MHD_YES;
  }
  uint64_t so_far = file ? request->file_bytes : request->body_size;
  if (size > body_limit(request) - so_far) {
    refuse_size(request);
    return MHD_YES;
  }
  if (!file)
    return request->route->body == CM_BODY_NONE || keep_in_memory(request, data, size) ? MHD_YES : MHD_NO;
  if (fwrite(data, 1, size, request->file) != size) {
    cm_error error;
    (void)cm_fail_errno(&error, errno, "cannot store", "the upload");
    cm_reply_error(request, &error);
    return MHD_YES;
  }
  crypto_hash_sha256_update(&request->hash, (const unsigned char *)data, size);
  request->file_bytes += size;
  return MHD_YES;
}

static void end_file(cm_request *request)
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  int failed = fclose(request->file) != 0 ? errno : 0;
  request->file = NULL;
  if (failed != 0) {
    cm_error error;
    (void)cm_fail_errno(&error, failed, "cannot store", "the upload");
    cm_reply_error(request, &error);
    return;
  }
  crypto_hash_sha256_final(&request->hash, digest);
  sodium_bin2hex(request->file_sha, sizeof request->file_sha, digest, sizeof digest);
  atomic_fetch_add(&request->server->counters.uploads, 1);
  atomic_fetch_add(&request->server->counters.upload_bytes, request->file_bytes);
}

/* ---- work and answer ---- */

void cm_request_work(cm_request *request)
{
  request->wait = false;
  request->route->handler(request);
  if (request->wait)
    cm_hub_wait(request->server->hub, request);
  else
    MHD_resume_connection(request->connection);
}

/* Nothing of a request stays behind once its answer can be read. */
static enum MHD_Result answer(cm_request *request)
{
  drop_file(request);
  return cm_reply_send(request);
}

static enum MHD_Result dispatch(cm_request *request)
{
  cm_server *server = request->server;
  if (request->file != NULL)
    end_file(request);
  if (request->status != 0)
    return answer(request);
  request->stage = CM_STAGE_WORK;
  MHD_suspend_connection(request->connection);
  cm_pool *pool = request->route->lane == CM_LANE_IMPORT ? server->import_pool : server->short_pool;
  if (!cm_pool_add(pool, request)) {
    cm_reply_problem(request, 503, "busy", "The server is busy", "too many requests wait; try again soon");
    cm_reply_header(request, "Retry-After", "2");
    MHD_resume_connection(request->connection);
  }
  return MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **slot)
{
  cm_request *request = *slot;
  (void)context;
  (void)connection;
  (void)url;
  (void)version;
  if (request == NULL)
    return MHD_NO;
  switch (request->stage) {
  case CM_STAGE_NEW:
    begin(request, method);
    /* With a body on its way, this is the last moment to refuse it; without one, answering now would close the
     * connection for nothing. */
    return request->status != 0 && request->has_body ? answer(request) : MHD_YES;
  case CM_STAGE_BODY:
    if (*size > 0) {
      enum MHD_Result result = take_body(request, data, *size);
      *size = 0;
      return result;
    }
    return dispatch(request);
  case CM_STAGE_WORK:
    return answer(request);
  case CM_STAGE_ANSWERED:
    break;
  }
  return MHD_YES;
}

/* ---- start and stop ---- */

static cm_status read_address(const cm_server_options *options, struct sockaddr_storage *address, unsigned *flags,
                              cm_error *error)
{
  struct sockaddr_in *v4 = (struct sockaddr_in *)address;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
  memset(address, 0, sizeof *address);
  bool loopback;
  if (inet_pton(AF_INET, options->address, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(options->port);
    loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  } else if (inet_pton(AF_INET6, options->address, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(options->port);
    *flags |= MHD_USE_IPv6;
    loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  } else
    return cm_fail(error, CM_BAD_OPTION, "\"%s\" is no numeric address; 127.0.0.1 or ::1 would do", options->address);
  if (!loopback)
    return cm_fail(error, CM_BAD_OPTION,
                   "%s is no loopback address: without user tokens, which this version does not have yet, coremapd"
                   " listens on 127.0.0.1 or ::1 only", options->address);
  return CM_OK;
}

static cm_status start_daemon(cm_server *server, cm_error *error)
{
  struct sockaddr_storage address;
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (read_address(&server->options, &address, &flags, error) != CM_OK)
    return error->status;
  errno = 0;
  server->daemon =
      MHD_start_daemon(flags, server->options.port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
                       (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT,
                       (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                       MHD_OPTION_URI_LOG_CALLBACK, note_target, server, MHD_OPTION_NOTIFY_COMPLETED, free_request,
                       server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_LISTENING_ADDRESS_REUSE, 0u, MHD_OPTION_END);
  if (server->daemon == NULL)
    return cm_fail(error, CM_CONFLICT, "cannot listen on %s port %u: %s", server->options.address, server->options.port,
                   errno != 0 ? strerror(errno) : "the HTTP server did not start");
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
  server->port = info != NULL ? info->port : server->options.port;
  return CM_OK;
}

static void free_server(cm_server *server)
{
  cm_pool_free(server->import_pool);
  cm_pool_free(server->short_pool);
  cm_hub_free(server->hub);
  free(server);
}

cm_status cm_server_start(const cm_server_options *options, cm_server **server, cm_error *error)
{
  cm_server *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while starting the server");
  made->options = *options;
  made->started = cm_store_time();
  if (cm_path(made->www, error, "%s", options->www) != CM_OK || cm_pool_start(8, &made->short_pool, error) != CM_OK ||
      cm_pool_start(2, &made->import_pool, error) != CM_OK || cm_hub_start(made, &made->hub, error) != CM_OK) {
    free_server(made);
    return error->status;
  }
  cm_board_listen(options->store->board, cm_hub_changed, made->hub);
  if (start_daemon(made, error) != CM_OK) {
    cm_board_listen(options->store->board, NULL, NULL);
    cm_hub_stop(made->hub);
    free_server(made);
    return error->status;
  }
  *server = made;
  return CM_OK;
}

uint16_t cm_server_port(const cm_server *server)
{
  return server->port;
}

void cm_server_drain(cm_server *server)
{
  atomic_store(&server->draining, true);
}

void cm_server_stop(cm_server *server)
{
  if (server == NULL)
    return;
  atomic_store(&server->draining, true);
  MHD_socket listening = MHD_quiesce_daemon(server->daemon);
  atomic_store(&server->stopping, true);
  cm_board_listen(server->options.store->board, NULL, NULL);
  cm_hub_stop(server->hub);
  /* Replies under way get a moment; idle kept-alive connections do not count. */
  for (int i = 0; i < 200 && atomic_load(&server->counters.active) > 0; i++)
    usleep(10000);
  /* The pools end before the daemon, so that no connection is suspended when it stops; what they still hold is
   * answered first. */
  cm_pool_stop(server->import_pool);
  cm_pool_stop(server->short_pool);
  MHD_stop_daemon(server->daemon);
  if (listening != MHD_INVALID_SOCKET)
    close(listening);
  free_server(server);
}
