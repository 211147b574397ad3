/* Time for what ends by itself: leases, and the delays of retries.
 *
 * Ends are stored as wall time, so that they mean something after a restart. While the server runs they are compared with
 * CLOCK_BOOTTIME plus an offset that stands in the database and is set at start: somebody who sets the wall clock ends no
 * lease and lengthens none. When the wall clock has been set, cm_clock_follow moves offset and stored ends alike in one
 * transaction, so that what is shown and what a restart finds is right again. */
#pragma once

#include "storage/store.h"

/* Now, in the terms of stored ends; `parameter` is bound to cm_clock_steady(). */
#define CM_NOW(parameter) "((SELECT offset FROM clock) + " parameter ")"

/* Seconds since boot, suspension included (CLOCK_BOOTTIME). */
double cm_clock_steady(void);

/* Sets the offset: the wall clock counts for the time in which no server ran. */
cm_status cm_clock_start(cm_store *store, cm_error *error);

/* Follows the wall clock when it has been set by more than a second; to be called now and then, and at an orderly end: what is
 * stored then is compared with the wall clock by the next start. */
cm_status cm_clock_follow(cm_store *store, cm_error *error);

/* Tests: other sources of wall time and steady time; NULL for the real ones. */
typedef struct cm_clock {
  double (*wall)(void), (*steady)(void);
} cm_clock;
void cm_clock_replace(const cm_clock *clock);
