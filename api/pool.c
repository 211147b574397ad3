/* Threads that run handlers, so that the server's own threads never block. Happy path: add, run, resume.
 * What can fail: too many requests wait (the caller answers 503). */

#include "api/internal.h"

enum { WAITING_MAX = 4096, THREADS_MAX = 32 };

struct cm_pool {
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  cm_request *first, **last;
  size_t waiting;
  bool stopping;
  cm_handler work;
  unsigned threads;
  pthread_t thread[THREADS_MAX];
};

static void *loop(void *argument)
{
  cm_pool *pool = argument;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (pool->first == NULL && !pool->stopping)
      pthread_cond_wait(&pool->arrived, &pool->lock);
    cm_request *request = pool->first;
    if (request == NULL)
      break;
    pool->first = request->next;
    if (pool->first == NULL)
      pool->last = &pool->first;
    pool->waiting--;
    request->next = NULL;
    pthread_mutex_unlock(&pool->lock);
    pool->work(request);
    pthread_mutex_lock(&pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

cm_status cm_pool_start(unsigned threads, cm_handler work, cm_pool **pool, cm_error *error)
{
  cm_pool *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  made->work = work;
  made->last = &made->first;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->arrived, NULL);
  for (; made->threads < threads && made->threads < THREADS_MAX; made->threads++)
    if (pthread_create(&made->thread[made->threads], NULL, loop, made) != 0) {
      cm_pool_free(made);
      return cm_fail(error, CM_NO_MEMORY, "a thread of the server cannot be started");
    }
  *pool = made;
  return CM_OK;
}

bool cm_pool_add(cm_pool *pool, cm_request *request)
{
  pthread_mutex_lock(&pool->lock);
  bool room = pool->waiting < WAITING_MAX && !pool->stopping;
  if (room) {
    request->next = NULL;
    *pool->last = request;
    pool->last = &request->next;
    pool->waiting++;
    pthread_cond_signal(&pool->arrived);
  }
  pthread_mutex_unlock(&pool->lock);
  return room;
}

void cm_pool_give(cm_pool *pool, cm_request *request)
{
  if (!cm_pool_add(pool, request))
    pool->work(request);
}

void cm_pool_stop(cm_pool *pool)
{
  pthread_mutex_lock(&pool->lock);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->arrived);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i < pool->threads; i++)
    pthread_join(pool->thread[i], NULL);
  pool->threads = 0;
}

void cm_pool_free(cm_pool *pool)
{
  if (pool == NULL)
    return;
  cm_pool_stop(pool);
  pthread_mutex_destroy(&pool->lock);
  pthread_cond_destroy(&pool->arrived);
  free(pool);
}
