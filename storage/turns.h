/* Between whose turn it is (turns.c) and the places of jobs (positions.c): what a user has used of the workers. */
#pragma once

#include "storage/jobs_internal.h"
#include "storage/positions.h"

typedef struct cm_queue_person {
  char name[CM_USER_MAX];
  int64_t weight;
  double amount_ms, at; /* use as it was written, and when */
  int64_t used;         /* as of now, for one unit of the share */
  bool held;            /* as many of his jobs run as may */
  int64_t played[CM_LANES]; /* the same as the priorities of a lane are played */
} cm_queue_person;

/* Reads a user's use as of now. */
cm_status cm_queue_person_read(sqlite3 *handle, const char *name, double now, double half_life, cm_queue_person *who, cm_error *error);

/* Brings his use to now. */
void cm_queue_person_fade(cm_queue_person *who, double now, double half_life);

/* Whether some user's running jobs are limited; where none's are, nobody is held. */
cm_status cm_queue_any_held(sqlite3 *handle, bool *any, cm_error *error);
