/* What the log tells of jobs: a line for each step (docs/how-to/log.md). */
#include <math.h>

#include "storage/jobs.h"
#include "storage/log.h"

void cm_job_log(const cm_job *job, const char *step, const char *why)
{
  cm_log_line line;
  const double now = cm_store_time();
  cm_log_begin(&line, "job");
  if (line.used == 0)
    return;
  cm_log_word(&line, "job", job->id);
  cm_log_word(&line, "step", step);
  cm_log_word(&line, "why", why);
  cm_log_word(&line, "user", job->owner.user);
  cm_log_word(&line, "request", job->request);
  cm_log_word(&line, "kind", job->kind);
  cm_log_word(&line, "class", job->likeness);
  cm_log_word(&line, "network", job->network);
  cm_log_word(&line, "chip", job->chip);
  if (job->attempt > 0) {
    cm_log_count(&line, "attempt", (uint64_t)job->attempt);
    cm_log_seconds(&line, "seconds", fmax(now - job->started, 0));
    cm_log_seconds(&line, "cpu_seconds", job->cpu_seconds);
  }
  cm_log_end(&line);
}
