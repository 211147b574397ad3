/* Partitions that are kept between jobs, in the cache of coarsened levels: a job of the same network under the same limits, on other
 * cores of the chip, is partitioned by looking up. */
#pragma once

#include "core/levels/cache.h"
#include "core/solver/mappers/engine.h"

/* The partition of the task by the engine, as its `partition` makes it: read from the cache of the task's input
 * where an equal task is kept there, else made, and kept where making it took long enough to be worth it. The same parts either way.
 * Of the free cores a method sees how many the chip has, so that jobs on other regions have equal tasks; where those are more than are
 * free and it takes too many, it is asked again. A hit fills saved_seconds of *attempt and what the method would have filled in.
 * Errors: the method's; a cache that fails is as none. O(network) beside the method. */
cm_status cm_partition_or_kept(const cm_engine *engine, const cm_engine_task *task, cm_run *run, cm_attempt *attempt,
                               cm_partition **partition, cm_error *error);

/* One result in the cache, for methods that keep theirs themselves because they depend on the cores: numbers, by a key of all that they
 * follow from. */
typedef struct cm_kept {
  const cm_engine_task *task;
  char key[CM_CACHE_KEY_MAX]; /* "": there is no cache */
  double began;               /* when it was looked for first: what a hit saves is counted from there */
} cm_kept;

/* The key of what an engine makes of a task. Errors: CM_NO_MEMORY. O(network). */
cm_status cm_kept_begin(const cm_engine *engine, const cm_engine_task *task, cm_kept *kept, cm_error *error);

/* The key as it is on these regions: by the shape of each and the ways in it, wherever it lies. Errors: memory. O(cores). */
cm_status cm_kept_on(cm_kept *kept, cm_region *const *regions, uint32_t count, cm_run *run, cm_error *error);

/* The key as it is from these numbers on. O(count). */
void cm_kept_from(cm_kept *kept, const uint32_t *number, uint64_t count);

/* Whether there is such a result, of so many numbers; these, and what *attempt says of it. */
bool cm_kept_find(const cm_kept *kept, uint32_t *number, uint64_t count, cm_attempt *attempt);

/* Keeps one, where it took long enough. */
void cm_kept_keep(const cm_kept *kept, const uint32_t *number, uint64_t count, const cm_attempt *attempt);
