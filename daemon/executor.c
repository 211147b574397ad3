#include "daemon/executor.h"

#include <coremap/network.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/threads.h"
#include "daemon/job/work.h"
#include "library/private/job_kinds.h"

static const cm_executor executors[] = {
  {"threads", false, cm_execute_in_thread},
  {"process", true, cm_execute_in_child},
};

const cm_executor *cm_executor_find(const char *name)
{
  for (size_t i = 0; i < sizeof executors / sizeof *executors; i++)
    if (strcmp(executors[i].name, name) == 0)
      return &executors[i];
  return NULL;
}

/* Whether the job has a file of spikes that only a confined process should read. */
static bool has_strange_spikes(const char *folder)
{
  char path[CM_PATH_MAX];
  coremap_error *ignored = NULL;
  cm_error error;
  unsigned looks = 0;
  if (cm_path(path, &error, "%s/" CM_WORK_SPIKES, folder) != CM_OK || access(path, F_OK) != 0)
    return false;
  const bool looked = coremap_look(path, NULL, &looks, &ignored) == 0;
  coremap_error_free(ignored);
  return !looked || (looks & COREMAP_LOOKS_CONFINED) != 0;
}

const cm_executor *cm_executor_for(const cm_executor *chosen, const char *kind, const char *folder)
{
  const bool outside = chosen->outside || library_job_kind_of(kind)->outside || has_strange_spikes(folder);
  return outside && !chosen->outside ? cm_executor_find("process") : chosen;
}

/* Processor time of this thread so far. */
static double thread_seconds(void)
{
  struct timespec used;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

typedef struct threaded {
  const cm_execution *execution;
  cm_error *error;
  cm_status status;
} threaded;

static void work(threaded *t)
{
  const cm_execution *execution = t->execution;
  atomic_uint_fast64_t helpers = 0;
  double before = thread_seconds();
  cm_threads_account(&helpers);
  char out[CM_PATH_MAX];
  t->status = cm_work_begin(execution->folder, execution->attempt, out, t->error);
  if (t->status == CM_OK)
    t->status = cm_work_run(execution->folder, out, execution->watch, t->error);
  cm_threads_account(NULL);
  if (execution->cpu_seconds != NULL)
    *execution->cpu_seconds = thread_seconds() - before + (double)atomic_load(&helpers) * 1e-9;
}

/* Priorities are of threads, those that a thread starts have its own, and none can be had back: hence a thread for each job. Where the
 * machine lets none stand back (a filter of system calls), all are equal. */
static void *work_patiently(void *argument)
{
  threaded *t = argument;
  (void)setpriority(PRIO_PROCESS, (id_t)gettid(), t->execution->nice);
  work(t);
  return NULL;
}

cm_status cm_execute_in_thread(const cm_execution *execution, cm_error *error)
{
  threaded t = {.execution = execution, .error = error};
  pthread_t thread;
  if (execution->nice > 0 && pthread_create(&thread, NULL, work_patiently, &t) == 0)
    (void)pthread_join(thread, NULL);
  else
    work(&t);
  return t.status;
}
