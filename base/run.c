#include "base/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/scratch.h"
#include "base/threads.h"

static const double report_interval_seconds = 0.1;

double cm_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void cm_run_init(cm_run *run)
{
  memset(run, 0, sizeof *run);
  run->seed = 1;
  run->threads = 1;
  run->phase_open = -1;
}

void cm_run_finish(cm_run *run)
{
  if (run->phase_open < 0)
    return;
  cm_phase *phase = &run->phases[run->phase_open];
  cm_threads_close_phase(run);
  phase->seconds += cm_now() - run->phase_started;
  if (run->memory != NULL) {
    uint64_t peak = cm_memory_take_peak(run->memory);
    if (peak > phase->peak_bytes)
      phase->peak_bytes = peak;
  }
  run->phase_open = -1;
}

void cm_run_phase(cm_run *run, const char *name)
{
  cm_run_finish(run);
  size_t i = 0;
  while (i < run->phase_count && strcmp(run->phases[i].name, name) != 0)
    i++;
  if (i == run->phase_count) {
    if (i == CM_RUN_PHASES_MAX)
      i--; /* the last one then gathers the rest */
    else {
      run->phase_count++;
      (void)snprintf(run->phases[i].name, sizeof run->phases[i].name, "%s", name);
    }
  }
  if (run->memory != NULL)
    (void)cm_memory_take_peak(run->memory);
  run->phase_open = (int)i;
  run->phase_started = cm_now();
  run->last_report = 0;
  if (run->on_progress != NULL)
    run->on_progress(run->user, &(cm_progress){run->phases[i].name, 0, -1, 0, NAN});
}

cm_status cm_run_check(cm_run *run, cm_error *error)
{
  cm_scratch_pause();
  if (run->cancel != NULL && atomic_load_explicit(run->cancel, memory_order_relaxed))
    return cm_fail(error, CM_CANCELLED, "stopped on request");
  if (run->deadline > 0 && cm_now() > run->deadline)
    return cm_fail(error, CM_TIME_LIMIT, "the time limit ran out in phase %s",
                   run->phase_open >= 0 ? run->phases[run->phase_open].name : "start");
  return CM_OK;
}

bool cm_run_progress_due(const cm_run *run)
{
  return run->on_progress != NULL && run->phase_open >= 0 && cm_now() - run->last_report >= report_interval_seconds;
}

cm_status cm_run_progress(cm_run *run, double fraction, int level, uint64_t vertices, double metric,
                          cm_error *error)
{
  if (run->on_progress != NULL && run->phase_open >= 0) {
    double now = cm_now();
    if (now - run->last_report >= report_interval_seconds) {
      run->last_report = now;
      run->on_progress(run->user, &(cm_progress){run->phases[run->phase_open].name, fraction, level,
                                                 vertices, metric});
    }
  }
  return cm_run_check(run, error);
}
