/* Coarsened levels that come with a job folder and stay in it. */
#ifndef CM_DAEMON_JOB_LEVELS_H
#define CM_DAEMON_JOB_LEVELS_H

#include "core/mapping/stage/cache.h"
#include "daemon/job/work.h"

typedef struct cm_work_levels {
  cm_cache *given, *made; /* in/levels (NULL: there are none) and out/levels */
  cm_level_cache cache;   /* what the pipeline works with; valid while *this stays where it is */
} cm_work_levels;

cm_status cm_work_levels_open(const char *folder, cm_work_levels *levels, cm_error *error);
void cm_work_levels_close(cm_work_levels *levels);

#endif
