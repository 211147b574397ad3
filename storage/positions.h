/* Whose turn it is, and places in the queue.
 *
 * A claim takes the highest priority, in it the user who has used least of the workers' time for his share
 * (storage/usage.h), of that user the oldest job. The place of a job is the number of the claim of its lane that takes it,
 * each job charged what the ready ones of its user are expected to take on average, and none that runs ending before. Users
 * thus take turns, and how far ahead the others come follows from four numbers of each: use, share, ready jobs and what
 * these are expected to take. A job that waits for an identical one or for its retry's time has the place that it would have
 * if it were ready. */
#pragma once

#include "storage/jobs.h"

typedef struct cm_queue_order cm_queue_order;

/* Reads users and priorities of the queue, inside a transaction; O(users x priorities). `version` of CM_WATCHED_QUEUE from
 * before the transaction. Free with cm_queue_order_free, or let the store keep it. */
cm_status cm_queue_order_load(sqlite3 *handle, uint64_t version, cm_queue_order **order, cm_error *error);
void cm_queue_order_free(cm_queue_order *order); /* NULL is allowed */

/* The order that the store keeps, as of now, when it is of this version and nobody else works with it; NULL: it must be
 * loaded. The caller owns it. */
cm_queue_order *cm_queue_order_take(cm_store *store, uint64_t version);

/* Gives an order to the store, for those who ask next; NULL is allowed. */
void cm_queue_order_keep(cm_store *store, cm_queue_order *order);

/* Whose turn it is, with which priority and in which lane, inside a transaction; *any: somebody has a ready job that may
 * start. O(users with ready jobs of the highest priority), and those who may not start one. */
typedef struct cm_turn {
  char user[CM_USER_MAX];
  int priority;
  cm_lane_of_jobs lane;
} cm_turn;
cm_status cm_queue_turn(sqlite3 *handle, cm_claim claim, bool *any, cm_turn *turn, cm_error *error);

/* Fills position, ahead_seconds and held of a queued job, in the same transaction: O(users of its priority + log jobs).
 * `successive`: since the last call for this user, lane and priority (of jobs in descending order of sequence) no queued job
 * was left out, so that nothing needs to be counted. */
cm_status cm_queue_order_place(cm_queue_order *order, sqlite3 *handle, cm_job *job, bool successive, cm_error *error);
