/* coremap: scheduling tasks on processors and resources. */
#ifndef COREMAP_SCHEDULE_H
#define COREMAP_SCHEDULE_H

#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Schedules the workload in a file: a standard task graph (.stg), a heterogeneous graph with communication, or a PSPLIB project
 * (.rcp, .sm). `options` is a JSON object or NULL: "processors" (of a standard task graph), "method" ("search", "list",
 * "rank", "sample"), "schedules", "seed", "time_limit" (seconds). *schedule is a text, the caller's (coremap_text_free):
 * {"tasks", "makespan", "lower_bound", "optimal", "schedules", "units", "schedule": [[task, start, finish, unit], ...]},
 * verified before it is given. Errors: bad-network with the line, bad-option, cancelled, not-found, no-memory, io. */
int coremap_schedule(const char *path, const char *options, coremap_progress progress, void *user, char **schedule,
                     coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
