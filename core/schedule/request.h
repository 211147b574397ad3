/* What is asked of a schedule, as a table of options, and the whole way from a file to a verified schedule. */
#ifndef CM_SCHEDULE_REQUEST_H
#define CM_SCHEDULE_REQUEST_H

#include "base/option.h"
#include "core/schedule/read.h"
#include "core/schedule/schedule.h"

typedef struct cm_schedule_request {
  uint32_t processors; /* of a standard task graph; 0: not said */
  uint32_t method;     /* cm_schedule_method */
  uint64_t schedules;  /* that search and sample may make, 0: by the size of the workload */
  uint64_t seed;
  double time_limit; /* seconds, after which what is found is the result; 0: none */
} cm_schedule_request;

extern const cm_options cm_schedule_option_table;

/* Reads {NAME: value, ...}; NULL: nothing is given. Errors: CM_BAD_OPTION at /options/NAME. */
cm_status cm_schedule_request_read(const json_t *object, cm_schedule_request *request, cm_error *error);

/* Reads the workload at `path`, schedules and verifies it. Phases read and schedule. Sets seed and deadline of the run. The caller's:
 * *workload and *schedule. Errors: those of cm_workload_read, cm_schedule_make and cm_schedule_check. */
cm_status cm_schedule_file(const char *path, const cm_schedule_request *request, cm_run *run, cm_workload **workload,
                           const char **format, cm_schedule **schedule, cm_error *error);

#endif
