#include "base/hold.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <time.h>

#define CLOSED UINT32_MAX

/* Rounds follow each other closely: a thread looks this often for the next before it sleeps, about as long as falling asleep
 * and being woken take. */
enum { THREADS_MAX = 256, LOOKS = 4000 };

struct cm_thread_pool {
  pthread_t helper[THREADS_MAX];
  unsigned helpers;
  /* The round under way. Who raises the ticket has task number `ticket` (low half) of round (high half), and only then
   * looks at task and context: the caller waits for tasks that were taken, never for a helper that came too late. */
  atomic_uint_fast64_t ticket;
  atomic_size_t count, done;
  cm_task task;
  void *context;
  atomic_bool failed;
  size_t failed_index; /* lowest failed so far; guarded by lock, as is error */
  cm_error error;
  pthread_mutex_t lock;
  pthread_cond_t begun, ended;
  atomic_bool closing;
  atomic_uint_fast64_t *account; /* of whom the pool works for, or NULL */
};

/* The model also serves in a shared library (python/). */
static _Thread_local __attribute__((tls_model("initial-exec"))) atomic_uint_fast64_t *my_account;

void cm_threads_account(atomic_uint_fast64_t *nanoseconds)
{
  my_account = nanoseconds;
}

/* ---- the model ---- */

enum { MODEL_THREADS_MAX = 256 };

static _Thread_local __attribute__((tls_model("initial-exec"))) cm_rounds_log *my_log;

static double processor_time(void)
{
  struct timespec used;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

void cm_threads_record(cm_rounds_log *log)
{
  my_log = log;
  if (log != NULL)
    log->last = processor_time();
}

void cm_threads_close_phase(const cm_run *run)
{
  cm_rounds_log *log = my_log;
  if (log == NULL || log->run != run || log->inside)
    return;
  double now = processor_time();
  if (run->phase_open >= 0)
    log->phase[run->phase_open].alone += now - log->last;
  log->last = now;
}

static cm_rounds *begin_recorded(cm_rounds_log *log)
{
  cm_threads_close_phase(log->run);
  log->inside = true;
  return &log->phase[log->run->phase_open >= 0 ? log->run->phase_open : 0];
}

static void end_recorded(cm_rounds_log *log, cm_rounds *phase, size_t count)
{
  log->inside = false;
  phase->rounds++;
  phase->tasks += count;
  log->last = processor_time();
}

/* Plays a round task by task; a model of `threads` threads has the next task taken by the one that is free first. */
static cm_status record_round(cm_rounds_log *log, size_t count, cm_task task, void *context, cm_error *error)
{
  double busy[MODEL_THREADS_MAX] = {0}, longest = 0;
  unsigned threads = log->run->threads < MODEL_THREADS_MAX ? log->run->threads : MODEL_THREADS_MAX;
  cm_rounds *phase = begin_recorded(log);
  cm_status status = CM_OK;
  for (size_t i = 0; i < count && status == CM_OK; i++) {
    unsigned first = 0;
    for (unsigned t = 1; t < threads; t++)
      first = busy[t] < busy[first] ? t : first;
    double begun = processor_time();
    status = task(context, i, error);
    double took = processor_time() - begun;
    busy[first] += took;
    longest = busy[first] > longest ? busy[first] : longest;
    phase->together += took;
    phase->helped += first != 0;
  }
  phase->span += longest;
  end_recorded(log, phase, count);
  return status;
}

/* ---- pools ---- */

static void note_failure(cm_thread_pool *c, size_t i, const cm_error *error)
{
  CM_HOLD(&c->lock);
  if (!atomic_load(&c->failed) || i < c->failed_index) {
    c->failed_index = i;
    c->error = *error;
  }
  atomic_store(&c->failed, true);
}

/* Takes tasks of the open round until none is left; how many. */
static size_t work(cm_thread_pool *c)
{
  for (size_t taken = 0;;) {
    uint_fast64_t ticket = atomic_load(&c->ticket);
    size_t i = ticket & UINT32_MAX;
    if (i >= atomic_load(&c->count))
      return taken;
    if (!atomic_compare_exchange_strong(&c->ticket, &ticket, ticket + 1))
      continue;
    taken++;
    cm_error error;
    if (!atomic_load(&c->failed) && c->task(c->context, i, &error) != CM_OK)
      note_failure(c, i, &error);
    if (atomic_fetch_add(&c->done, 1) + 1 < atomic_load(&c->count))
      continue;
    pthread_mutex_lock(&c->lock);
    pthread_cond_signal(&c->ended);
    pthread_mutex_unlock(&c->lock);
  }
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Whether a round after `round` is open; *now: which. */
static bool open_after(cm_thread_pool *c, uint64_t round, uint64_t *now)
{
  uint64_t ticket = atomic_load(&c->ticket);
  *now = ticket >> 32;
  return *now != round && (ticket & UINT32_MAX) != CLOSED;
}

static uint64_t await_round_after(cm_thread_pool *c, uint64_t round)
{
  uint64_t now;
  for (int look = 0; look < LOOKS; look++) {
    if (open_after(c, round, &now))
      return now;
    relax();
  }
  CM_HOLD(&c->lock);
  while (!open_after(c, round, &now))
    pthread_cond_wait(&c->begun, &c->lock);
  return now;
}

static void await_end(cm_thread_pool *c)
{
  for (int look = 0; look < LOOKS; look++) {
    if (atomic_load(&c->done) == atomic_load(&c->count))
      return;
    relax();
  }
  CM_HOLD(&c->lock);
  while (atomic_load(&c->done) < atomic_load(&c->count))
    pthread_cond_wait(&c->ended, &c->lock);
}

static void begin_round(cm_thread_pool *c, size_t count, cm_task task, void *context)
{
  uint64_t round = (atomic_load(&c->ticket) >> 32) + 1;
  atomic_store(&c->ticket, round << 32 | CLOSED); /* nobody takes tasks while they change */
  atomic_store(&c->done, 0);
  atomic_store(&c->count, count);
  c->task = task;
  c->context = context;
  CM_HOLD(&c->lock);
  atomic_store(&c->ticket, round << 32);
  pthread_cond_broadcast(&c->begun);
}

static void *help(void *argument)
{
  cm_thread_pool *c = argument;
  my_account = c->account; /* of pools within pools too */
  for (uint64_t round = 0;;) {
    round = await_round_after(c, round);
    if (atomic_load(&c->closing))
      break;
    (void)work(c);
  }
  struct timespec used;
  if (c->account != NULL && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
    (void)atomic_fetch_add(c->account, (uint_fast64_t)used.tv_sec * 1000000000u + (uint_fast64_t)used.tv_nsec);
  return NULL;
}

static void start(cm_thread_pool *c, unsigned threads)
{
  c->account = my_account;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->begun, NULL);
  pthread_cond_init(&c->ended, NULL);
  /* A thread that cannot be had is no error: the others do its share. */
  while ((my_log == NULL || my_log->real) && c->helpers + 1 < threads && c->helpers < THREADS_MAX &&
         pthread_create(&c->helper[c->helpers], NULL, help, c) == 0)
    c->helpers++;
}

static void stop(cm_thread_pool *c)
{
  atomic_store(&c->closing, true);
  begin_round(c, 0, NULL, NULL);
  for (unsigned i = 0; i < c->helpers; i++)
    pthread_join(c->helper[i], NULL);
  pthread_cond_destroy(&c->ended);
  pthread_cond_destroy(&c->begun);
  pthread_mutex_destroy(&c->lock);
}

cm_status cm_thread_pool_new(cm_memory *memory, unsigned threads, cm_thread_pool **pool, cm_error *error)
{
  cm_thread_pool *c;
  CM_TRY(CM_NEW(memory, c, 1, error));
  start(c, threads);
  *pool = c;
  return CM_OK;
}

void cm_thread_pool_free(cm_thread_pool *c)
{
  if (c == NULL)
    return;
  stop(c);
  cm_free(c);
}

cm_status cm_thread_pool_run(cm_thread_pool *c, size_t count, cm_task task, void *context, cm_error *error)
{
  cm_rounds_log *log = my_log != NULL && !my_log->inside ? my_log : NULL;
  if (log != NULL && !log->real)
    return record_round(log, count, task, context, error);
  cm_rounds *phase = log != NULL ? begin_recorded(log) : NULL;
  atomic_store(&c->failed, false);
  begin_round(c, count, task, context);
  size_t taken = work(c);
  await_end(c);
  if (log != NULL) {
    phase->helped += count - taken;
    end_recorded(log, phase, count);
  }
  if (!atomic_load(&c->failed))
    return CM_OK;
  *error = c->error;
  return error->status;
}

cm_status cm_parallel(cm_run *run, size_t count, cm_task task, void *context, cm_error *error)
{
  cm_thread_pool pool = {.helpers = 0};
  start(&pool, (unsigned)(run->threads < count ? run->threads : count));
  cm_status status = cm_thread_pool_run(&pool, count, task, context, error);
  stop(&pool);
  return status;
}
