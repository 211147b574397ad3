/* What is asked of a schedule, as a table of options, and the whole way from a file to a verified schedule. */
#pragma once

#include <stdio.h>

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

/* Writes a schedule as a timeline (trace.h), one unit of time as a microsecond. Where resources have no units, tasks take the
 * lowest free lane. Tasks without duration are left out. O(n log n). Errors: CM_IO, CM_DISK_FULL, memory. */
cm_status cm_schedule_write_trace(const cm_schedule *schedule, const char *name, cm_memory *memory, FILE *stream,
                                  cm_error *error);

/* {"tasks", "makespan", "lower_bound", "optimal", "schedules", "units" (or null), "schedule": [[task, start, finish,
 * unit], ...]} and no unit where there is none. Errors: CM_IO, CM_DISK_FULL. */
cm_status cm_schedule_write_json(const cm_schedule *schedule, FILE *stream, cm_error *error);
