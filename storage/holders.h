/* Who holds a thing: those who own it, jobs that are queued or running and need it, leases of its cores, pins. Asked before it goes,
 * whoever lets it go: a user, a rule, the removal of a user.
 *
 * Equal uploads are one network and equal jobs make one mapping or program, which is then each one's: the first owner stands in
 * its row, the others in table owners, each with what he lets others see of it, whether he has pinned it and since when it is his.
 * What lies in the bin keeps the others there. */
#pragma once

#include "storage/owners.h"

/* The mapping that a job starts from or whose packets it moves; word for word the expression of an index. */
#define CM_JOB_SOURCE \
  "CASE WHEN json_valid(options) THEN json_extract(options, CASE kind WHEN 'simulate' THEN '$.mapping' ELSE '$.from' END) END"
/* The network whose levels it carries over; the same. */
#define CM_JOB_LEVELS "CASE WHEN json_valid(options) THEN json_extract(options, '$.levels_from') END"
#define CM_JOB_GOES_ON "state IN ('queued', 'running')"

/* Conditions on the thing of an id: jobs need it, its cores are leased as of `now`. */
#define CM_JOB_OF(what, id) "(" what " = " id " AND " CM_JOB_GOES_ON ")"
#define CM_JOB_OF_NETWORK(id) "(" CM_JOB_OF("network", id) " OR " CM_JOB_OF(CM_JOB_LEVELS, id) ")"
#define CM_NETWORK_IS_NEEDED(id) "EXISTS (SELECT 1 FROM jobs WHERE " CM_JOB_OF_NETWORK(id) ")"
#define CM_MAPPING_IS_NEEDED(id) "EXISTS (SELECT 1 FROM jobs WHERE " CM_JOB_OF(CM_JOB_SOURCE, id) ")"
#define CM_MAPPING_IS_LEASED(job_of_it, now) "EXISTS (SELECT 1 FROM leases l WHERE l.job = " job_of_it " AND l.expires > " now ")"

/* Inside closures: CM_CONFLICT while jobs need a network, chip, mapping or program. It names one of them that the viewer sees (NULL:
 * any), and the figure "jobs" counts them. */
cm_status cm_holders_check_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, cm_error *error);

/* Inside closures: a network, mapping or program becomes this user's too, who shows it as `owner` says. Nothing changes when it is his,
 * or when he is nobody. */
cm_status cm_holders_join_in(sqlite3 *handle, cm_object object, const char *id, const cm_owner *owner, cm_error *error);

/* Inside closures: it stops being the viewer's, and stays with the others. *last: nobody else owns it, or he is none of its owners, and
 * nothing has changed. */
cm_status cm_holders_leave_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, bool *last, cm_error *error);

/* Inside closures: what this user is the first owner of becomes the next one's, where there is one: the thing of an id, or all. */
cm_status cm_holders_hand_over_in(sqlite3 *handle, cm_object object, const char *id, const char *user, cm_error *error);

/* In the transaction that removes a user: what he owned is the other owners', or nobody's. */
cm_status cm_holders_remove_user_in(sqlite3 *handle, const char *user, cm_error *error);

/* A network, mapping or program that no rule takes from its owner `user`, or (false) no longer; of others than owners: from the first
 * one. CM_NOT_FOUND. */
cm_status cm_pin(cm_store *store, cm_object object, const char *id, const char *user, bool pinned, cm_error *error);
cm_status cm_pinned(cm_store *store, cm_object object, const char *id, const char *user, bool *pinned, cm_error *error);
