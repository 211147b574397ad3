/* The context of one run (a job, or one command): seed, threads, limits, progress, cancel.
 * Every long loop of the core calls cm_run_check; every stage opens a phase. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

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
  double whole;       /* of the whole run, 0 to 1; never falls */
  int level;          /* coarsening level under way, -1 where levels mean nothing */
  uint64_t vertices;  /* vertices of that level, 0 where unknown */
  double metric;      /* the objective as it stands (edge cut, hop traffic), NAN where unknown */
  double bound;       /* what the metric cannot be below; 0: unknown */
} cm_progress;

/* A stretch of a run's progress: from and to are shares of the whole run. */
typedef struct cm_stretch {
  double from, to;
  bool phase; /* of a phase: it ends with the next one, or with the next stretch beside it */
} cm_stretch;

enum { CM_RUN_STRETCHES_MAX = 48 };

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
  double bound; /* of the metric that is told next, by who tells it; 0: unknown */
  cm_stretch stretch[CM_RUN_STRETCHES_MAX]; /* each inside the one before */
  size_t depth;                             /* may be more than that: the rest are as the last */
  atomic_uint_fast64_t at;                  /* how far the run is, in CM_RUN_WHOLE */
  pthread_t teller;                         /* the thread that runs the job */
} cm_run;

/* Monotonic wall clock in seconds. */
double cm_now(void);

/* An idle context: seed 1, one thread, no limits. */
void cm_run_init(cm_run *run);

/* Closes the open phase and opens `name` (a repeat of an earlier name adds to it). It takes the share that base/phases.def gives its
 * name, of what is left of the stretch around it. */
void cm_run_phase(cm_run *run, const char *name);

/* How far a run is, as a whole: stretches lie inside each other, and each is a share (0 to 1) of what is left of the one around it.
 * cm_run_enter opens a stretch with phases of its own, beside the open phase; cm_run_within a piece of the open phase, for loops that tell
 * their progress each from 0 to 1. cm_run_leave ends it, and what was left open in it: `mark` is what opening it gave. Main thread only. */
size_t cm_run_enter(cm_run *run, double share);
size_t cm_run_within(cm_run *run, double share);
void cm_run_leave(cm_run *run, size_t mark);

/* Adds a share of the innermost stretch that is done; from any thread of the run, for tasks side by side. Tells it as cm_run_progress does
 * when the thread is the main one. */
void cm_run_add(cm_run *run, double share);

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
