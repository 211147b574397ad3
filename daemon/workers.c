/* Threads that claim jobs and carry them out, one at a time each. */
#include "daemon/workers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/problem.h"
#include "base/json.h"
#include "base/run.h"
#include "daemon/running.h"
#include "storage/estimates.h"

/* Threads for short jobs that turn out to be long: they count as long ones then, and another short one may start. */
enum { WORKERS_MAX = 64, SHORT_MAX = 16, SPARE_MIN = 2, SPARE_MAX = SHORT_MAX, THREADS_MAX = WORKERS_MAX + SHORT_MAX + SPARE_MAX };

static const double PATIENCE_S = 300; /* with a thread that should have done something */

typedef struct worker {
  cm_workers *all;
  pthread_t thread;
  char job[CM_ID_MAX]; /* "" when idle; under the lock, as is what follows */
  double looked;       /* when it last looked for a job */
  double stop;         /* when its job was first seen to be asked to stop; 0: is not */
  _Atomic double until; /* when its job's time limit ends it; 0: never */
  bool busy, is_short; /* it looks for a job or has one, in a place for short ones */
  double since;        /* when it began to */
} worker;

struct cm_workers {
  cm_workers_options options;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* something to do, or somebody idle */
  uint64_t wakes;
  bool stopping, held;
  unsigned count;
  worker worker[THREADS_MAX];
};

char *cm_workers_killed_problem(void)
{
  json_t *problem = cm_problem_plain(500, "killed-server", "The job kept ending the server",
                                     "the server died three times while this job ran; it is not tried again");
  char *text = problem != NULL ? cm_json_dumps(problem, JSON_COMPACT) : NULL;
  json_decref(problem);
  return text;
}

/* ---- the threads ---- */

/* What may be started now, under the lock; false: nothing. Long jobs have so many places, and short ones of their own beside
 * them; a short job that runs twice as long as one may is a long one. */
static bool has_place(const cm_workers *all, cm_claim *claim)
{
  unsigned any = 0, brief = 0;
  double now = cm_now();
  for (unsigned i = 0; i < all->count; i++) {
    const worker *w = &all->worker[i];
    if (w->busy && w->is_short && now - w->since < 2 * cm_short_seconds)
      brief++;
    else if (w->busy)
      any++;
  }
  *claim = any < all->options.workers ? CM_CLAIM_ANY : CM_CLAIM_SHORT;
  return any < all->options.workers || brief < all->options.short_workers;
}

/* Usually woken; the time-out covers retries whose time comes, short jobs that turn out to be long, and a claim that failed
 * for want of disk or memory. */
static void wait_for_work(cm_workers *all)
{
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 2;
  (void)pthread_cond_clockwait(&all->changed, &all->lock, CLOCK_MONOTONIC, &until);
}

static void *loop(void *argument)
{
  worker *me = argument;
  cm_workers *all = me->all;
  cm_error error;
  pthread_mutex_lock(&all->lock);
  while (!all->stopping) {
    uint64_t seen = all->wakes;
    cm_job job;
    bool found = false;
    cm_claim claim;
    me->looked = cm_now();
    if (all->held || !has_place(all, &claim)) {
      if (seen == all->wakes && !all->stopping)
        wait_for_work(all);
      continue;
    }
    me->busy = true;
    me->is_short = claim == CM_CLAIM_SHORT;
    me->since = me->looked;
    pthread_mutex_unlock(&all->lock);
    (void)cm_jobs_claim(all->options.store, claim, &job, &found, &error);
    pthread_mutex_lock(&all->lock);
    if (!found) {
      me->busy = false;
      if (seen == all->wakes && !all->stopping)
        wait_for_work(all);
      continue;
    }
    memcpy(me->job, job.id, sizeof me->job);
    me->stop = 0;
    if (all->stopping) /* the stop may have looked before this job was noted */
      cm_event_bus_cancel(all->options.store->bus, job.id);
    const cm_workers_options options = all->options; /* as they are when it begins */
    pthread_mutex_unlock(&all->lock);
    cm_running_job(&options, &job, &me->until);
    pthread_mutex_lock(&all->lock);
    me->job[0] = '\0';
    me->looked = cm_now();
    me->busy = false;
    all->wakes++; /* identical jobs may wait for this one */
    pthread_cond_broadcast(&all->changed);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

cm_status cm_workers_start(const cm_workers_options *options, cm_workers **workers, cm_error *error)
{
  cm_workers *made;
  if (CM_HEAP(made, 1, "the workers", error) != CM_OK)
    return error->status;
  made->options = *options;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  pthread_mutex_lock(&made->lock);
  const unsigned brief = options->short_workers, spare = brief == 0 ? 0 : brief < SPARE_MIN ? SPARE_MIN : brief;
  const unsigned threads = options->workers + brief + spare;
  for (; made->count < threads && made->count < THREADS_MAX; made->count++) {
    worker *w = &made->worker[made->count];
    w->all = made;
    w->looked = cm_now();
    if (pthread_create(&w->thread, NULL, loop, w) != 0) {
      pthread_mutex_unlock(&made->lock);
      cm_workers_free(made);
      return cm_fail(error, CM_NO_MEMORY, "a worker thread cannot be started");
    }
  }
  pthread_mutex_unlock(&made->lock);
  *workers = made;
  return CM_OK;
}

void cm_workers_limit(cm_workers *workers, uint64_t memory_limit, uint64_t disk_reserve)
{
  pthread_mutex_lock(&workers->lock);
  workers->options.memory_limit = memory_limit;
  workers->options.disk_reserve = disk_reserve;
  pthread_mutex_unlock(&workers->lock);
}

void cm_workers_wake(cm_workers *workers)
{
  pthread_mutex_lock(&workers->lock);
  workers->wakes++;
  pthread_cond_broadcast(&workers->changed);
  pthread_mutex_unlock(&workers->lock);
}

void cm_workers_hold(cm_workers *workers, bool hold)
{
  pthread_mutex_lock(&workers->lock);
  workers->held = hold;
  pthread_mutex_unlock(&workers->lock);
  cm_workers_wake(workers);
}

unsigned cm_workers_busy(cm_workers *workers)
{
  unsigned busy = 0;
  pthread_mutex_lock(&workers->lock);
  for (unsigned i = 0; i < workers->count; i++)
    busy += workers->worker[i].job[0] != '\0';
  pthread_mutex_unlock(&workers->lock);
  return busy;
}

/* With the lock held. */
static bool is_stuck(const cm_workers *workers, worker *w, double now)
{
  if (w->job[0] == '\0')
    return now - w->looked > PATIENCE_S;
  if (w->stop == 0 && cm_event_bus_cancelled(workers->options.store->bus, w->job))
    w->stop = now;
  const double until = w->until;
  return (w->stop > 0 && now - w->stop > PATIENCE_S) || (until > 0 && now - until > PATIENCE_S);
}

bool cm_workers_stuck(cm_workers *workers, char *job)
{
  bool stuck = false;
  const double now = cm_now();
  pthread_mutex_lock(&workers->lock);
  for (unsigned i = 0; i < workers->count && !stuck; i++) {
    stuck = is_stuck(workers, &workers->worker[i], now);
    if (stuck)
      memcpy(job, workers->worker[i].job, CM_ID_MAX);
  }
  pthread_mutex_unlock(&workers->lock);
  return stuck;
}

static bool any_busy(const cm_workers *workers)
{
  for (unsigned i = 0; i < workers->count; i++)
    if (workers->worker[i].job[0] != '\0')
      return true;
  return false;
}

void cm_workers_stop(cm_workers *workers, double grace)
{
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)grace;
  pthread_mutex_lock(&workers->lock);
  workers->stopping = true;
  pthread_cond_broadcast(&workers->changed);
  while (any_busy(workers) && pthread_cond_clockwait(&workers->changed, &workers->lock, CLOCK_MONOTONIC, &until) == 0)
    ;
  for (unsigned i = 0; i < workers->count; i++)
    if (workers->worker[i].job[0] != '\0')
      cm_event_bus_cancel(workers->options.store->bus, workers->worker[i].job);
  pthread_mutex_unlock(&workers->lock);
  for (unsigned i = 0; i < workers->count; i++)
    pthread_join(workers->worker[i].thread, NULL);
  workers->count = 0;
}

void cm_workers_free(cm_workers *workers)
{
  if (workers == NULL)
    return;
  cm_workers_stop(workers, 0);
  pthread_mutex_destroy(&workers->lock);
  pthread_cond_destroy(&workers->changed);
  free(workers);
}
