#include "base/run.h"

#include <math.h>
#include <time.h>

#include "base/scratch.h"
#include "base/threads.h"

/* Between two reports: a thirtieth of the time so far, so that short runs tell theirs too, within these bounds. */
static const double report_interval_seconds = 0.1, report_interval_least = 0.001, report_share = 1.0 / 30;

/* A whole run, in the units of `at`. */
static const double whole_run = 1e15;

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
  run->teller = pthread_self();
}

/* ---- how far it is ---- */

/* How far the run is, 0 to 1. */
static double whole_of(const cm_run *run)
{
  double at = (double)atomic_load_explicit(&run->at, memory_order_relaxed) / whole_run;
  return at < 1 ? at : 1;
}

static cm_stretch innermost(const cm_run *run)
{
  const size_t depth = run->depth < CM_RUN_STRETCHES_MAX ? run->depth : CM_RUN_STRETCHES_MAX;
  return depth > 0 ? run->stretch[depth - 1] : (cm_stretch){.to = 1};
}

static void reach(cm_run *run, double at)
{
  if (at > whole_of(run))
    atomic_store_explicit(&run->at, (uint_fast64_t)(at * whole_run), memory_order_relaxed);
}

static void close_to(cm_run *run, size_t depth)
{
  for (; run->depth > depth; run->depth--)
    reach(run, innermost(run).to);
}

static size_t open_stretch(cm_run *run, double share, bool phase)
{
  const size_t mark = run->depth++;
  const double to = mark > 0 && mark <= CM_RUN_STRETCHES_MAX ? run->stretch[mark - 1].to : 1, from = fmin(whole_of(run), to);
  if (mark < CM_RUN_STRETCHES_MAX)
    run->stretch[mark] = (cm_stretch){from, from + fmin(fmax(share, 0), 1) * (to - from), phase};
  return mark;
}

/* How deep the innermost stretch lies that is no phase, nor within one. */
static size_t depth_beside_phase(const cm_run *run)
{
  const size_t depth = run->depth < CM_RUN_STRETCHES_MAX ? run->depth : CM_RUN_STRETCHES_MAX;
  size_t first = depth;
  for (size_t i = depth; i > 0 && run->stretch[i - 1].phase; i--)
    first = i - 1;
  return first < depth ? first : run->depth;
}

size_t cm_run_enter(cm_run *run, double share)
{
  close_to(run, depth_beside_phase(run));
  return open_stretch(run, share, false);
}

size_t cm_run_within(cm_run *run, double share)
{
  return open_stretch(run, share, true);
}

void cm_run_leave(cm_run *run, size_t mark)
{
  close_to(run, mark);
}

/* Of what is left of the stretch around a phase. */
static double share_of(const char *phase)
{
  static const struct {
    const char *name;
    double share;
  } shares[] = {
#define PHASE(name, share) {name, share},
#include "base/phases.def"
#undef PHASE
  };
  size_t i = 0;
  while (i < sizeof shares / sizeof *shares && strcmp(shares[i].name, phase) != 0)
    i++;
  return i < sizeof shares / sizeof *shares ? shares[i].share : 0.5;
}

/* ---- phases ---- */

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
  close_to(run, depth_beside_phase(run));
  (void)open_stretch(run, share_of(name), true);
  if (run->on_progress != NULL)
    run->on_progress(run->user, &(cm_progress){run->phases[i].name, 0, whole_of(run), -1, 0, NAN, 0});
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
  if (run->on_progress == NULL || run->phase_open < 0)
    return false;
  const double now = cm_now(), since = now - run->last_report;
  if (since < report_interval_least || since >= report_interval_seconds)
    return since >= report_interval_seconds;
  double elapsed = now - run->phase_started;
  for (size_t i = 0; i < run->phase_count; i++)
    elapsed += run->phases[i].seconds;
  return since >= report_share * elapsed;
}

static void tell(cm_run *run, cm_progress progress)
{
  if (!cm_run_progress_due(run))
    return;
  run->last_report = cm_now();
  progress.phase = run->phases[run->phase_open].name;
  progress.whole = whole_of(run);
  progress.bound = isfinite(progress.metric) ? run->bound : 0;
  run->on_progress(run->user, &progress);
}

/* How far the open phase is. */
static double fraction_of_phase(const cm_run *run)
{
  const cm_stretch s = innermost(run);
  return s.to > s.from ? fmin((whole_of(run) - s.from) / (s.to - s.from), 1) : 0;
}

void cm_run_add(cm_run *run, double share)
{
  const cm_stretch s = innermost(run);
  const double left = s.to - whole_of(run), more = fmin(share * (s.to - s.from), left);
  if (more > 0)
    atomic_fetch_add_explicit(&run->at, (uint_fast64_t)(more * whole_run), memory_order_relaxed);
  if (pthread_equal(run->teller, pthread_self()))
    tell(run, (cm_progress){.fraction = fraction_of_phase(run), .level = -1, .metric = NAN});
}

cm_status cm_run_progress(cm_run *run, double fraction, int level, uint64_t vertices, double metric,
                          cm_error *error)
{
  const cm_stretch s = innermost(run);
  reach(run, s.from + fmin(fmax(fraction, 0), 1) * (s.to - s.from));
  tell(run, (cm_progress){.fraction = fraction, .level = level, .vertices = vertices, .metric = metric});
  return cm_run_check(run, error);
}
