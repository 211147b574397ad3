/* A hash table of jobs under one lock. Happy path: a worker starts the job, publishes progress some times a second,
 * finishes; readers copy what they need. What can fail: memory (the event is dropped, the next one tells the same). */
#include "storage/event_bus.h"

#include <stdarg.h>
#include <time.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "base/hold.h"
#include "base/order.h"
#include "storage/clock.h"

typedef struct entry {
  char job[CM_FEED_NAME_MAX]; /* or the name of a feed */
  char owner[CM_FEED_NAME_MAX]; /* the feed of its owner; "": not known, or it is a feed */
  cm_bus_event *events; /* ring [kept] */
  size_t kept, first, count;
  uint64_t last_id, lost_id; /* lost: the newest that was forgotten */
  char *progress, *phases;
  double heard; /* when it told these */
  cm_history *history; /* NULL: none yet */
  char *log;
  size_t log_bytes;
  atomic_bool cancel;
  bool finished, feed;
  UT_hash_handle hh;
} entry;

struct cm_event_bus {
  pthread_mutex_t lock;
  entry *entries; /* in order of arrival */
  size_t finished_count;
  void (*listener)(void *user, const char *job);
  void *user;
  unsigned telling; /* calls of the listener that are under way */
  pthread_cond_t told;
};

cm_status cm_event_bus_new(cm_event_bus **bus, cm_error *error)
{
  cm_event_bus *made;
  CM_TRY(CM_HEAP(made, 1, "the event bus of jobs", error));
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->told, NULL);
  *bus = made;
  return CM_OK;
}

/* The i-th of the events that are kept. */
static cm_bus_event *event_at(const entry *e, size_t i)
{
  return &e->events[(e->first + i) % e->kept];
}

static void free_entry(entry *e)
{
  for (size_t i = 0; i < e->count; i++)
    free(event_at(e, i)->data);
  free(e->events);
  free(e->progress);
  free(e->phases);
  free(e->history);
  free(e->log);
  free(e);
}

void cm_event_bus_free(cm_event_bus *bus)
{
  if (bus == NULL)
    return;
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, bus->entries, e, next) {
    HASH_DEL(bus->entries, e);
    free_entry(e);
  }
  pthread_mutex_destroy(&bus->lock);
  pthread_cond_destroy(&bus->told);
  free(bus);
}

void cm_event_bus_listen(cm_event_bus *bus, void (*listener)(void *user, const char *job), void *user)
{
  CM_HOLD(&bus->lock);
  bus->listener = listener;
  bus->user = user;
  while (bus->telling > 0)
    pthread_cond_wait(&bus->told, &bus->lock);
}

static entry *find(cm_event_bus *bus, const char *job)
{
  entry *e;
  HASH_FIND_STR(bus->entries, job, e);
  return e;
}

static const char feed_prefix[] = "user ";

/* A job's ids are its own, so that they tell of no others' events; and they start above those of an entry that was forgotten, in this life
 * or the last one, for no job has a million events a second. */
static uint64_t microseconds_now(void)
{
  return (uint64_t)(cm_store_time() * 1e6);
}

static entry *find_or_make(cm_event_bus *bus, const char *job)
{
  entry *e = find(bus, job);
  if (e == NULL && strlen(job) < CM_FEED_NAME_MAX && (e = calloc(1, sizeof *e)) != NULL) {
    memcpy(e->job, job, strlen(job) + 1);
    e->feed = strncmp(job, feed_prefix, sizeof feed_prefix - 1) == 0;
    e->kept = e->feed ? CM_EVENT_BUS_FEED_KEPT : CM_EVENT_BUS_EVENTS_KEPT;
    e->last_id = e->lost_id = microseconds_now();
    e->events = calloc(e->kept, sizeof *e->events);
    if (e->events != NULL)
      HASH_ADD_STR(bus->entries, job, e);
    if (e->hh.tbl == NULL) {
      free(e->events);
      free(e);
      e = NULL;
    }
  }
  return e;
}

/* Drops the oldest finished jobs beyond the number that is kept. */
static void forget_old(cm_event_bus *bus)
{
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, bus->entries, e, next) {
    if (bus->finished_count <= CM_EVENT_BUS_JOBS_KEPT)
      break;
    if (!e->finished)
      continue;
    HASH_DEL(bus->entries, e);
    free_entry(e);
    bus->finished_count--;
  }
}

static void add_event(entry *e, const char *kind, const char *data)
{
  char *copy = strdup(data);
  if (copy == NULL)
    return;
  if (e->count == e->kept) {
    e->lost_id = event_at(e, 0)->id;
    free(event_at(e, 0)->data);
    e->first = (e->first + 1) % e->kept;
    e->count--;
  }
  cm_bus_event *event = event_at(e, e->count++);
  const uint64_t now = e->feed ? microseconds_now() : 0;
  e->last_id = now > e->last_id ? now : e->last_id + 1;
  event->id = e->last_id;
  event->data = copy;
  (void)snprintf(event->kind, sizeof event->kind, "%s", kind);
}

/* The same event for the owner, with the job's id; false: he is not known. */
static bool add_to_feed(cm_event_bus *bus, const entry *e, const char *kind, const char *data, char feed[CM_FEED_NAME_MAX])
{
  entry *of = e->owner[0] != '\0' ? find_or_make(bus, e->owner) : NULL;
  char *named;
  if (of == NULL || asprintf(&named, "{\"job\":\"%s\",%s", e->job, data + 1) < 0)
    return false;
  add_event(of, kind, named);
  free(named);
  memcpy(feed, e->owner, sizeof e->owner);
  return true;
}

void cm_event_bus_publish(cm_event_bus *bus, const char *job, const char *kind, const char *data)
{
  char feed[CM_FEED_NAME_MAX] = "";
  pthread_mutex_lock(&bus->lock);
  entry *e = find_or_make(bus, job);
  if (e != NULL)
    add_event(e, kind, data);
  const bool fed = e != NULL && add_to_feed(bus, e, kind, data, feed);
  void (*listener)(void *, const char *) = bus->listener;
  void *user = bus->user;
  bus->telling += listener != NULL;
  pthread_mutex_unlock(&bus->lock);
  if (listener == NULL)
    return;
  listener(user, job);
  if (fed)
    listener(user, feed);
  pthread_mutex_lock(&bus->lock);
  if (--bus->telling == 0)
    pthread_cond_broadcast(&bus->told);
  pthread_mutex_unlock(&bus->lock);
}

uint64_t cm_event_bus_newest(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  return e == NULL || e->count == 0 ? 0 : event_at(e, e->count - 1)->id;
}

bool cm_event_bus_wants_owner(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  const entry *e = find(bus, job);
  return e == NULL || e->owner[0] == '\0';
}

void cm_event_bus_owned(cm_event_bus *bus, const char *job, const char *user)
{
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  if (e != NULL)
    (void)cm_event_bus_feed(user, e->owner);
}

const char *cm_event_bus_feed(const char *user, char name[CM_FEED_NAME_MAX])
{
  (void)snprintf(name, CM_FEED_NAME_MAX, "%s%.64s", feed_prefix, user);
  return name;
}

bool cm_event_bus_has_lost(cm_event_bus *bus, const char *feed, uint64_t after)
{
  CM_HOLD(&bus->lock);
  const entry *e = find(bus, feed);
  return e == NULL || e->lost_id > after;
}

uint64_t cm_event_bus_open_feed(cm_event_bus *bus, const char *feed, uint64_t *lost)
{
  const uint64_t now = microseconds_now();
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, feed);
  *lost = e != NULL ? e->lost_id : now;
  if (e != NULL && e->last_id < now)
    e->last_id = now;
  return e != NULL ? e->last_id : now;
}

bool cm_event_bus_next(cm_event_bus *bus, const char *job, uint64_t after, cm_bus_event *event)
{
  CM_HOLD(&bus->lock);
  const entry *e = find(bus, job);
  size_t low = 0, high = e != NULL ? e->count : 0; /* ids ascend */
  CM_BISECT(low, high, middle, event_at(e, middle)->id <= after)
  char *copy = e != NULL && low < e->count ? strdup(event_at(e, low)->data) : NULL;
  if (copy == NULL)
    return false;
  *event = *event_at(e, low);
  event->data = copy;
  return true;
}

static char *copy_of(const char *text)
{
  return text != NULL ? strdup(text) : NULL;
}

static void replace(char **held, const char *text)
{
  char *copy = copy_of(text);
  free(*held);
  *held = copy;
}

/* An attempt that begins anew leaves nothing of the one before. */
static void note_point(entry *e, const cm_history_point *point)
{
  if (e->history == NULL)
    e->history = calloc(1, sizeof *e->history);
  if (e->history == NULL)
    return;
  if (e->history->count > 0 && point->seconds < e->history->point[e->history->count - 1].seconds)
    *e->history = (cm_history){0};
  cm_history_add(e->history, point);
}

char *cm_event_bus_history(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  return e != NULL && e->history != NULL ? cm_history_text(e->history) : NULL;
}

double cm_event_bus_remaining(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  return e != NULL && e->history != NULL && e->history->count > 0 ? e->history->point[e->history->count - 1].remaining : -1;
}

void cm_event_bus_progress(cm_event_bus *bus, const char *job, const char *progress, const char *phases, const cm_history_point *point)
{
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  if (e != NULL) {
    replace(&e->progress, progress);
    replace(&e->phases, phases);
    e->heard = cm_store_time();
    if (point != NULL)
      note_point(e, point);
  }
}

void cm_event_bus_live(cm_event_bus *bus, const char *job, char **progress, char **phases, double *heard)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  *progress = copy_of(e != NULL ? e->progress : NULL);
  *phases = copy_of(e != NULL ? e->phases : NULL);
  *heard = e != NULL ? e->heard : 0;
}

void cm_event_bus_log(cm_event_bus *bus, const char *job, const char *format, ...)
{
  char line[1024];
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  size_t stamp = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ ", &parts);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line + stamp, sizeof line - stamp - 1, format, arguments);
  va_end(arguments);
  size_t length = strlen(line);
  line[length++] = '\n';
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  char *larger = e != NULL && e->log_bytes + length < CM_EVENT_BUS_LOG_BYTES_MAX ? realloc(e->log, e->log_bytes + length + 1) : NULL;
  if (larger == NULL)
    return;
  memcpy(larger + e->log_bytes, line, length);
  e->log_bytes += length;
  larger[e->log_bytes] = '\0';
  e->log = larger;
}

char *cm_event_bus_log_text(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  return copy_of(e != NULL ? e->log : NULL);
}

atomic_bool *cm_event_bus_cancel_flag(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  return e != NULL ? &e->cancel : NULL;
}

bool cm_event_bus_cancelled(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  const entry *e = find(bus, job);
  return e != NULL && atomic_load(&e->cancel);
}

void cm_event_bus_cancel(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  if (e != NULL)
    atomic_store(&e->cancel, true);
}

void cm_event_bus_start(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find_or_make(bus, job);
  if (e != NULL && e->finished) {
    e->finished = false;
    bus->finished_count--;
  }
}

void cm_event_bus_finished(cm_event_bus *bus, const char *job)
{
  CM_HOLD(&bus->lock);
  entry *e = find(bus, job);
  if (e != NULL && !e->finished) {
    replace(&e->progress, NULL);
    replace(&e->phases, NULL);
    replace(&e->log, NULL);
    free(e->history);
    e->history = NULL;
    e->log_bytes = 0;
    e->finished = true;
    bus->finished_count++;
    if (e->hh.next != NULL) { /* to the end: forgotten in the order in which they ended */
      HASH_DEL(bus->entries, e);
      HASH_ADD_STR(bus->entries, job, e);
    }
    forget_old(bus);
  }
}
