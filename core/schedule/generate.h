/* Schedule generation for projects: from an order of the tasks to start times.
 *
 * Kolisch and Hartmann (Heuristic algorithms for the resource-constrained project scheduling problem, 1999): the serial
 * scheme gives each task of a list in turn the earliest start that precedence and resources leave; every active
 * schedule, hence an optimal one, comes from some list. The parallel scheme goes forward in time and starts what it can.
 * Justification (Valls, Ballestin, Quintanilla, EJOR 2005) shifts all tasks as late, then as early as they go: never
 * longer, often shorter. */
#pragma once

#include "core/schedule/workload.h"

typedef enum cm_direction { CM_FORWARD, CM_BACKWARD } cm_direction;

typedef struct cm_generator cm_generator;

/* Working memory for schedules of one project, which it borrows. O(n * resources). Errors: memory. */
cm_status cm_generator_new(const cm_workload *project, cm_memory *memory, cm_generator **made, cm_error *error);
void cm_generator_free(cm_generator *generator); /* NULL is allowed */

/* The serial scheme. `list` is a topological order (its mirror image when backward); start[] are the start times, the
 * backward ones counted from the makespan: all start at or after 0. Returns the makespan. O(n * (n + degree)) at
 * worst. */
uint64_t cm_generate_serial(cm_generator *generator, cm_direction direction, const uint32_t *list, uint64_t *start);

/* The parallel scheme: whenever something ends, what is ready and fits starts, the highest priority first, ties to the
 * lowest number. O(m + n * (log n + k)), k the number of different sets of amounts that tasks hold. */
uint64_t cm_generate_parallel(cm_generator *generator, const uint64_t *priority, uint64_t *start);

/* One double justification of a schedule: all tasks as late as they go in the order of their ends, then as early in the
 * order of their starts. Changes start[] and leaves in `list` the order of starts, a topological order from which the
 * serial scheme makes this schedule again. `list` must be a topological order on entry. Returns the makespan: at most
 * the one before. Two schedules are generated. */
uint64_t cm_justify(cm_generator *generator, uint32_t *list, uint64_t *start);

/* Sorts a list by keys, keeping the order of equal ones. */
void cm_sort_list(cm_generator *generator, uint32_t *list, const uint64_t *key);
