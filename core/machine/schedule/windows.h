/* What another order of some operators comes to, from the state that the chip is in when they begin: the score of a
 * subgraph alone. Internal to core/machine. */
#pragma once

#include "core/machine/schedule/timetable.h"

typedef struct cm_windows cm_windows;

/* Lays the plan out in time once and keeps the state at the first segment of each subgraph: subgraph s holds operators
 * [bound[s], bound[s + 1]) of the plan's order. A subgraph's window are the whole segments that it has a part in. The
 * caller's: cm_windows_free. Memory: a state is as large as the tiles are many. Errors: memory, cancel, time. */
cm_status cm_windows_new(cm_plan *plan, const uint32_t *bound, uint32_t count, cm_run *run, cm_windows **made, cm_error *error);
void cm_windows_free(cm_windows *windows); /* NULL is allowed */

/* Steps that scoring a subgraph takes: cm_timetable.effort. */
uint64_t cm_windows_effort(const cm_windows *windows, uint32_t subgraph);

/* When the last task of a subgraph's window ends if its operators stand in the order of `ops`. May be called from several
 * threads at once. Linear in the window's pieces and the plan's tiles. Errors: memory, cancel. */
cm_status cm_windows_score(const cm_windows *windows, uint32_t subgraph, const uint32_t *ops, double *time_ns, cm_error *error);

/* The time of the whole program when all operators stand in the order of `ops`. Errors: memory, cancel. */
cm_status cm_windows_whole(const cm_windows *windows, const uint32_t *ops, double *time_ns, cm_error *error);
