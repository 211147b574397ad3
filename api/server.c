/* From a connection to a handler and back.
 *
 * Happy path: MHD tells the request line (note_target), then the head (head.c), then the body in pieces (body.c), then
 * its end (dispatch: a handler that does not block runs at once; else the connection is suspended, a pool thread runs the
 * handler, and its reply resumes the connection); answer sends the reply.
 *
 * What can fail: a head or body that is refused (before the body comes, MHD then closes the connection), a client that
 * is too slow or no memory (closed), too many requests at once (503). */
#include "api/server.h"

#include <errno.h>
#include <unistd.h>

#include "api/handlers.h"
#include "base/json.h"

enum {
  EVICTED_MAX = 64, /* connections of one thread that are shut down and not gone yet, or come between look and count */
};

/* ---- a request's calls, in their order ---- */

static void *note_target(void *context, const char *target, struct MHD_Connection *connection)
{
  cm_server *server = context;
  cm_request *request = cm_kept_lend(connection);
  if (request == NULL)
    return NULL;
  request->target = strdup(target);
  request->raw = target;
  if (request->target == NULL) {
    cm_kept_return(connection, request);
    return NULL;
  }
  request->server = server;
  request->store = server->options.store;
  request->connection = connection;
  request->started = cm_now();
  cm_request_name(request);
  cm_request_meet(request);
  atomic_fetch_add(&server->counters.active, 1);
  cm_connections_step(server->connections, connection, CM_STEP_HEAD, request->started);
  request->refused = !cm_library_takes_target(connection, target);
  return request;
}

static void free_request(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
  cm_server *server = context;
  cm_request *request = *slot;
  if (request == NULL)
    return;
  const double now = cm_now();
  if (request->method[0] != '\0') /* else its head has not come */
    cm_request_log(request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK, now);
  cm_connections_step(server->connections, connection, CM_STEP_REST, now);
  cm_kept_release(request);
  cm_body_drop(request);
  free(request->body);
  free(request->path);
  free(request->target);
  cm_kept_return(connection, request);
  *slot = NULL;
  atomic_fetch_sub(&server->counters.active, 1);
}

/* Runs a request's handler. */
static void run(cm_request *request)
{
  uint64_t refusals = cm_json_refusals();
  request->wait = false;
  cm_audit_entry cause;
  if (!cm_request_is_safe(request)) {
    cm_audit_of(request, &cause);
    cm_audit_cause(&cause);
  }
  if ((request->wait_until == 0 || cm_access_again(request)) && cm_access_object(request))
    request->route->handler(request);
  cm_audit_cause(NULL);
  /* A reply of which parts found no memory would tell something else than is. */
  if (!request->wait && cm_json_whole(refusals, "the reply", &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
}

/* What a pool's thread does with a request. */
static void work(cm_request *request)
{
  run(request);
  if (request->delay > 0)
    cm_subscriptions_delay(request->server->subscriptions, request);
  else if (request->wait)
    cm_subscriptions_wait(request->server->subscriptions, request);
  else
    MHD_resume_connection(request->connection);
}

/* Nothing of a request stays behind once its answer can be read. */
static enum MHD_Result answer(cm_request *request)
{
  const double now = cm_now();
  cm_body_drop(request);
  cm_access_note_refused(request);
  cm_connections_step(request->server->connections, request->connection, CM_STEP_REPLY, now);
  return cm_reply_send(request, now);
}

/* A wrong token's reply: nothing of its body is read meanwhile. */
static enum MHD_Result hold_back(cm_request *request)
{
  request->stage = CM_STAGE_WORK;
  cm_connections_step(request->server->connections, request->connection, CM_STEP_WORK, cm_now());
  MHD_suspend_connection(request->connection);
  cm_subscriptions_delay(request->server->subscriptions, request);
  return MHD_YES;
}

static enum MHD_Result dispatch(cm_request *request)
{
  cm_server *server = request->server;
  request->whole = cm_now();
  cm_body_end(request);
  if (request->status != 0)
    return answer(request);
  request->stage = CM_STAGE_WORK;
  const bool at_once = request->route->lane == CM_LANE_AT_ONCE;
  if (at_once)
    run(request);
  if (at_once && !request->wait)
    return answer(request);
  cm_connections_step(server->connections, request->connection, CM_STEP_WORK, cm_now());
  MHD_suspend_connection(request->connection);
  if (at_once) {
    cm_subscriptions_wait(server->subscriptions, request);
    return MHD_YES;
  }
  cm_pool *pool = request->route->lane == CM_LANE_IMPORT ? server->import_pool : server->short_pool;
  if (!cm_pool_add(pool, request)) {
    cm_reply_problem(request, 503, "busy", "The server is busy", "too many requests wait; try again soon");
    cm_reply_header(request, "Retry-After", "2");
    MHD_resume_connection(request->connection);
  }
  return MHD_YES;
}

static enum MHD_Result handle(CM_UNUSED void *context, struct MHD_Connection *connection, CM_UNUSED const char *url,
                              const char *method,
                              const char *version, const char *data, size_t *size, void **slot)
{
  cm_request *request = *slot;
  enum MHD_Result refused;
  if (request == NULL || request->refused)
    return MHD_NO;
  switch (request->stage) {
  case CM_STAGE_NEW:
    request->stage = CM_STAGE_BODY;
    if (!cm_library_takes_head(connection, method, request->target, &refused))
      return refused;
    cm_head_take(request, method, version);
    if (request->has_body)
      cm_connections_step(request->server->connections, connection, CM_STEP_BODY, cm_now());
    if (request->delay > 0)
      return hold_back(request);
    /* With a body on its way, this is the last moment to refuse it; without one, answering now would close the
     * connection for nothing. */
    return request->status != 0 && request->has_body ? answer(request) : MHD_YES;
  case CM_STAGE_BODY:
    if (*size > 0) {
      bool taken = cm_body_take(request, data, *size);
      *size = 0;
      return taken ? MHD_YES : MHD_NO;
    }
    if (request->has_body && !cm_library_takes_head(connection, method, request->target, &refused))
      return refused;
    return dispatch(request);
  case CM_STAGE_WORK:
    return answer(request);
  case CM_STAGE_ANSWERED:
    break;
  }
  return MHD_YES;
}

/* ---- start and stop ---- */

static cm_status start_daemons(cm_server *server, cm_error *error)
{
  /* The cap on connections is ours (connections.c); the library's must never be met. */
  cm_server_limits all = {.connections = UINT32_MAX / CM_LISTENER_THREADS - EVICTED_MAX};
  CM_TRY(cm_descriptors_share(server->options.workers, &all, error));
  const struct MHD_OptionItem certified[] = {
    {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)cm_tls_show},
    {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
    {MHD_OPTION_END, 0, NULL}}, plain[] = {{MHD_OPTION_END, 0, NULL}};
  if (server->options.tls_certificate[0] != '\0' &&
      cm_tls_load(server->options.tls_certificate, server->options.tls_key, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < server->listener_count * CM_LISTENER_THREADS; i++) {
    cm_listener *l = &server->listeners[i / CM_LISTENER_THREADS];
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (l->tls ? MHD_USE_TLS : 0);
    errno = 0;
    struct MHD_Daemon *made = MHD_start_daemon(
      flags, 0, cm_connections_accept, l, handle, server, MHD_OPTION_LISTEN_SOCKET, l->socket, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)(all.connections + EVICTED_MAX), MHD_OPTION_NOTIFY_CONNECTION, cm_connections_note, server,
      MHD_OPTION_URI_LOG_CALLBACK, note_target, server, MHD_OPTION_NOTIFY_COMPLETED, free_request, server, MHD_OPTION_ARRAY,
      l->tls ? certified : plain, MHD_OPTION_END);
    l->daemon[i % CM_LISTENER_THREADS] = made;
    if (made == NULL)
      return cm_fail(error, CM_NO_MEMORY, "the HTTP server does not start: %s",
                     errno != 0 ? strerror(errno) : "no reason is known");
  }
  return CM_OK;
}

/* Nobody new is let in. */
static void quiesce_daemons(cm_server *server)
{
  for (size_t i = 0; i < server->listener_count * CM_LISTENER_THREADS; i++) {
    struct MHD_Daemon *daemon = server->listeners[i / CM_LISTENER_THREADS].daemon[i % CM_LISTENER_THREADS];
    if (daemon != NULL)
      (void)MHD_quiesce_daemon(daemon);
  }
}

/* The library's threads end; the sockets stay ours. */
static void stop_daemons(cm_server *server)
{
  quiesce_daemons(server); /* else it would close the sockets, too */
  for (size_t i = 0; i < server->listener_count * CM_LISTENER_THREADS; i++) {
    struct MHD_Daemon **daemon = &server->listeners[i / CM_LISTENER_THREADS].daemon[i % CM_LISTENER_THREADS];
    if (*daemon != NULL)
      MHD_stop_daemon(*daemon);
    *daemon = NULL;
  }
  cm_listen_close(server);
}

/* Texts that were not given are empty. */
static void fill_texts(cm_server_options *o)
{
  const char **texts[] = {&o->listen, &o->tls_certificate, &o->tls_key, &o->public_url, &o->trusted_proxies, &o->proxy_secret,
                          &o->remote_user, &o->cors_origins};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (*texts[i] == NULL)
      *texts[i] = "";
  o->socket_mode = o->socket_mode != 0 ? o->socket_mode : 0600;
}

static void free_server(cm_server *server)
{
  cm_tls_free();
  free(server->latency);
  cm_pool_free(server->import_pool);
  cm_pool_free(server->short_pool);
  cm_subscriptions_free(server->subscriptions);
  cm_connections_free(server->connections);
  cm_access_free(server->access);
  cm_sessions_free(server->sessions);
  cm_shown_free(server->shown);
  pthread_mutex_destroy(&server->limits_lock);
  free(server);
}

cm_status cm_server_start(const cm_server_options *options, cm_server **server, cm_error *error)
{
  cm_server *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  made->options = *options;
  fill_texts(&made->options);
  made->started = cm_store_time();
  made->latency = calloc(cm_route_count, sizeof *made->latency);
  crypto_shorthash_keygen(made->request_key);
  made->limits = options->limits;
  pthread_mutex_init(&made->limits_lock, NULL);
  if (made->latency == NULL)
    (void)cm_whole(false, "the server", error);
  if (made->latency == NULL || cm_origin_read(made, error) != CM_OK || cm_proxies_read(made, error) != CM_OK ||
      cm_listen_check(made, error) != CM_OK ||
      cm_descriptors_share(options->workers, &made->limits, error) != CM_OK ||
      cm_path(made->www, error, "%s", options->www) != CM_OK ||
      cm_access_start(&made->access, error) != CM_OK || cm_sessions_start(&made->sessions, error) != CM_OK ||
      cm_shown_start(&made->shown, error) != CM_OK ||
      cm_connections_start(made, &made->connections, error) != CM_OK ||
      cm_pool_start(8, work, &made->short_pool, error) != CM_OK ||
      cm_pool_start(2, work, &made->import_pool, error) != CM_OK || cm_subscriptions_start(made, &made->subscriptions, error) != CM_OK) {
    free_server(made);
    return error->status;
  }
  cm_event_bus_listen(options->store->bus, cm_subscriptions_changed, made->subscriptions);
  if (cm_listen(made, error) != CM_OK || start_daemons(made, error) != CM_OK) {
    stop_daemons(made);
    cm_event_bus_listen(options->store->bus, NULL, NULL);
    cm_subscriptions_stop(made->subscriptions);
    free_server(made);
    return error->status;
  }
  *server = made;
  return CM_OK;
}

void cm_server_limit(cm_server *server, const cm_server_limits *limits)
{
  cm_error error;
  cm_server_limits next = *limits;
  (void)cm_descriptors_share(server->options.workers, &next, &error); /* it was enough at start */
  pthread_mutex_lock(&server->limits_lock);
  server->limits = next;
  pthread_mutex_unlock(&server->limits_lock);
  cm_connections_limit(server->connections, &next);
}

cm_status cm_server_certify(cm_server *server, const char *certificate, const char *key, cm_error *error)
{
  if (server->options.tls_certificate[0] == '\0' || certificate[0] == '\0')
    return CM_OK; /* whether there is TLS changes at the next start */
  return cm_tls_load(certificate, key, error);
}

uint16_t cm_server_port(const cm_server *server)
{
  for (size_t i = 0; i < server->listener_count; i++) {
    const cm_address *at = &server->listeners[i].place.at;
    if (at->any.sa_family != AF_UNIX)
      return ntohs(at->any.sa_family == AF_INET6 ? at->v6.sin6_port : at->v4.sin_port);
  }
  return 0;
}

bool cm_server_place(const cm_server *server, size_t number, char *name, size_t size)
{
  if (number >= server->listener_count)
    return false;
  cm_listen_name(&server->listeners[number], name, size);
  return true;
}

cm_status cm_server_tick(cm_server *server, cm_error *error)
{
  return cm_access_write_uses(server->access, server->options.store, error);
}

void cm_server_drain(cm_server *server, bool drain)
{
  atomic_store(&server->draining, drain);
}

void cm_server_stop(cm_server *server)
{
  if (server == NULL)
    return;
  atomic_store(&server->draining, true);
  quiesce_daemons(server);
  atomic_store(&server->stopping, true);
  cm_event_bus_listen(server->options.store->bus, NULL, NULL);
  cm_subscriptions_stop(server->subscriptions);
  cm_connections_stop(server->connections);
  /* Replies under way get a moment; idle kept-alive connections do not count. */
  for (int i = 0; i < 200 && atomic_load(&server->counters.active) > 0; i++)
    usleep(10000);
  /* The pools end before the daemon, so that no connection is suspended when it stops; what they still hold is
   * answered first. */
  cm_pool_stop(server->import_pool);
  cm_pool_stop(server->short_pool);
  stop_daemons(server);
  free_server(server);
}
