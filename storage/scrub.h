/* Looking at stored bytes while the server works: a disk that loses some is found out before somebody needs them.
 *
 * A thread reads every noted file and every packed result against its SHA-256, round after round. After each piece it rests 99 times
 * as long as that took, so that it has at most a hundredth of the disk's time and of a processor's. */
#pragma once

#include "storage/store.h"

typedef struct cm_scrub cm_scrub;

typedef struct cm_scrub_counts {
  uint64_t rounds;         /* through everything, since the start */
  uint64_t things, bytes;  /* that were read */
  uint64_t damaged;        /* known now; those that are deleted, or whole again, are none after a minute */
} cm_scrub_counts;

/* Starts it for an open store, which ends it when it is closed. CM_NO_MEMORY. */
cm_status cm_scrub_start(cm_store *store, cm_error *error);
void cm_scrub_stop(cm_store *store);

/* All 0 where it has not been started. */
cm_scrub_counts cm_scrub_count(const cm_store *store);
