/* Who is connected, and for how long he may stay without getting on.
 *
 * Happy path: the library asks whether a connection may be taken (cm_connections_accept), tells of its beginning and
 * end (cm_connections_note), and each request moves it through its steps: a head, a body, work, a reply, rest.
 * One thread looks once a second for those whose time is up.
 *
 * What can go wrong, and what follows: too many connections, in all or from one address (the one that has waited
 * longest without a request is closed for the new one; when all are busy the new one is refused); a head that does not
 * come to its end, a body or the reading of a reply that falls behind the least rate (closed).
 *
 * To close, the socket is shut down and the library finds it at its end: only the library frees a connection. The
 * socket stays open until cm_connections_note has been told, under the same lock. How far a client has come is asked from
 * the kernel (bytes received, bytes acknowledged), so that the library's buffers do not matter. */
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "api/clients.h"

#include "base/hold.h"

typedef struct connection {
  struct MHD_Connection *handle;
  int socket;
  cm_client *client;
  cm_step step;
  bool counted;             /* the kernel counts its bytes: it is no unix socket */
  atomic_uint_fast64_t took; /* bytes of bodies, where it does not */
  bool used, cut;           /* has sent a request before; has been shut down */
  bool unread;              /* when last asked, the client had not read all */
  double until;             /* when the next step must have come; monotonic seconds */
  double read_until;        /* when what was sent must have been read */
  uint64_t received, read;  /* bytes when last asked */
  int pending;              /* bytes that the client had to read then */
  cm_kept kept;
  struct connection *prev, *next; /* in all or, of the idle, first the one that has waited longest */
} connection;

struct cm_connections {
  pthread_mutex_t lock;
  pthread_cond_t stop_asked;
  bool stopping;
  cm_server_limits limits;
  cm_client *clients;
  connection *idle, *busy; /* rings: waiting for a request's head; the others */
  pthread_t thread;
  cm_connection_counts counts;
  uint64_t cut; /* of those that are open, shut down and not gone yet */
};

/* ---- rings ---- */

static void append(connection **ring, connection *c)
{
  if (*ring == NULL)
    *ring = c->prev = c->next = c;
  else {
    c->next = *ring;
    c->prev = (*ring)->prev;
    c->prev->next = c->next->prev = c;
  }
}

static void take_out(connection **ring, connection *c)
{
  if (c->next == c)
    *ring = NULL;
  else {
    c->prev->next = c->next;
    c->next->prev = c->prev;
    if (*ring == c)
      *ring = c->next;
  }
}

static connection **ring_of(cm_connections *all, cm_step step)
{
  return step == CM_STEP_REST || step == CM_STEP_HEAD ? &all->idle : &all->busy;
}

/* ---- room for new ones ---- */

static void cut(cm_connections *all, connection *c)
{
  if (!c->cut) {
    c->cut = true;
    all->cut++;
    if (c->client != NULL)
      c->client->cut++;
  }
  (void)shutdown(c->socket, SHUT_RDWR);
}

/* Closes the one that has waited longest for a request's head, of one client or of all (NULL); rather one that has
 * never sent a request. False: all are busy. */
static bool make_room(cm_connections *all, const cm_client *of)
{
  connection *oldest = NULL, *c = all->idle;
  if (c != NULL)
    do {
      if (!c->cut && (of == NULL || c->client == of) && (oldest == NULL || (oldest->used && !c->used)))
        oldest = c;
      c = c->next;
    } while (c != all->idle && (oldest == NULL || oldest->used));
  if (oldest == NULL)
    return false;
  cut(all, oldest);
  all->counts.evicted++;
  return true;
}

/* Makes room where an address, or all, have as many connections as they may, and `more`; one: the address has a limit. Several threads
 * accept: each asks before it takes a connection (more: 0), so that it is refused where all are busy, and once it is counted
 * (1), since others may have come in between. False: all are busy. */
static bool make_room_beyond(cm_connections *all, const cm_client *of, bool one, uint64_t more)
{
  if (one && of != NULL && of->connections - of->cut >= all->limits.connections_per_address + more)
    return make_room(all, of);
  return all->counts.open - all->cut < all->limits.connections + more || make_room(all, NULL);
}

enum MHD_Result cm_connections_accept(void *user, const struct sockaddr *address, CM_UNUSED socklen_t size)
{
  const cm_listener *listener = user;
  cm_server *server = listener->server;
  cm_connections *all = server->connections;
  unsigned char key[8];
  /* Behind a trusted proxy are many: the limit of one address is not theirs. */
  const bool one = !cm_proxies_trust(server, address);
  const bool admitted = cm_listen_admits(listener, address);
  cm_address_key(address, key);
  CM_HOLD(&all->lock);
  const cm_client *from = cm_client_find(all->clients, key);
  const bool room = admitted && make_room_beyond(all, from, one, 0);
  if (!room)
    all->counts.refused++;
  return room ? MHD_YES : MHD_NO;
}

static void begin(const cm_server *server, struct MHD_Connection *handle, void **slot)
{
  cm_connections *all = server->connections;
  const union MHD_ConnectionInfo *socket = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
  const union MHD_ConnectionInfo *address = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  connection *made = calloc(1, sizeof *made);
  *slot = made;
  if (made == NULL || socket == NULL || address == NULL) {
    free(made);
    *slot = NULL; /* without an entry it is served all the same, until memory is there again */
    return;
  }
  unsigned char key[8];
  cm_address_key(address->client_addr, key);
  made->counted = address->client_addr->sa_family != AF_UNIX;
  made->handle = handle;
  made->socket = socket->connect_fd;
  made->step = CM_STEP_HEAD;
  CM_HOLD(&all->lock);
  made->until = cm_now() + (double)all->limits.head_seconds;
  made->read_until = cm_now() + (double)all->limits.stall_seconds;
  made->client = cm_client_enter(&all->clients, key);
  append(&all->idle, made);
  all->counts.open++;
  (void)make_room_beyond(all, made->client, !cm_proxies_trust(server, address->client_addr), 1);
}

void cm_connections_note(void *user, struct MHD_Connection *handle, void **slot,
                         enum MHD_ConnectionNotificationCode code)
{
  const cm_server *server = user;
  cm_connections *all = server->connections;
  connection *c = *slot;
  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    begin(server, handle, slot);
  else if (c != NULL) {
    pthread_mutex_lock(&all->lock);
    take_out(ring_of(all, c->step), c);
    all->cut -= c->cut;
    if (c->client != NULL)
      c->client->cut -= c->cut;
    cm_client_leave(&all->clients, c->client);
    all->counts.open--;
    pthread_mutex_unlock(&all->lock);
    cm_kept_clear(&c->kept);
    free(c);
    *slot = NULL;
  }
}

/* ---- getting on ---- */

/* Bytes that have come from the client, and that have reached it. On a unix socket the kernel tells only what is still to be
 * read: when that changes, the client reads. */
static void count_bytes(connection *c, uint64_t *received, uint64_t *read)
{
  if (!c->counted) {
    int pending = 0;
    (void)ioctl(c->socket, SIOCOUTQ, &pending);
    *received = atomic_load(&c->took);
    *read = c->read + (pending != c->pending ? UINT32_MAX : 0);
    c->pending = pending;
    return;
  }
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  (void)getsockopt(c->socket, IPPROTO_TCP, TCP_INFO, &info, &size);
  *received = info.tcpi_bytes_received;
  *read = info.tcpi_bytes_acked;
}

static connection *entry_of(struct MHD_Connection *handle)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}

cm_kept *cm_connections_kept(struct MHD_Connection *handle)
{
  connection *c = entry_of(handle);
  return c != NULL ? &c->kept : NULL;
}

void cm_connections_took(struct MHD_Connection *handle, size_t bytes)
{
  connection *c = entry_of(handle);
  if (c != NULL && !c->counted)
    atomic_fetch_add(&c->took, bytes);
}

void cm_connections_step(cm_connections *all, struct MHD_Connection *handle, cm_step step, double now)
{
  connection *c = entry_of(handle);
  if (c == NULL)
    return;
  CM_HOLD(&all->lock);
  const uint64_t seconds = step == CM_STEP_HEAD   ? all->limits.head_seconds
                           : step == CM_STEP_REST ? all->limits.idle_seconds
                                                  : all->limits.stall_seconds;
  take_out(ring_of(all, c->step), c);
  c->step = step;
  c->used = c->used || step == CM_STEP_REST;
  c->until = now + (double)seconds;
  if (step == CM_STEP_BODY)
    count_bytes(c, &c->received, &(uint64_t){0});
  append(ring_of(all, step), c);
}

/* A deadline gets the time that so many bytes take at the least rate, and is `stall` seconds ahead at most. */
static double later(double until, uint64_t bytes, const cm_server_limits *limits, double now)
{
  double next = until + (double)bytes / (double)limits->rate_min, latest = now + (double)limits->stall_seconds;
  return next < latest ? next : latest;
}

static void look(cm_connections *all, connection *c, const cm_server_limits *limits, double now)
{
  int unread = 0;
  if (c->cut)
    return;
  (void)ioctl(c->socket, SIOCOUTQ, &unread);
  if (unread == 0 || !c->unread) /* seen for the first time: nobody knows for how long */
    c->read_until = now + (double)limits->stall_seconds;
  c->unread = unread > 0;
  if (c->unread || c->step == CM_STEP_BODY) {
    uint64_t received, read;
    count_bytes(c, &received, &read);
    if (c->step == CM_STEP_BODY)
      c->until = later(c->until, received - c->received, limits, now);
    if (c->unread)
      c->read_until = later(c->read_until, read - c->read, limits, now);
    c->received = received;
    c->read = read;
  }
  /* The server itself may take its time. */
  bool ours = c->step == CM_STEP_WORK || c->step == CM_STEP_REPLY;
  if ((ours || now < c->until) && now < c->read_until)
    return;
  /* What a client does not read would stay in the kernel for as long as he likes: it is thrown away. */
  const struct linger none = {.l_onoff = 1};
  (void)setsockopt(c->socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  cut(all, c);
  all->counts.timed_out++;
}

static void look_at_all(cm_connections *all, connection *ring)
{
  double now = cm_now();
  connection *c = ring;
  if (c != NULL)
    do
      look(all, c, &all->limits, now);
    while ((c = c->next) != ring);
}

static void *watch(void *argument)
{
  cm_connections *all = argument;
  CM_HOLD(&all->lock);
  while (!all->stopping) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    (void)pthread_cond_timedwait(&all->stop_asked, &all->lock, &until);
    look_at_all(all, all->idle);
    look_at_all(all, all->busy);
  }
  return NULL;
}

/* ---- start and stop ---- */

cm_status cm_connections_start(cm_server *server, cm_connections **connections, cm_error *error)
{
  cm_connections *made;
  pthread_condattr_t monotonic;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  made->limits = cm_server_limits_now(server);
  pthread_mutex_init(&made->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&made->stop_asked, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (pthread_create(&made->thread, NULL, watch, made) != 0) {
    made->stopping = true;
    cm_connections_free(made);
    return cm_fail(error, CM_NO_MEMORY, "a thread of the server cannot be started");
  }
  *connections = made;
  return CM_OK;
}

void cm_connections_stop(cm_connections *all)
{
  pthread_mutex_lock(&all->lock);
  bool running = !all->stopping;
  all->stopping = true;
  pthread_cond_signal(&all->stop_asked);
  pthread_mutex_unlock(&all->lock);
  if (running)
    pthread_join(all->thread, NULL);
}

void cm_connections_free(cm_connections *all)
{
  if (all == NULL)
    return;
  cm_connections_stop(all);
  pthread_mutex_destroy(&all->lock);
  pthread_cond_destroy(&all->stop_asked);
  free(all);
}

void cm_connections_limit(cm_connections *all, const cm_server_limits *limits)
{
  CM_HOLD(&all->lock);
  all->limits = *limits;
}

void cm_connections_count(cm_connections *all, cm_connection_counts *counts)
{
  CM_HOLD(&all->lock);
  *counts = all->counts;
}
