/* Happy path: sleep until a submission tells or a tenth of a second is over, poll those that told or were not looked at for as
 * long, drop those that have ended. What can fail: memory for the list of descriptors; then all are looked at by time. */
#include "daemon/follower.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_MS = 100, REST_MS = 2000 };

struct cm_follower {
  pthread_t thread;
  pthread_mutex_t lock;
  int wake;             /* an eventfd: something has been added, or it is to stop */
  cm_followed *added;   /* under the lock, as is what follows */
  bool stopping;
  _Atomic double looked;
  cm_followed *all;     /* the thread's own, as is what follows */
  struct pollfd *polled; /* `wake`, then those of `all` in their order */
  size_t count, room;
};

/* Takes over what has been added; false: it is to stop. */
static bool take_added(cm_follower *f)
{
  uint64_t ignored;
  (void)!read(f->wake, &ignored, sizeof ignored);
  pthread_mutex_lock(&f->lock);
  for (cm_followed *one; (one = f->added) != NULL;) {
    f->added = one->next;
    one->next = f->all;
    f->all = one;
    f->count++;
  }
  const bool stopping = f->stopping;
  pthread_mutex_unlock(&f->lock);
  return !stopping;
}

/* Until something tells, or it is time to look. `heard`: polled says what told. */
static void rest(cm_follower *f, bool *heard)
{
  struct pollfd wake = {.fd = f->wake, .events = POLLIN};
  if (f->count + 1 > f->room) {
    const size_t larger = 2 * f->count + 64;
    struct pollfd *grown = realloc(f->polled, larger * sizeof *grown);
    if (grown != NULL) {
      f->polled = grown;
      f->room = larger;
    }
  }
  *heard = f->count + 1 <= f->room;
  if (!*heard) {
    (void)poll(&wake, 1, LOOK_MS);
    return;
  }
  size_t used = 0;
  f->polled[used++] = wake;
  for (const cm_followed *one = f->all; one != NULL; one = one->next)
    f->polled[used++] = (struct pollfd){.fd = one->submission->wakes, .events = POLLIN};
  *heard = poll(f->polled, used, f->all != NULL ? LOOK_MS : REST_MS) >= 0;
}

static void look(cm_follower *f, bool heard)
{
  const double now = cm_now();
  size_t at = 1;
  for (cm_followed **link = &f->all; *link != NULL; at++) {
    cm_followed *one = *link;
    const bool told = heard && f->polled[at].revents != 0;
    if (!told && now < one->looked + LOOK_MS * 1e-3) {
      link = &one->next;
      continue;
    }
    one->looked = now;
    if (!cm_submission_poll(one->submission)) {
      link = &one->next;
      continue;
    }
    *link = one->next;
    f->count--;
    one->ended(one->user);
  }
}

static void *follow(void *argument)
{
  cm_follower *f = argument;
  bool heard = false;
  do {
    rest(f, &heard);
    f->looked = cm_now();
    look(f, heard);
  } while (take_added(f));
  return NULL;
}

cm_status cm_follower_start(cm_follower **follower, cm_error *error)
{
  cm_follower *f;
  CM_TRY(CM_HEAP(f, 1, "who follows jobs", error));
  f->looked = cm_now();
  f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init(&f->lock, NULL);
  if (f->wake < 0 || pthread_create(&f->thread, NULL, follow, f) != 0) {
    if (f->wake >= 0)
      (void)close(f->wake);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return cm_fail(error, CM_NO_MEMORY, "the thread that follows jobs cannot be started");
  }
  *follower = f;
  return CM_OK;
}

static void wake(cm_follower *f)
{
  const uint64_t one = 1;
  (void)!write(f->wake, &one, sizeof one);
}

void cm_follower_add(cm_follower *f, cm_followed *followed)
{
  pthread_mutex_lock(&f->lock);
  followed->next = f->added;
  f->added = followed;
  pthread_mutex_unlock(&f->lock);
  wake(f);
}

double cm_follower_looked(const cm_follower *f)
{
  return f->looked;
}

void cm_follower_stop(cm_follower *f)
{
  if (f == NULL)
    return;
  pthread_mutex_lock(&f->lock);
  f->stopping = true;
  pthread_mutex_unlock(&f->lock);
  wake(f);
  (void)pthread_join(f->thread, NULL);
  (void)close(f->wake);
  pthread_mutex_destroy(&f->lock);
  free(f->polled);
  free(f);
}
