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

typedef struct coremap_timetable coremap_timetable;

/* The same as an object, of which texts and files are made: "schedule" (the text above), "summary" ({"format", "tasks", "arcs",
 * "resources", "units" (null: none), "makespan", "lower_bound", "optimal", "schedules"}), "timeline" (Chrome trace JSON, a unit
 * of time a microsecond). A file is written whole or not at all; a text is the caller's. Errors: bad-option (names these three),
 * no-memory, disk-full, io. */
int coremap_timetable_make(const char *path, const char *options, coremap_progress progress, void *user, coremap_timetable **timetable,
                           coremap_error **error);
int coremap_timetable_write(const coremap_timetable *timetable, const char *what, const char *path, coremap_error **error);
int coremap_timetable_text(const coremap_timetable *timetable, const char *what, char **text, coremap_error **error);
void coremap_timetable_free(coremap_timetable *timetable); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
