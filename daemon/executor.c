#include "daemon/executor.h"

#include <string.h>
#include <time.h>

#include "core/base/threads.h"

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

/* Processor time of this thread so far. */
static double thread_seconds(void)
{
  struct timespec used;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

cm_status cm_execute_in_thread(const cm_execution *execution, cm_error *error)
{
  atomic_uint_fast64_t helpers = 0;
  double before = thread_seconds();
  cm_threads_account(&helpers);
  cm_status status = cm_work_run(execution->folder, execution->watch, error);
  cm_threads_account(NULL);
  if (execution->cpu_seconds != NULL)
    *execution->cpu_seconds = thread_seconds() - before + (double)atomic_load(&helpers) * 1e-9;
  return status;
}
