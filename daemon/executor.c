#include "daemon/executor.h"

#include <coremap/network.h>
#include <poll.h>
#include <unistd.h>

#include "daemon/slurm/cluster.h"
#include "library/private/job_kinds.h"

/* How often a job is looked at that does not tell. */
enum { LOOK_MS = 100 };

/* Whether the job has a file of spikes that only a confined process should read. */
static bool has_strange_spikes(const char *folder)
{
  char path[CM_PATH_MAX];
  coremap_error *ignored = NULL;
  cm_error error;
  unsigned looks = 0;
  if (cm_path(path, &error, "%s/" CM_WORK_UPLOAD, folder) != CM_OK || access(path, F_OK) != 0)
    return false;
  const bool looked = coremap_look(path, NULL, &looks, &ignored) == 0;
  coremap_error_free(ignored);
  return !looked || (looks & COREMAP_LOOKS_CONFINED) != 0;
}

static const cm_executor *const all[] = {&cm_executor_threads, &cm_executor_process, &cm_executor_slurm};
enum { EXECUTORS = sizeof all / sizeof *all };

const cm_executor *cm_executor_find(const char *name)
{
  for (size_t i = 0; i < EXECUTORS; i++)
    if (!all[i]->elsewhere && strcmp(all[i]->name, name) == 0)
      return all[i];
  return NULL;
}

const cm_executor *cm_executor_for(const cm_executor *chosen, const char *kind, const char *folder)
{
  const bool outside = chosen->outside || library_job_kind_of(kind)->outside || has_strange_spikes(folder);
  return outside && !chosen->outside ? &cm_executor_process : chosen;
}

bool cm_submission_poll(cm_submission *submission)
{
  const atomic_bool *cancel = submission->execution->watch->cancel;
  if (!submission->stopped && cancel != NULL && atomic_load(cancel)) {
    submission->stopped = true;
    submission->executor->stop(submission);
  }
  return submission->executor->poll(submission);
}

cm_status cm_executor_submit(const cm_executor *executor, const cm_execution *execution, cm_submission **made, cm_error *error)
{
  CM_TRY(executor->submit(execution, made, error));
  (*made)->executor = executor;
  return CM_OK;
}

cm_status cm_executor_adopt(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  for (size_t i = 0; i < EXECUTORS; i++)
    if (all[i]->adopt != NULL && all[i]->adopt(execution, made, error) == CM_OK) {
      (*made)->executor = all[i];
      return CM_OK;
    }
  return cm_fail(error, CM_NOT_FOUND, "nobody carries out the job of %s", execution->folder);
}

void cm_executor_settle(void)
{
  for (size_t i = 0; i < EXECUTORS; i++)
    if (all[i]->settle != NULL)
      all[i]->settle();
}

cm_status cm_executor_run(const cm_executor *executor, const cm_execution *execution, cm_error *error)
{
  cm_submission *submission;
  double ignored;
  CM_TRY(cm_executor_submit(executor, execution, &submission, error));
  while (!cm_submission_poll(submission))
    (void)poll(&(struct pollfd){.fd = submission->wakes, .events = POLLIN}, 1, LOOK_MS);
  const cm_status status = executor->judge(submission, &ignored, error);
  executor->release(submission);
  return status;
}
