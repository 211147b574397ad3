/* Long polls and event streams that wait for jobs to change.
 *
 * Happy path of a poll: its handler finds nothing new and calls cm_subscriptions_wait; the event bus tells of a change; this file
 * hands the request back to the pool. Happy path of a stream: its reader finds no event, notes itself as asleep and
 * suspends the connection; a change resumes it. One thread looks four times a second for polls whose time is up and
 * every heartbeat wakes all streams, so that dead connections are noticed.
 *
 * A change between looking and sleeping is not lost: both happen under the subscriptions' lock, and the event bus is asked once
 * more under it. Lock order: subscriptions, then bus. */
#include <time.h>

#include "api/internal.h"

static const double heartbeat_seconds = 10; /* after which also whether who waits still may is looked at */
static const char every_job[] = "*";

typedef struct stream {
  cm_server *server;
  struct MHD_Connection *connection;
  char job[CM_FEED_NAME_MAX]; /* or the name of a feed */
  bool feed, until_idle;
  char token[CM_TOKEN_ID_MAX]; /* of who reads; "": none was asked for, */
  char user[CM_USER_MAX];      /* because a proxy said who he is, or "": there are no users */
  uint64_t last;      /* id of the newest event sent */
  uint64_t *told;     /* bytes sent, of its request, which lives as long as its connection reads */
  char *pending;      /* text on its way */
  size_t size, sent;
  bool ended;         /* nothing comes after what is pending */
  bool asleep;        /* suspended; under the subscriptions' lock */
  bool beat;          /* a heartbeat is due */
  bool unchecked;     /* it is due to look whether he still may read */
  struct stream *next;
} stream;

struct cm_subscriptions {
  cm_server *server;
  pthread_mutex_t lock;
  pthread_cond_t stop_asked;
  cm_request *polls;
  cm_request *delayed; /* replies that are held back */
  stream *streams;
  bool stopping;
  pthread_t thread;
};

/* ---- long polls ---- */

/* With the lock held: takes the polls that `job` (every_job: any, NULL: none) woke, or whose time is up. */
static cm_request *take_polls(cm_subscriptions *subscriptions, const char *job, double now)
{
  cm_request *woken = NULL, **link = &subscriptions->polls;
  while (*link != NULL) {
    cm_request *request = *link;
    bool up = now >= request->wait_until || subscriptions->stopping;
    if (!up && (job == NULL || (job != every_job && strcmp(job, request->wait_job) != 0))) {
      link = &request->next;
      continue;
    }
    if (up)
      request->wait_until = -1;
    *link = request->next;
    request->next = woken;
    woken = request;
  }
  return woken;
}

static void hand_back(cm_subscriptions *subscriptions, cm_request *woken)
{
  while (woken != NULL) {
    cm_request *request = woken;
    woken = request->next;
    request->slept += cm_now() - request->asleep;
    cm_pool_give(subscriptions->server->short_pool, request);
  }
}

void cm_subscriptions_wait(cm_subscriptions *subscriptions, cm_request *request)
{
  pthread_mutex_lock(&subscriptions->lock);
  request->asleep = cm_now();
  bool again = subscriptions->stopping || cm_event_bus_newest(request->store->bus, request->wait_job) != request->wait_seen;
  if (subscriptions->stopping)
    request->wait_until = -1;
  if (!again) {
    request->next = subscriptions->polls;
    subscriptions->polls = request;
  }
  pthread_mutex_unlock(&subscriptions->lock);
  if (again)
    hand_back(subscriptions, request);
}

/* ---- replies that are held back ---- */

/* With the lock held: sends those whose time has come. */
static void send_delayed(cm_subscriptions *subscriptions, double now)
{
  for (cm_request **link = &subscriptions->delayed; *link != NULL;) {
    cm_request *request = *link;
    if (now < request->wait_until && !subscriptions->stopping) {
      link = &request->next;
      continue;
    }
    *link = request->next;
    request->slept += request->delay;
    cm_access_delay_over(request);
    MHD_resume_connection(request->connection);
  }
}

void cm_subscriptions_delay(cm_subscriptions *subscriptions, cm_request *request)
{
  pthread_mutex_lock(&subscriptions->lock);
  request->wait_until = cm_now() + request->delay;
  request->next = subscriptions->delayed;
  subscriptions->delayed = request;
  send_delayed(subscriptions, cm_now());
  pthread_mutex_unlock(&subscriptions->lock);
}

/* ---- streams ---- */

/* With the lock held. */
static void wake(stream *s)
{
  if (s->asleep) {
    s->asleep = false;
    MHD_resume_connection(s->connection);
  }
}

static void format_event(stream *s, cm_bus_event *event)
{
  size_t room = strlen(event->data) + 100;
  s->pending = malloc(room);
  if (s->pending != NULL) {
    int length = snprintf(s->pending, room, "id: %llu\nevent: %s\ndata: %s\n\n", (unsigned long long)event->id,
                          event->kind, event->data);
    s->size = (size_t)length;
    s->sent = 0;
  }
  s->last = event->id;
  if (!s->feed && strcmp(event->kind, "state") == 0 && strstr(event->data, "\"queued\"") == NULL &&
      strstr(event->data, "\"running\"") == NULL)
    s->ended = true;
  free(event->data);
}

/* Whether who reads still may: tokens are revoked, and jobs hidden, while a stream lasts. */
static bool may_read_on(const stream *s)
{
  cm_error error;
  cm_identity who;
  cm_owner owner;
  bool users = false;
  cm_database *database = s->server->options.store->database;
  if (s->token[0] == '\0' && s->user[0] == '\0')
    return cm_users_exist(database, &users, &error) == CM_OK && !users;
  if ((s->token[0] != '\0' ? cm_tokens_again(database, s->token, &who, &error)
                           : cm_users_identify(database, s->user, &who, &error)) != CM_OK)
    return false;
  if (s->feed)
    return strcmp(who.user, s->user) == 0;
  const cm_viewer viewer = {who.user, who.group, who.role >= CM_ROLE_OPERATOR};
  return cm_owners_get(database, CM_OBJECT_JOB, s->job, NULL, &viewer, &owner, &error) == CM_OK;
}

/* Whether a feed has told all: events have been forgotten before they were sent, and are told to who asks anew; or no job goes on. */
static bool feed_is_over(const stream *s)
{
  cm_error ignored;
  bool busy = true;
  const cm_store *store = s->server->options.store;
  if (cm_event_bus_has_lost(store->bus, s->job, s->last))
    return true;
  return s->until_idle && cm_event_bus_newest(store->bus, s->job) <= s->last &&
         cm_jobs_busy(s->server->options.store, s->user, &busy, &ignored) == CM_OK && !busy;
}

static ssize_t read_stream(void *context, CM_UNUSED uint64_t position, char *buffer, size_t room)
{
  stream *s = context;
  cm_subscriptions *subscriptions = s->server->subscriptions;
  cm_event_bus *bus = s->server->options.store->bus;
  cm_bus_event event;
  pthread_mutex_lock(&subscriptions->lock);
  bool check = s->unchecked;
  s->unchecked = false;
  pthread_mutex_unlock(&subscriptions->lock);
  if (check && !may_read_on(s))
    s->ended = true;
  if (s->pending == NULL && s->feed && !s->ended)
    s->ended = feed_is_over(s);
  if (s->pending == NULL && !s->ended && cm_event_bus_next(bus, s->job, s->last, &event))
    format_event(s, &event);
  if (s->pending == NULL && !s->ended) {
    pthread_mutex_lock(&subscriptions->lock);
    if (subscriptions->stopping)
      s->ended = true;
    else if (s->beat) {
      /* A job that the event bus no longer knows cannot change any more: the client asks anew and gets its end. */
      s->beat = false;
      s->ended = !s->feed && cm_event_bus_newest(bus, s->job) == 0;
      s->pending = strdup(": still here\n\n");
      s->size = s->pending != NULL ? strlen(s->pending) : 0;
      s->sent = 0;
    } else if (cm_event_bus_newest(bus, s->job) <= s->last) {
      s->asleep = true;
      MHD_suspend_connection(s->connection);
      pthread_mutex_unlock(&subscriptions->lock);
      return 0;
    }
    pthread_mutex_unlock(&subscriptions->lock);
    if (s->pending == NULL && !s->ended && cm_event_bus_next(bus, s->job, s->last, &event))
      format_event(s, &event);
  }
  if (s->pending == NULL)
    return s->ended ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
  size_t count = s->size - s->sent < room ? s->size - s->sent : room;
  memcpy(buffer, s->pending + s->sent, count);
  s->sent += count;
  *s->told += count;
  if (s->sent == s->size) {
    free(s->pending);
    s->pending = NULL;
  }
  return (ssize_t)count;
}

static void free_stream(void *context)
{
  stream *s = context;
  cm_subscriptions *subscriptions = s->server->subscriptions;
  pthread_mutex_lock(&subscriptions->lock);
  for (stream **link = &subscriptions->streams; *link != NULL; link = &(*link)->next)
    if (*link == s) {
      *link = s->next;
      break;
    }
  pthread_mutex_unlock(&subscriptions->lock);
  atomic_fetch_sub(&s->server->counters.streams, 1);
  free(s->pending);
  free(s);
}

void cm_subscriptions_stream(cm_request *request, const cm_subscription *to, char *first)
{
  cm_server *server = request->server;
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) {
    free(first);
    cm_reply_text(request, 503, NULL, NULL, 0);
    return;
  }
  s->server = server;
  s->connection = request->connection;
  s->told = &request->sent;
  (void)snprintf(s->job, sizeof s->job, "%s", to->name);
  s->feed = to->feed;
  s->until_idle = to->until_idle;
  memcpy(s->token, request->who.token, sizeof s->token);
  memcpy(s->user, request->who.user, sizeof s->user);
  s->last = to->after;
  s->pending = first;
  s->size = strlen(first);
  s->ended = to->over;
  atomic_fetch_add(&server->counters.streams, 1);
  pthread_mutex_lock(&server->subscriptions->lock);
  s->next = server->subscriptions->streams;
  server->subscriptions->streams = s;
  pthread_mutex_unlock(&server->subscriptions->lock);
  cm_reply_stream(request, "text/event-stream", read_stream, s, free_stream);
}

/* ---- changes and time ---- */

void cm_subscriptions_changed(void *user, const char *job)
{
  cm_subscriptions *subscriptions = user;
  pthread_mutex_lock(&subscriptions->lock);
  cm_request *woken = take_polls(subscriptions, job, cm_now());
  for (stream *s = subscriptions->streams; s != NULL; s = s->next)
    if (strcmp(s->job, job) == 0)
      wake(s);
  pthread_mutex_unlock(&subscriptions->lock);
  hand_back(subscriptions, woken);
}

static void *watch(void *argument)
{
  cm_subscriptions *subscriptions = argument;
  double next_beat = cm_now() + heartbeat_seconds;
  pthread_mutex_lock(&subscriptions->lock);
  while (!subscriptions->stopping) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 250000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_clockwait(&subscriptions->stop_asked, &subscriptions->lock, CLOCK_MONOTONIC, &until);
    double now = cm_now();
    const bool beat = now >= next_beat;
    if (beat) {
      next_beat = now + heartbeat_seconds;
      for (stream *s = subscriptions->streams; s != NULL; s = s->next) {
        s->beat = s->unchecked = true;
        wake(s);
      }
    }
    send_delayed(subscriptions, now);
    cm_request *woken = take_polls(subscriptions, beat ? every_job : NULL, now);
    pthread_mutex_unlock(&subscriptions->lock);
    hand_back(subscriptions, woken);
    pthread_mutex_lock(&subscriptions->lock);
  }
  pthread_mutex_unlock(&subscriptions->lock);
  return NULL;
}

cm_status cm_subscriptions_start(cm_server *server, cm_subscriptions **subscriptions, cm_error *error)
{
  cm_subscriptions *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  made->server = server;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->stop_asked, NULL);
  if (pthread_create(&made->thread, NULL, watch, made) != 0) {
    free(made);
    return cm_fail(error, CM_NO_MEMORY, "a thread of the server cannot be started");
  }
  *subscriptions = made;
  return CM_OK;
}

void cm_subscriptions_stop(cm_subscriptions *subscriptions)
{
  pthread_mutex_lock(&subscriptions->lock);
  subscriptions->stopping = true;
  pthread_cond_signal(&subscriptions->stop_asked);
  send_delayed(subscriptions, cm_now());
  cm_request *woken = take_polls(subscriptions, NULL, cm_now());
  for (stream *s = subscriptions->streams; s != NULL; s = s->next)
    wake(s);
  pthread_mutex_unlock(&subscriptions->lock);
  hand_back(subscriptions, woken);
  pthread_join(subscriptions->thread, NULL);
}

void cm_subscriptions_free(cm_subscriptions *subscriptions)
{
  if (subscriptions == NULL)
    return;
  pthread_mutex_destroy(&subscriptions->lock);
  pthread_cond_destroy(&subscriptions->stop_asked);
  free(subscriptions);
}
