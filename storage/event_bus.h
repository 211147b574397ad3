/* What jobs are doing just now: progress, events, log and the wish to cancel. In memory only; what must last is
 * in the database. Workers write, event streams and long polls read. All functions are safe from any thread.
 *
 * Events of a job are events of its owner too, with the job's id in them, under the name of his feed. Their ids there are times: microseconds
 * since 1970, so that after a restart it can still be told what came later. */
#pragma once

#include <stdatomic.h>

#include "base/status.h"
#include "storage/progress.h"

typedef struct cm_event_bus cm_event_bus;

typedef struct cm_bus_event {
  uint64_t id;   /* grows, also across restarts */
  char kind[16]; /* "state", "progress" */
  char *data;    /* JSON text on one line; owned by the receiver of cm_event_bus_next */
} cm_bus_event;

enum {
  CM_EVENT_BUS_EVENTS_KEPT = 128,       /* per job: older ones are forgotten */
  CM_EVENT_BUS_FEED_KEPT = 4096,        /* per user */
  CM_EVENT_BUS_JOBS_KEPT = 1024,        /* finished jobs whose events can still be resumed */
  CM_EVENT_BUS_LOG_BYTES_MAX = 256 * 1024,
};

cm_status cm_event_bus_new(cm_event_bus **bus, cm_error *error);
void cm_event_bus_free(cm_event_bus *bus); /* NULL is allowed */

/* `listener` is called after every change of a job, without locks held; set it before jobs run. NULL: none any more; on
 * return no call of the old one is under way. Not to be called from a listener. */
void cm_event_bus_listen(cm_event_bus *bus, void (*listener)(void *user, const char *job), void *user);

/* Adds an event, a JSON object that is not empty, to a job and wakes the listener. Lost when memory is short: the next one tells the same. */
void cm_event_bus_publish(cm_event_bus *bus, const char *job, const char *kind, const char *data);

/* Whose a job is: from now on its events come in his feed too. False: the bus knows already. */
bool cm_event_bus_wants_owner(cm_event_bus *bus, const char *job);
void cm_event_bus_owned(cm_event_bus *bus, const char *job, const char *user);

/* The name of a user's feed, which stands in place of a job's below and wherever the listener is told of one. */
enum { CM_FEED_NAME_MAX = 80 };
const char *cm_event_bus_feed(const char *user, char name[CM_FEED_NAME_MAX]);

/* The feed is there, and its next event will have a higher id than this one, which is returned: the time. `lost`: that of the newest event
 * which was forgotten, or was before the bus; what comes after it is kept. */
uint64_t cm_event_bus_open_feed(cm_event_bus *bus, const char *feed, uint64_t *lost);

/* Whether an event of a feed that came after this one has been forgotten. */
bool cm_event_bus_has_lost(cm_event_bus *bus, const char *feed, uint64_t after);

/* The id of a job's newest event, 0 when there is none. */
uint64_t cm_event_bus_newest(cm_event_bus *bus, const char *job);

/* The first kept event of a job with an id above `after`; false when there is none yet. */
bool cm_event_bus_next(cm_event_bus *bus, const char *job, uint64_t after, cm_bus_event *event);

/* Live progress and phases of a running job as JSON text, which replace what stood there; and a point of its history (NULL: none). */
void cm_event_bus_progress(cm_event_bus *bus, const char *job, const char *progress, const char *phases, const cm_history_point *point);

/* The history of a running job's attempt as JSON text (cm_history_text); the caller frees. NULL: there is none. */
char *cm_event_bus_history(cm_event_bus *bus, const char *job);

/* The seconds that remain of a running job, as it was told last; negative: it has told nothing. */
double cm_event_bus_remaining(cm_event_bus *bus, const char *job);

/* Owned copies of progress and phases, NULL where there are none; and when they were told. */
void cm_event_bus_live(cm_event_bus *bus, const char *job, char **progress, char **phases, double *heard);

/* Appends a line (with a time stamp) to a job's log. */
void cm_event_bus_log(cm_event_bus *bus, const char *job, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* An owned copy of the log so far; NULL when there is none. */
char *cm_event_bus_log_text(cm_event_bus *bus, const char *job);

/* The flag that stops a job's run; stays valid until cm_event_bus_finished of the job. NULL: no memory. */
atomic_bool *cm_event_bus_cancel_flag(cm_event_bus *bus, const char *job);

/* Whether that flag is set. */
bool cm_event_bus_cancelled(cm_event_bus *bus, const char *job);

/* Sets that flag. */
void cm_event_bus_cancel(cm_event_bus *bus, const char *job);

/* The job starts (anew). A wish to cancel that came first stands. */
void cm_event_bus_start(cm_event_bus *bus, const char *job);

/* The job has ended: its live state goes, its events stay for a while. */
void cm_event_bus_finished(cm_event_bus *bus, const char *job);
