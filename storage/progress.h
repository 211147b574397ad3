/* How a job went: points of its progress, few however long it runs. */
#pragma once

#include "base/run.h"

enum { CM_HISTORY_POINTS_MAX = 200 };

typedef struct cm_history_point {
  char phase[CM_PHASE_NAME_MAX];
  double seconds;             /* since the attempt began */
  double fraction, remaining; /* of the whole job, and seconds, as they were estimated then */
  double metric;              /* NAN: the phase has none */
  double bound;               /* what the metric cannot be below; 0: unknown */
} cm_history_point;

typedef struct cm_history {
  cm_history_point point[CM_HISTORY_POINTS_MAX]; /* by time */
  size_t count;
  double gap; /* seconds that points are apart at least, but for the last */
} cm_history;

/* Adds a point; where there are too many every second one goes. */
void cm_history_add(cm_history *history, const cm_history_point *point);

/* The points as a JSON array; the caller frees. NULL: no memory. O(points). */
char *cm_history_text(const cm_history *history);
