/* How long things stay: rules of administrators, by user, age and size. What falls goes to the bin, and from there away. */
#pragma once

#include "storage/limits.h"
#include "storage/owners.h"

typedef enum cm_keep {
  CM_KEEP_NETWORKS, /* days since a network was uploaded or last used by a job */
  CM_KEEP_MAPPINGS, /* days since a mapping or program was made */
  CM_KEEP_JOBS,     /* days since a job ended: its record */
  CM_KEEP_BYTES,    /* of one user's mappings and programs: the oldest go */
  CM_KEEPS
} cm_keep;

/* Rules as limits by name: "networks_days", "mappings_days", "jobs_days", "bytes". */
extern const cm_limit_kind cm_keep_kind;

typedef struct cm_retention_done {
  uint64_t networks, mappings, jobs, purged;
} cm_retention_done;

/* Applies the rules as of `now` and purges what has lain in the bin for `bin_seconds`, so many things at once (*done). Pinned
 * things stay, networks that queued or running jobs need, and mappings whose cores are leased. With bin_seconds 0 all goes for
 * good. Each deletion is in the audit trail. */
cm_status cm_retention_run(cm_store *store, double now, double bin_seconds, cm_retention_done *done, cm_error *error);
