/* What the server computes while a request waits. */
#pragma once

#include "api/request.h"

/* Something that is computed for a request, in this thread: it ends when the server stops, and keeps the limit of imports. */
typedef struct cm_making {
  cm_memory memory;
  cm_run run;
  double began; /* seconds of this thread's processor time */
} cm_making;

/* CM_QUOTA_USED: who asks has used up his processor time. What has begun is ended by cm_making_end. */
cm_status cm_making_begin(cm_request *request, cm_making *making, cm_error *error);
void cm_making_end(cm_request *request, cm_making *making);
