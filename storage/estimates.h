/* How long jobs take: learnt from like ones that are done.
 *
 * A job's class is its kind, preset and objective; within it jobs are the more alike the nearer their sizes are, on the same chip and
 * with the same options. Seconds follow a power of the size that is fitted to the last ones of the class. */
#pragma once

#include "storage/jobs.h"

/* Jobs that are expected to take less wait in the lane for short ones. */
extern const double cm_short_seconds;

/* The seconds that a job of this likeness, chip and size is expected to take, inside a transaction; O(1). A class that is new
 * gets a rough guess. */
cm_status cm_estimate_in(sqlite3 *handle, const cm_job *job, double *seconds, cm_error *error);

/* The same, outside of any. */
cm_status cm_estimate(cm_store *store, const cm_job *job, double *seconds, cm_error *error);

/* The bytes of memory that it is expected to hold at most, of its own account; the same way. */
cm_status cm_estimate_bytes_in(sqlite3 *handle, const cm_job *job, double *bytes, cm_error *error);

/* Notes that a job has taken so many seconds, and its bytes; the oldest of its class are forgotten. */
cm_status cm_estimate_learn_in(sqlite3 *handle, const cm_job *job, double seconds, cm_error *error);

/* How many done jobs of its class an estimate is made from. */
cm_status cm_estimate_known_in(sqlite3 *handle, const cm_job *job, unsigned *known, cm_error *error);

/* The seconds that remain after `elapsed` of `expected`, of a job that does not say how far it is: who runs late is given a quarter of his
 * time more, always anew. */
double cm_estimate_left(double elapsed, double expected);

/* Where a job stands that runs: one fraction of its time for the whole of it, which never falls, and the seconds that remain. */
typedef struct cm_outlook {
  double fraction, remaining;
} cm_outlook;

/* Looks again, after `elapsed` seconds: the job was expected to take so many, as `known` done ones of its class say, and itself says that
 * `whole` of it is done (0 to 1; below 0: it does not say). Until five are known its own word counts alone, but for the beginning. *outlook
 * is that of the look before; zeroed at first. */
void cm_estimate_outlook(cm_outlook *outlook, double elapsed, double expected, unsigned known, double whole);
