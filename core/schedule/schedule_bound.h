/* Lower bounds on the length of any schedule of a workload. */
#pragma once

#include "core/schedule/workload.h"

/* The largest of: the longest way through the graph (on the fastest processors, transfers free); the load of each
 * resource over its capacity; head + load + tail over all tasks with at least that head and tail; and for at most 256
 * tasks the energy that intervals must hold (Fernandez, Bussell, IEEE Trans. Computers 1973). Bounded work: linear in
 * the graph for large ones. Errors: memory. */
cm_status cm_schedule_bound(const cm_workload *workload, cm_memory *memory, uint64_t *bound, cm_error *error);
