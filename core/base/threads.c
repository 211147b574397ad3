#include "core/base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS_MAX = 256 };

typedef struct crew {
  cm_task task;
  void *context;
  size_t count;
  atomic_size_t next;
  atomic_bool failed;
  pthread_mutex_t lock;
  size_t failed_index; /* lowest failed so far; guarded by lock, as is error */
  cm_error error;
} crew;

static void *work(void *argument)
{
  crew *c = argument;
  while (!atomic_load(&c->failed)) {
    size_t i = atomic_fetch_add(&c->next, 1);
    if (i >= c->count)
      break;
    cm_error error;
    if (c->task(c->context, i, &error) == CM_OK)
      continue;
    pthread_mutex_lock(&c->lock);
    if (!atomic_load(&c->failed) || i < c->failed_index) {
      c->failed_index = i;
      c->error = error;
    }
    atomic_store(&c->failed, true);
    pthread_mutex_unlock(&c->lock);
  }
  return NULL;
}

cm_status cm_parallel(cm_run *run, size_t count, cm_task task, void *context, cm_error *error)
{
  crew c = {.task = task, .context = context, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
  size_t wanted = run->threads < THREADS_MAX ? run->threads : THREADS_MAX;
  pthread_t helpers[THREADS_MAX];
  size_t started = 0;
  if (wanted > count)
    wanted = count;
  /* A thread that cannot be had is no error: the others do its share. */
  while (started + 1 < wanted && pthread_create(&helpers[started], NULL, work, &c) == 0)
    started++;
  work(&c);
  for (size_t i = 0; i < started; i++)
    pthread_join(helpers[i], NULL);
  if (!atomic_load(&c.failed))
    return CM_OK;
  *error = c.error;
  return error->status;
}
