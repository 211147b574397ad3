/* Figures for whoever watches the server: counted in memory since its start, and read from the database when asked for. */
#pragma once

#include <stdatomic.h>

#include "storage/jobs.h"

enum { CM_DURATION_BOUNDS = 14 };

/* How many of something took how long. Counting takes no lock; a reader may see one count before another. */
typedef struct cm_durations {
  atomic_uint_fast64_t bucket[CM_DURATION_BOUNDS + 1]; /* up to each bound and above the one before; the last: above all */
  atomic_uint_fast64_t microseconds;                    /* of all together */
} cm_durations;

/* Bounds in seconds: of requests, of jobs. */
extern const double cm_request_bounds[CM_DURATION_BOUNDS], cm_job_bounds[CM_DURATION_BOUNDS];

void cm_durations_add(cm_durations *histogram, const double bounds[CM_DURATION_BOUNDS], double seconds);

typedef struct cm_monitor cm_monitor;
cm_status cm_monitor_start(cm_monitor **monitor, cm_error *error);
void cm_monitor_free(cm_monitor *monitor); /* NULL is allowed */

/* A job has come to an end; `seconds` of its last attempt, which are counted when it made a result of its own. */
void cm_monitor_job_ended(cm_monitor *monitor, const cm_job *job, cm_job_state state, bool own, double seconds);

/* Jobs of one kind and preset. */
typedef struct cm_job_series {
  char kind[16], preset[24]; /* of a compile job where it stops, of a simulation what it does */
  atomic_uint_fast64_t ended[CM_JOB_STATES];
  atomic_uint_fast64_t cpu_microseconds;
  cm_durations seconds; /* of those done, but for results that were there */
} cm_job_series;

/* The series so far, from 0; NULL: there are no more. It lives as long as the monitor. */
const cm_job_series *cm_monitor_jobs(cm_monitor *monitor, size_t number);

/* What a user has. */
typedef struct cm_user_figures {
  char user[CM_USER_MAX]; /* "": nobody's */
  double network_bytes, mapping_bytes, upload_bytes;
  double leases, leased_cores;
  double cpu_seconds; /* of 24 hours */
  double queued, running;
} cm_user_figures;

/* Of a lane of the queue: the seconds for which its oldest job has waited (0: none waits), and its jobs. */
typedef struct cm_lane_figures {
  double age, queued, running;
} cm_lane_figures;

typedef struct cm_figures {
  cm_lane_figures lanes[CM_LANES];
  cm_user_figures *users;     /* who has anything, by name */
  size_t user_count;
} cm_figures;

/* Reads them; O(users, leases, running jobs). The caller frees figures->users. */
cm_status cm_figures_read(cm_store *store, cm_figures *figures, cm_error *error);
