/* A hash table of jobs under one lock. Happy path: a worker starts the job, publishes progress some times a second,
 * finishes; readers copy what they need. What can fail: memory (the event is dropped, the next one tells the same). */
#include "storage/board.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

enum { JOB_ID_MAX = 40 };

typedef struct entry {
  char job[JOB_ID_MAX];
  cm_board_event events[CM_BOARD_EVENTS_KEPT]; /* ring */
  size_t first, count;
  char *progress, *phases;
  char *log;
  size_t log_bytes;
  atomic_bool cancel;
  bool finished;
  UT_hash_handle hh;
} entry;

struct cm_board {
  pthread_mutex_t lock;
  entry *entries; /* in order of arrival */
  size_t finished_count;
  uint64_t last_id;
  void (*listener)(void *user, const char *job);
  void *user;
  unsigned telling; /* calls of the listener that are under way */
  pthread_cond_t told;
};

cm_status cm_board_new(cm_board **board, cm_error *error)
{
  cm_board *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while making the board of jobs");
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->told, NULL);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  /* Ids of this life start above all of the last one, which made less than a million events a second. */
  made->last_id = (uint64_t)now.tv_sec * 1000000;
  *board = made;
  return CM_OK;
}

static void free_entry(entry *e)
{
  for (size_t i = 0; i < e->count; i++)
    free(e->events[(e->first + i) % CM_BOARD_EVENTS_KEPT].data);
  free(e->progress);
  free(e->phases);
  free(e->log);
  free(e);
}

void cm_board_free(cm_board *board)
{
  if (board == NULL)
    return;
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, board->entries, e, next)
  {
    HASH_DEL(board->entries, e);
    free_entry(e);
  }
  pthread_mutex_destroy(&board->lock);
  pthread_cond_destroy(&board->told);
  free(board);
}

void cm_board_listen(cm_board *board, void (*listener)(void *user, const char *job), void *user)
{
  pthread_mutex_lock(&board->lock);
  board->listener = listener;
  board->user = user;
  while (board->telling > 0)
    pthread_cond_wait(&board->told, &board->lock);
  pthread_mutex_unlock(&board->lock);
}

static entry *find(cm_board *board, const char *job)
{
  entry *e;
  HASH_FIND_STR(board->entries, job, e);
  return e;
}

static entry *find_or_make(cm_board *board, const char *job)
{
  entry *e = find(board, job);
  if (e == NULL && strlen(job) < JOB_ID_MAX && (e = calloc(1, sizeof *e)) != NULL) {
    memcpy(e->job, job, strlen(job) + 1);
    HASH_ADD_STR(board->entries, job, e);
    if (e->hh.tbl == NULL) {
      free(e);
      e = NULL;
    }
  }
  return e;
}

/* Drops the oldest finished jobs beyond the number that is kept. */
static void forget_old(cm_board *board)
{
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, board->entries, e, next)
  {
    if (board->finished_count <= CM_BOARD_JOBS_KEPT)
      break;
    if (!e->finished)
      continue;
    HASH_DEL(board->entries, e);
    free_entry(e);
    board->finished_count--;
  }
}

static void add_event(cm_board *board, entry *e, const char *kind, const char *data)
{
  char *copy = strdup(data);
  if (copy == NULL)
    return;
  if (e->count == CM_BOARD_EVENTS_KEPT) {
    free(e->events[e->first].data);
    e->first = (e->first + 1) % CM_BOARD_EVENTS_KEPT;
    e->count--;
  }
  cm_board_event *event = &e->events[(e->first + e->count++) % CM_BOARD_EVENTS_KEPT];
  event->id = ++board->last_id;
  event->data = copy;
  (void)snprintf(event->kind, sizeof event->kind, "%s", kind);
}

void cm_board_publish(cm_board *board, const char *job, const char *kind, const char *data)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  if (e != NULL)
    add_event(board, e, kind, data);
  void (*listener)(void *, const char *) = board->listener;
  void *user = board->user;
  board->telling += listener != NULL;
  pthread_mutex_unlock(&board->lock);
  if (listener == NULL)
    return;
  listener(user, job);
  pthread_mutex_lock(&board->lock);
  if (--board->telling == 0)
    pthread_cond_broadcast(&board->told);
  pthread_mutex_unlock(&board->lock);
}

uint64_t cm_board_newest(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find(board, job);
  uint64_t id = e == NULL || e->count == 0 ? 0 : e->events[(e->first + e->count - 1) % CM_BOARD_EVENTS_KEPT].id;
  pthread_mutex_unlock(&board->lock);
  return id;
}

bool cm_board_next(cm_board *board, const char *job, uint64_t after, cm_board_event *event)
{
  bool found = false;
  pthread_mutex_lock(&board->lock);
  entry *e = find(board, job);
  for (size_t i = 0; e != NULL && i < e->count && !found; i++) {
    const cm_board_event *held = &e->events[(e->first + i) % CM_BOARD_EVENTS_KEPT];
    char *copy;
    if (held->id > after && (copy = strdup(held->data)) != NULL) {
      *event = *held;
      event->data = copy;
      found = true;
    }
  }
  pthread_mutex_unlock(&board->lock);
  return found;
}

static void replace(char **held, const char *text)
{
  char *copy = text != NULL ? strdup(text) : NULL;
  free(*held);
  *held = copy;
}

void cm_board_progress(cm_board *board, const char *job, const char *progress, const char *phases)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  if (e != NULL) {
    replace(&e->progress, progress);
    replace(&e->phases, phases);
  }
  pthread_mutex_unlock(&board->lock);
}

static char *copy_of(const char *text)
{
  return text != NULL ? strdup(text) : NULL;
}

void cm_board_live(cm_board *board, const char *job, char **progress, char **phases)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find(board, job);
  *progress = copy_of(e != NULL ? e->progress : NULL);
  *phases = copy_of(e != NULL ? e->phases : NULL);
  pthread_mutex_unlock(&board->lock);
}

void cm_board_log(cm_board *board, const char *job, const char *format, ...)
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

  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  if (e != NULL && e->log_bytes + length < CM_BOARD_LOG_BYTES_MAX) {
    char *larger = realloc(e->log, e->log_bytes + length + 1);
    if (larger != NULL) {
      memcpy(larger + e->log_bytes, line, length);
      e->log_bytes += length;
      larger[e->log_bytes] = '\0';
      e->log = larger;
    }
  }
  pthread_mutex_unlock(&board->lock);
}

char *cm_board_log_text(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find(board, job);
  char *text = copy_of(e != NULL ? e->log : NULL);
  pthread_mutex_unlock(&board->lock);
  return text;
}

atomic_bool *cm_board_cancel_flag(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  pthread_mutex_unlock(&board->lock);
  return e != NULL ? &e->cancel : NULL;
}

bool cm_board_cancelled(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  const entry *e = find(board, job);
  bool cancelled = e != NULL && atomic_load(&e->cancel);
  pthread_mutex_unlock(&board->lock);
  return cancelled;
}

void cm_board_cancel(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  if (e != NULL)
    atomic_store(&e->cancel, true);
  pthread_mutex_unlock(&board->lock);
}

void cm_board_start(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find_or_make(board, job);
  if (e != NULL && e->finished) {
    e->finished = false;
    board->finished_count--;
  }
  pthread_mutex_unlock(&board->lock);
}

void cm_board_finished(cm_board *board, const char *job)
{
  pthread_mutex_lock(&board->lock);
  entry *e = find(board, job);
  if (e != NULL && !e->finished) {
    replace(&e->progress, NULL);
    replace(&e->phases, NULL);
    replace(&e->log, NULL);
    e->log_bytes = 0;
    e->finished = true;
    board->finished_count++;
    forget_old(board);
  }
  pthread_mutex_unlock(&board->lock);
}
