/* The context of one run (a job, or one command): seed, threads, limits, progress, cancel.
 * Every long loop of the core calls cm_run_check; every stage opens a phase. */
#ifndef CM_BASE_RUN_H
#define CM_BASE_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

enum { CM_RUN_PHASES_MAX = 64, CM_PHASE_NAME_MAX = 32 };

typedef struct cm_phase {
  char name[CM_PHASE_NAME_MAX];
  double seconds;      /* wall time spent in it, summed over repeats */
  uint64_t peak_bytes; /* highest accounted memory while in it */
} cm_phase;

typedef struct cm_progress {
  const char *phase;  /* name of the phase under way */
  double fraction;    /* of this phase, 0 to 1 */
  int level;          /* coarsening level under way, -1 where levels mean nothing */
  uint64_t vertices;  /* vertices of that level, 0 where unknown */
  double metric;      /* the objective as it stands (edge cut, hop traffic), NAN where unknown */
} cm_progress;

typedef struct cm_run {
  uint64_t seed;
  unsigned threads;          /* at least 1; never changes a result */
  double deadline;           /* monotonic seconds (cm_now), 0: none */
  const atomic_bool *cancel; /* NULL: cannot be cancelled */
  cm_memory *memory;         /* NULL: not counted */
  /* Called from the thread that runs the job, at most some ten times a second; may be NULL. */
  void (*on_progress)(void *user, const cm_progress *progress);
  void *user;

  /* Below: kept by cm_run_*. */
  cm_phase phases[CM_RUN_PHASES_MAX];
  size_t phase_count;
  int phase_open; /* index of the open phase, -1: none */
  double phase_started;
  double last_report;
} cm_run;

/* Monotonic wall clock in seconds. */
double cm_now(void);

/* An idle context: seed 1, one thread, no limits. */
void cm_run_init(cm_run *run);

/* Closes the open phase and opens `name` (a repeat of an earlier name adds to it). */
void cm_run_phase(cm_run *run, const char *name);

/* Closes the open phase. */
void cm_run_finish(cm_run *run);

/* Cheap; to be called every few thousand steps: CM_CANCELLED or CM_TIME_LIMIT when it is time to stop.
 * Safe from any thread of the run. */
cm_status cm_run_check(cm_run *run, cm_error *error);

/* Counts steps between two such calls, for loops whose turns are of very different lengths: true when `more` of them bring
 * CM_RUN_STEPS together, which then count anew. To begin with as many calls at once. */
enum { CM_RUN_STEPS = 1 << 18 };
static inline bool cm_run_due(uint64_t *steps, uint64_t more)
{
  *steps += more;
  if (*steps < CM_RUN_STEPS)
    return false;
  *steps = 0;
  return true;
}

/* Whether cm_run_progress would tell somebody now: figures that only progress shows need not be found otherwise. */
bool cm_run_progress_due(const cm_run *run);

/* Reports progress of the open phase (rate-limited) and checks as cm_run_check does. Main thread only. */
cm_status cm_run_progress(cm_run *run, double fraction, int level, uint64_t vertices, double metric,
                          cm_error *error);

#endif
