/* Places in the queue.
 *
 * The place of a job is the number of the claim that takes it, if none of the jobs that run ends before: claims take the
 * highest priority, in it the user with the fewest running jobs, of those the one whose last start is longest ago, of that
 * user the oldest job. Users thus take turns, and how far ahead the others come follows from four numbers of each: ready
 * jobs, running jobs, last start, first ready job. A job that waits for an identical one or for its retry's time has the
 * place that it would have if it were ready. */
#ifndef CM_STORAGE_POSITIONS_H
#define CM_STORAGE_POSITIONS_H

#include "storage/jobs.h"

typedef struct cm_queue_order cm_queue_order;

/* Reads users and priorities of the queue, inside a transaction; O(users x priorities). Free with cm_queue_order_free. */
cm_status cm_queue_order_load(sqlite3 *handle, cm_queue_order **order, cm_error *error);
void cm_queue_order_free(cm_queue_order *order); /* NULL is allowed */

/* Fills job->position of a queued job, in the same transaction: O(users of its priority + log jobs). `successive`: since the
 * last call for this user and priority (of jobs in descending order of sequence) no queued job was left out, so that
 * nothing needs to be counted. */
cm_status cm_queue_order_place(cm_queue_order *order, sqlite3 *handle, cm_job *job, bool successive, cm_error *error);

#endif
