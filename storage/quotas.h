/* Quotas of users and of groups: how much of something one may have, or use in a time (docs/how-to/queue.md). Where there are no users
 * there are none. */
#pragma once

#include "storage/limits.h"

typedef enum cm_quota {
  CM_QUOTA_BYTES,       /* stored: networks, mappings, programs, uploads */
  CM_QUOTA_NETWORKS,
  CM_QUOTA_QUEUED,      /* jobs */
  CM_QUOTA_RUNNING,     /* jobs: more wait in the queue */
  CM_QUOTA_CORE_HOURS,  /* of leases, in seven days up to the end of the last one */
  CM_QUOTA_CPU_SECONDS, /* of jobs, and of what is made for requests, in 24 hours */
  CM_QUOTAS
} cm_quota;

/* Quotas as limits by name: "bytes", "networks", "queued", "running", "core_hours", "cpu_seconds". */
extern const cm_limit_kind cm_quota_kind;

/* CM_QUOTA_USED when `user`, or the group that he is in, would have more than he may with `more` of it; the text says which
 * quota, the use, and when it frees. Nobody ("") may all. */
cm_status cm_quota_check_in(sqlite3 *handle, const char *user, cm_quota quota, double more, cm_error *error);

/* Whether none of the user's jobs may start now: as many of his, or of his group, run as may, or he is disabled. */
cm_status cm_quota_holds_in(sqlite3 *handle, const char *user, bool *holds, cm_error *error);

/* What is computed for a request counts as a job's processor time does: whether the user may have more of it (CM_QUOTA_USED), and
 * noting it. */
cm_status cm_quota_check_cpu(cm_database *database, const char *user, cm_error *error);
cm_status cm_quota_note_cpu(cm_database *database, const char *user, double seconds, cm_error *error);

/* Notes processor time of a user's job, and from when to when he leases so many cores (again: the end has changed). */
cm_status cm_quota_note_cpu_in(sqlite3 *handle, const char *user, double seconds, cm_error *error);
cm_status cm_quota_note_lease_in(sqlite3 *handle, const char *lease, const char *user, uint64_t cores, double ends,
                                 cm_error *error);

/* What a user has and may have; negative limits: none. */
typedef struct cm_quota_use {
  double use[CM_QUOTAS], most[CM_QUOTAS];             /* his own */
  double group_use[CM_QUOTAS], group_max[CM_QUOTAS];  /* his group's, nothing when he is in none */
} cm_quota_use;
cm_status cm_quotas_use(cm_database *database, const char *user, cm_quota_use *use, cm_error *error);
