/* How long jobs take: learnt from like ones that are done.
 *
 * A job's class is its kind and preset; within it jobs are the more alike the nearer their sizes are, on the same chip and
 * with the same options. Seconds follow a power of the size that is fitted to the last ones of the class. */
#ifndef CM_STORAGE_ESTIMATES_H
#define CM_STORAGE_ESTIMATES_H

#include "storage/jobs.h"

/* Jobs that are expected to take less wait in the lane for short ones. */
extern const double cm_short_seconds;

/* The seconds that a job of this likeness, chip and size is expected to take, inside a transaction; O(1). A class that is new
 * gets a rough guess. */
cm_status cm_estimate_in(sqlite3 *handle, const cm_job *job, double *seconds, cm_error *error);

/* Notes that a job has taken so many seconds; the oldest of its class are forgotten. */
cm_status cm_estimate_learn_in(sqlite3 *handle, const cm_job *job, double seconds, cm_error *error);

/* Where a job stands that has run for `elapsed` of `expected` seconds: one fraction for the whole of it, which never goes
 * backwards while time does not, and the seconds that remain. Who runs late is given a quarter of his time more, always anew. */
void cm_estimate_outlook(double elapsed, double expected, double *fraction, double *remaining);

#endif
