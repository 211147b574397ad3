/* Threads that claim jobs, make their folders and submit them; what runs is followed by one thread (follower.h), and when it has
 * ended they commit it. */
#include "daemon/workers.h"

#include <math.h>
#include <time.h>

#include "base/hold.h"
#include "daemon/follower.h"
#include "daemon/running.h"

enum { HANDS_MAX = 8 };

static const double PATIENCE_S = 300; /* with a thread that should have done something */

/* A place for a job: from before its claim to its commit. All under the lock of the workers. */
typedef struct flight {
  cm_workers *all;
  cm_running *running;
  cm_followed followed;
  char job[CM_ID_MAX];  /* "" until one is claimed */
  double stop;          /* when its job was first seen to be asked to stop; 0: is not */
  _Atomic double until; /* when its job's time limit ends it; 0: never */
  cm_lane_of_jobs lane; /* what it is a place for: short ones, any that run here, those on the cluster */
  double since;         /* when it began to look for a job */
  bool ended;           /* waits for a hand to commit it */
  bool lasts;           /* it is followed, and may be left as it is */
  struct flight *next;
} flight;

/* A thread. */
typedef struct hand {
  cm_workers *all;
  pthread_t thread;
  bool rests;
  double looked; /* when it last looked for something to do */
} hand;

struct cm_workers {
  cm_workers_options options;
  pthread_mutex_t lock;
  pthread_cond_t work, fewer; /* something to do; less is under way */
  uint64_t wakes;
  bool stopping, ending, held, leaving; /* no more jobs; the grace is over; for a while; nothing is under way any more */
  cm_follower *follower;
  flight *flights;
  unsigned count;
  hand hand[HANDS_MAX];
};

/* ---- the threads ---- */

/* What may be started now in a place for one here, or on the cluster, under the lock; 0: nothing. Long jobs have so many places, and short
 * ones of their own beside them; a short job that runs twice as long as one may is a long one. */
static cm_claim places(const cm_workers *all, bool here)
{
  unsigned taken[CM_LANES] = {0};
  const double now = cm_now();
  for (const flight *f = all->flights; f != NULL; f = f->next)
    taken[f->lane == CM_LANE_OF_SHORT && now - f->since >= 2 * cm_short_seconds ? CM_LANE_OF_LONG : f->lane]++;
  const bool cluster = all->options.cluster_jobs > 0;
  if (!here)
    return taken[CM_LANE_OF_CLUSTER] < all->options.cluster_jobs ? CM_CLAIM_CLUSTER : 0;
  if (taken[CM_LANE_OF_LONG] < all->options.workers)
    return cluster ? CM_CLAIM_ANY & ~CM_CLAIM_CLUSTER : CM_CLAIM_ANY;
  return taken[CM_LANE_OF_SHORT] < all->options.short_workers ? CM_CLAIM_SHORT : 0;
}

static struct timespec in(double seconds)
{
  struct timespec then;
  clock_gettime(CLOCK_MONOTONIC, &then);
  then.tv_sec += (time_t)seconds;
  return then;
}

/* From the thread that follows. */
static void on_ended(void *user)
{
  flight *f = user;
  CM_HOLD(&f->all->lock);
  f->ended = true;
  f->lasts = false;
  pthread_cond_signal(&f->all->work);
}

/* The following have the lock. */

static void follow(flight *f)
{
  f->followed = (cm_followed){.submission = f->running->submission, .ended = on_ended, .user = f};
  const cm_executor *executor = f->running->submission->executor;
  f->lasts = executor->elsewhere || (f->all->options.lasting && executor->leave != NULL);
  cm_follower_add(f->all->follower, &f->followed);
  pthread_cond_signal(&f->all->fewer);
}

static flight *ended_one(cm_workers *all)
{
  flight *f = all->flights;
  while (f != NULL && !f->ended)
    f = f->next;
  return f;
}

static flight *open_place(cm_workers *all, cm_lane_of_jobs lane)
{
  flight *f = calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->all = all;
  f->lane = lane;
  f->since = cm_now();
  f->next = all->flights;
  all->flights = f;
  return f;
}

/* Identical jobs may wait for this one. */
static void close_place(cm_workers *all, flight *f)
{
  flight **link = &all->flights;
  while (*link != f)
    link = &(*link)->next;
  *link = f->next;
  if (f->job[0] != '\0') {
    all->wakes++;
    pthread_cond_broadcast(&all->work);
  }
  pthread_cond_signal(&all->fewer);
  free(f);
}

static void commit(cm_workers *all, flight *f)
{
  f->ended = false;
  if (all->ending) /* it is not tried for ever to write its end */
    cm_event_bus_cancel(all->options.store->bus, f->job);
  pthread_mutex_unlock(&all->lock);
  cm_running_end(f->running);
  pthread_mutex_lock(&all->lock);
  close_place(all, f);
}

/* Takes a job from the queue into the place, and submits it. false: there was none. */
static bool begin(cm_workers *all, flight *f, cm_claim claim)
{
  cm_job job;
  cm_error ignored;
  bool found = false;
  pthread_mutex_unlock(&all->lock);
  (void)cm_jobs_claim(all->options.store, claim, &job, &found, &ignored);
  pthread_mutex_lock(&all->lock);
  if (found) {
    memcpy(f->job, job.id, sizeof f->job);
    if (all->stopping) /* the stop may have looked before this job was noted */
      cm_event_bus_cancel(all->options.store->bus, job.id);
    f->running = cm_running_new(&all->options, &job, &f->until);
  }
  pthread_mutex_unlock(&all->lock);
  const bool runs = f->running != NULL && cm_running_begin(f->running);
  pthread_mutex_lock(&all->lock);
  if (runs)
    follow(f);
  else
    close_place(all, f);
  return found;
}

/* A job in a place here, or on the cluster. false: there is none, or no place. */
static bool start_one(cm_workers *all, bool here)
{
  const cm_claim claim = all->stopping || all->held ? 0 : places(all, here);
  const cm_lane_of_jobs lane = claim == CM_CLAIM_SHORT ? CM_LANE_OF_SHORT : here ? CM_LANE_OF_LONG : CM_LANE_OF_CLUSTER;
  flight *f = claim != 0 ? open_place(all, lane) : NULL;
  return f != NULL && begin(all, f, claim);
}

static void *loop(void *argument)
{
  hand *me = argument;
  cm_workers *all = me->all;
  CM_HOLD(&all->lock);
  while (!all->leaving) {
    const uint64_t seen = all->wakes;
    flight *f = ended_one(all);
    me->looked = cm_now();
    me->rests = false;
    if (f != NULL) {
      commit(all, f);
      continue;
    }
    if (start_one(all, true) || start_one(all, false))
      continue;
    me->rests = true;
    /* Usually woken; else retries whose time comes, short jobs that turn out to be long, a claim that failed for want of disk or memory. */
    const struct timespec then = in(2);
    if (seen == all->wakes && ended_one(all) == NULL && !all->leaving)
      (void)pthread_cond_clockwait(&all->work, &all->lock, CLOCK_MONOTONIC, &then);
  }
  return NULL;
}

/* ---- at start ---- */

/* The problem of a job that was running at the server's death too often. */
static const char killed_problem[] = "{\"type\":\"urn:coremapd:problem:killed-server\",\"title\":\"The job kept ending the server\",\"status\":500,"
  "\"code\":\"killed-server\",\"detail\":\"the server died three times while this job ran; it is not tried again\"}";

/* What an executor still has of a job goes on. */
static bool take_over(cm_workers *all, const cm_job *job)
{
  flight *f = open_place(all, job->lane == CM_LANE_OF_CLUSTER && all->options.cluster_jobs == 0 ? CM_LANE_OF_LONG : job->lane);
  if (f == NULL)
    return false;
  memcpy(f->job, job->id, sizeof f->job);
  f->running = cm_running_adopt(&all->options, job, &f->until);
  const bool goes_on = f->running != NULL;
  if (goes_on)
    follow(f);
  else
    close_place(all, f);
  return goes_on;
}

/* With the lock. The jobs that ran when the server before ended. */
static cm_status recover(cm_workers *all, cm_error *error)
{
  cm_job *jobs;
  size_t count, lost = 0;
  CM_TRY(cm_jobs_interrupted(all->options.store, &jobs, &count, error));
  for (size_t i = 0; i < count; i++)
    if (!take_over(all, &jobs[i]))
      jobs[lost++] = jobs[i];
  cm_executor_settle();
  const cm_status status = cm_jobs_recover(all->options.store, jobs, lost, killed_problem, error);
  for (size_t i = 0; i < lost; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
  return status;
}

/* With the lock. */
static cm_status start_hands(cm_workers *made, cm_error *error)
{
  CM_TRY(recover(made, error));
  for (; made->count < made->options.workers + made->options.short_workers && made->count < HANDS_MAX; made->count++) {
    hand *h = &made->hand[made->count];
    h->all = made;
    h->looked = cm_now();
    if (pthread_create(&h->thread, NULL, loop, h) != 0)
      return cm_fail(error, CM_NO_MEMORY, "a worker thread cannot be started");
  }
  return CM_OK;
}

cm_status cm_workers_start(const cm_workers_options *options, cm_workers **workers, cm_error *error)
{
  cm_workers *made;
  CM_TRY(CM_HEAP(made, 1, "the workers", error));
  made->options = *options;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->work, NULL);
  pthread_cond_init(&made->fewer, NULL);
  cm_status status = cm_follower_start(&made->follower, error);
  if (status == CM_OK) {
    pthread_mutex_lock(&made->lock);
    status = start_hands(made, error);
    pthread_mutex_unlock(&made->lock);
  }
  CM_END(status, *workers = made, cm_workers_free(made));
}

void cm_workers_limit(cm_workers *workers, uint64_t memory_limit, uint64_t disk_reserve)
{
  CM_HOLD(&workers->lock);
  workers->options.memory_limit = memory_limit;
  workers->options.disk_reserve = disk_reserve;
}

void cm_workers_wake(cm_workers *workers)
{
  CM_HOLD(&workers->lock);
  workers->wakes++;
  pthread_cond_broadcast(&workers->work);
}

void cm_workers_hold(cm_workers *workers, bool hold)
{
  pthread_mutex_lock(&workers->lock);
  workers->held = hold;
  pthread_mutex_unlock(&workers->lock);
  cm_workers_wake(workers);
}

static unsigned busy(const cm_workers *all)
{
  unsigned jobs = 0;
  for (const flight *f = all->flights; f != NULL; f = f->next)
    jobs += f->job[0] != '\0';
  return jobs;
}

unsigned cm_workers_busy(cm_workers *workers)
{
  CM_HOLD(&workers->lock);
  return busy(workers);
}

/* With the lock held. Since when it should have ended, been stopped or found a job; `now`: it need not yet. */
static double overdue(cm_workers *all, flight *f, double now)
{
  if (f->stop == 0 && f->job[0] != '\0' && cm_event_bus_cancelled(all->options.store->bus, f->job))
    f->stop = now;
  return f->job[0] == '\0' ? f->since : fmin(f->stop > 0 ? f->stop : now, f->until > 0 ? f->until : now);
}

bool cm_workers_stuck(cm_workers *workers, char *job)
{
  const double now = cm_now();
  bool stuck = now - cm_follower_looked(workers->follower) > PATIENCE_S;
  job[0] = '\0';
  CM_HOLD(&workers->lock);
  for (unsigned i = 0; i < workers->count && !stuck; i++)
    stuck = workers->hand[i].rests && now - workers->hand[i].looked > PATIENCE_S;
  for (flight *f = workers->flights; f != NULL && !stuck; f = f->next) {
    if ((stuck = now - overdue(workers, f, now) > PATIENCE_S))
      memcpy(job, f->job, CM_ID_MAX);
  }
  return stuck;
}

/* Whether there are jobs that are not to be left as they are; in a start that fails nobody is there yet to end them. */
static bool any_to_end(const cm_workers *all)
{
  const flight *f = all->count > 0 ? all->flights : NULL;
  while (f != NULL && f->lasts)
    f = f->next;
  return f != NULL;
}

/* The follower stops once what is left may be left, and what it saw end on the way is committed. */
static void let_end(cm_workers *all)
{
  for (cm_follower *follower = all->follower; follower != NULL || any_to_end(all);) {
    while (any_to_end(all))
      (void)pthread_cond_wait(&all->fewer, &all->lock);
    all->follower = NULL;
    pthread_mutex_unlock(&all->lock);
    cm_follower_stop(follower);
    follower = NULL;
    pthread_mutex_lock(&all->lock);
  }
}

void cm_workers_stop(cm_workers *workers, double grace)
{
  const struct timespec until = in(grace);
  pthread_mutex_lock(&workers->lock);
  workers->stopping = true;
  pthread_cond_broadcast(&workers->work);
  while (busy(workers) > 0 && pthread_cond_clockwait(&workers->fewer, &workers->lock, CLOCK_MONOTONIC, &until) == 0)
    ;
  workers->ending = true;
  for (const flight *f = workers->flights; f != NULL; f = f->next)
    if (f->job[0] != '\0' && !f->lasts)
      cm_event_bus_cancel(workers->options.store->bus, f->job);
  let_end(workers);
  workers->leaving = true;
  pthread_cond_broadcast(&workers->work);
  pthread_mutex_unlock(&workers->lock);
  for (unsigned i = 0; i < workers->count; i++)
    pthread_join(workers->hand[i].thread, NULL);
  workers->count = 0;
  for (flight *f; (f = workers->flights) != NULL;) {
    workers->flights = f->next;
    cm_running_leave(f->running);
    free(f);
  }
}

void cm_workers_free(cm_workers *workers)
{
  if (workers == NULL)
    return;
  cm_workers_stop(workers, 0);
  pthread_mutex_destroy(&workers->lock);
  pthread_cond_destroy(&workers->work);
  pthread_cond_destroy(&workers->fewer);
  free(workers);
}
