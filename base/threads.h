/* Independent tasks on several threads. */
#pragma once

#include "base/run.h"

typedef cm_status (*cm_task)(void *context, size_t index, cm_error *error);

/* Calls task(context, i) once for each i in 0 .. count-1 on up to run->threads threads (the caller's
 * included). Tasks must not depend on each other nor write shared data, so the result is the same for any
 * thread count. All started tasks end before it returns. Returns CM_OK, or the failure of the lowest
 * failed index; after a failure no new task starts. */
cm_status cm_parallel(cm_run *run, size_t count, cm_task task, void *context, cm_error *error);

/* From now on the processor time of helpers that this thread starts is added to *nanoseconds when they end; NULL: no longer. */
void cm_threads_account(atomic_uint_fast64_t *nanoseconds);

/* What the rounds of tasks of a phase took, and how long they would last on as many threads as the log has. */
typedef struct cm_rounds {
  uint64_t rounds, tasks;
  uint64_t helped; /* of the tasks, those that another thread than the caller took */
  double alone;    /* processor seconds of the caller outside of rounds */
  double together; /* of all tasks */
  double span;     /* of the busiest thread, summed over rounds, each task being taken by the thread that is free first */
} cm_rounds;

/* A model of more threads than there are, by counting: loads of the machine do not show in it. */
typedef struct cm_rounds_log {
  const cm_run *run;  /* whose phases; its `threads` is what slices and tasks are made for */
  cm_rounds phase[CM_RUN_PHASES_MAX];
  bool real;          /* rounds run on threads, and are only counted: of times, `alone` is known */
  double last;        /* processor time of the thread up to which all is accounted for */
  bool inside;        /* a task is under way: rounds within it are part of it */
} cm_rounds_log;

/* From now on this thread's rounds are played by it alone, each task being timed, into `log` (whose `run` is set, and `real`, the
 * rest zeroed); NULL: no longer. */
void cm_threads_record(cm_rounds_log *log);

/* The open phase of the recorded run is about to change or end: what the thread did since its last round was part of it. */
void cm_threads_close_phase(const cm_run *run);

/* Slices of much work that threads may share: so many that none waits long for the last. */
enum { CM_SLICES = 64 };

/* Where slice `slice` of `count` things in `slices` even slices begins; slice `slices` begins at `count`. */
static inline uint64_t cm_slice_begin(uint64_t count, uint64_t slice, uint64_t slices)
{
  return count / slices * slice + count % slices * slice / slices;
}

/* The last member of what each thread has one of in an array and writes often: no two are to share a line of memory, nor neighbouring
 * ones, or each write takes it from the other's cache. */
#define CM_THREADS_APART char apart[128];

/* Threads that stay, for many short rounds of tasks. */
typedef struct cm_thread_pool cm_thread_pool;

/* A pool of up to `threads` threads, the caller's included; those that cannot be had are done without. The caller's:
 * cm_thread_pool_free. All its rounds are to be called from one thread. */
cm_status cm_thread_pool_new(cm_memory *memory, unsigned threads, cm_thread_pool **pool, cm_error *error);
void cm_thread_pool_free(cm_thread_pool *pool); /* NULL is allowed */

/* One round: as cm_parallel. */
cm_status cm_thread_pool_run(cm_thread_pool *pool, size_t count, cm_task task, void *context, cm_error *error);
