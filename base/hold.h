/* Locks that are let go where their block ends, however it ends. */
#pragma once

#include <pthread.h>

static inline pthread_mutex_t *cm_hold(pthread_mutex_t *lock)
{
  pthread_mutex_lock(lock);
  return lock;
}

static inline void cm_let_go(pthread_mutex_t **lock)
{
  pthread_mutex_unlock(*lock);
}

/* Holds `lock` from here to the end of the block. */
#define CM_HOLD(lock) pthread_mutex_t *cm_held __attribute__((cleanup(cm_let_go), unused)) = cm_hold(lock)
