/* Executor `threads`: each job in a thread of the server. What can fail: the thread cannot be started. */
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/threads.h"
#include "daemon/executor.h"

/* Processor time of this thread so far. */
static double thread_seconds(void)
{
  struct timespec used;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

typedef struct threaded {
  cm_submission s;
  pthread_t thread;
  atomic_bool ended;
  cm_error error;
  cm_status status;
  double cpu_seconds;
} threaded;

/* Priorities are of threads, those that a thread starts have its own, and none can be had back: hence a thread for each job. Where the
 * machine lets none stand back (a filter of system calls), all are equal. */
static void *work(void *argument)
{
  threaded *t = argument;
  const cm_execution *x = t->s.execution;
  atomic_uint_fast64_t helpers = 0;
  char out[CM_PATH_MAX];
  const uint64_t one = 1;
  if (x->nice > 0)
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), x->nice);
  cm_threads_account(&helpers);
  t->status = cm_work_begin(x->folder, x->attempt, out, &t->error);
  if (t->status == CM_OK)
    t->status = cm_work_run(x->folder, out, x->watch, &t->error);
  cm_threads_account(NULL);
  t->cpu_seconds = thread_seconds() + (double)atomic_load(&helpers) * 1e-9;
  atomic_store(&t->ended, true);
  (void)!write(t->s.wakes, &one, sizeof one);
  return NULL;
}

static cm_status submit(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  threaded *t;
  CM_TRY(CM_HEAP(t, 1, "the job's thread", error));
  t->s.execution = execution;
  t->s.wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int failed = t->s.wakes < 0 ? errno : pthread_create(&t->thread, NULL, work, t);
  if (failed == 0) {
    *made = &t->s;
    return CM_OK;
  }
  if (t->s.wakes >= 0)
    (void)close(t->s.wakes);
  free(t);
  return cm_fail(error, CM_NO_MEMORY, "a thread for the job cannot be started: %s", strerror(failed));
}

static bool has_ended(cm_submission *submission)
{
  return atomic_load(&((threaded *)submission)->ended);
}

/* It looks at the same wish. */
static void stop(CM_UNUSED cm_submission *submission)
{
}

static cm_status judge(const cm_submission *submission, double *cpu_seconds, cm_error *error)
{
  const threaded *t = (const threaded *)submission;
  *cpu_seconds = t->cpu_seconds;
  if (t->status != CM_OK)
    *error = t->error;
  return t->status;
}

static void release(cm_submission *submission)
{
  threaded *t = (threaded *)submission;
  (void)pthread_join(t->thread, NULL);
  (void)close(t->s.wakes);
  free(t);
}

const cm_executor cm_executor_threads = {.name = "threads", .submit = submit, .poll = has_ended, .stop = stop, .judge = judge, .release = release};
