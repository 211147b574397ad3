/* Independent tasks on several threads. */
#ifndef CM_BASE_THREADS_H
#define CM_BASE_THREADS_H

#include <stddef.h>

#include "core/base/run.h"

typedef cm_status (*cm_task)(void *context, size_t index, cm_error *error);

/* Calls task(context, i) once for each i in 0 .. count-1 on up to run->threads threads (the caller's
 * included). Tasks must not depend on each other nor write shared data, so the result is the same for any
 * thread count. All started tasks end before it returns. Returns CM_OK, or the failure of the lowest
 * failed index; after a failure no new task starts. */
cm_status cm_parallel(cm_run *run, size_t count, cm_task task, void *context, cm_error *error);

/* From now on the processor time of helpers that this thread starts is added to *nanoseconds when they end; NULL: no longer. */
void cm_threads_account(atomic_uint_fast64_t *nanoseconds);

/* Where slice `slice` of `count` things in `slices` even slices begins; slice `slices` begins at `count`. */
static inline uint64_t cm_slice_begin(uint64_t count, uint64_t slice, uint64_t slices)
{
  return count / slices * slice + count % slices * slice / slices;
}

/* Threads that stay, for many short rounds of tasks. */
typedef struct cm_crew cm_crew;

/* A crew of up to `threads` threads, the caller's included; those that cannot be had are done without. The caller's:
 * cm_crew_free. All its rounds are to be called from one thread. */
cm_status cm_crew_new(cm_memory *memory, unsigned threads, cm_crew **crew, cm_error *error);
void cm_crew_free(cm_crew *crew); /* NULL is allowed */

/* One round: as cm_parallel. */
cm_status cm_crew_run(cm_crew *crew, size_t count, cm_task task, void *context, cm_error *error);

#endif
