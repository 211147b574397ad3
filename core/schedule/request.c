/* The options of schedules, and schedules of files. */
#include "core/schedule/request.h"

#include <stddef.h>

#define FIELD(name) offsetof(cm_schedule_request, name)
#define LARGE 9007199254740992.0 /* the largest whole number that a double is sure of */

static const cm_option options_of_schedules[] = {
  {"processors", CM_OPTION_COUNT, FIELD(processors), 1, CM_PROCESSORS_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "identical processors of a standard task graph"},
  {"method", CM_OPTION_WORD, FIELD(method), CM_SCHEDULE_LIST, 0, CM_SCHEDULE_SEARCH, {"list", "search", "rank", "sample"}, NULL, false,
   CM_SHAPES_BOTH,
   .about = "search unless given; list: by height, HEFT where processors differ; the baselines rank (upward rank alone) and sample (the "
   "best of random orders with a bias to height)"},
  {"schedules", CM_OPTION_LONG_COUNT, FIELD(schedules), 1, LARGE, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "how many schedules search and sample may make; unless given, up to 400000, fewer for large workloads: about a second"},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "same file, options and seed: same bytes out, unless the time limit cuts"},
  {"time_limit", CM_OPTION_POSITIVE, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "seconds; what is found by then is the result"},
};
const cm_options cm_schedule_option_table = {options_of_schedules, sizeof options_of_schedules / sizeof *options_of_schedules,
                                             "a schedule", NULL};

cm_status cm_schedule_request_read(const json_t *object, cm_schedule_request *request, cm_error *error)
{
  cm_schedule_request made;
  cm_options_default(&cm_schedule_option_table, &made);
  CM_TRY(cm_options_read(&cm_schedule_option_table, object, &made, error));
  *request = made;
  return CM_OK;
}

cm_status cm_schedule_file(const char *path, const cm_schedule_request *request, cm_run *run, cm_workload **workload,
                           const char **format, cm_schedule **schedule, cm_error *error)
{
  const cm_schedule_options options = {.method = (cm_schedule_method)request->method, .schedules = request->schedules};
  cm_workload *read;
  run->seed = request->seed;
  cm_run_phase(run, "read");
  CM_TRY(cm_workload_read(path, request->processors, run->memory, &read, format, error));
  cm_schedule *made = NULL;
  cm_run_phase(run, "schedule");
  run->deadline = request->time_limit > 0 ? cm_now() + request->time_limit : 0;
  cm_status status = cm_schedule_make(read, &options, run, &made, error);
  CM_THEN(status, cm_schedule_check(read, made, run->memory, error));
  if (status != CM_OK) {
    cm_schedule_free(made);
    cm_workload_free(read);
    return status;
  }
  *workload = read;
  *schedule = made;
  return CM_OK;
}
