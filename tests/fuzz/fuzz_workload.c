/* Scheduling problems: whatever is read is scheduled, and the judge finds nothing wrong. */
#include <stdlib.h>
#include <string.h>

#include "core/schedule/read.h"
#include "core/schedule/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
  if (!truth)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error;
  cm_memory memory;
  cm_run run;
  cm_workload *workload;
  cm_schedule *schedule;
  const char *format;
  char *text = malloc(size + 1);
  must(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  cm_memory_init(&memory, UINT64_C(1) << 28);
  cm_run_init(&run);
  run.memory = &memory;
  cm_status status = cm_workload_parse(text, 3, &memory, &workload, &format, &error);
  free(text);
  if (status != CM_OK) {
    must(error.detail[0] != '\0' && atomic_load(&memory.used_bytes) == 0);
    return 0;
  }
  for (int method = CM_SCHEDULE_LIST; method <= CM_SCHEDULE_SAMPLE; method++) {
    cm_schedule_options options = {.method = (cm_schedule_method)method, .schedules = 60};
    status = cm_schedule_make(workload, &options, &run, &schedule, &error);
    must(status == CM_OK || status == CM_MEMORY_LIMIT);
    if (status == CM_OK)
      must(cm_schedule_check(workload, schedule, &memory, &error) == CM_OK);
    if (status == CM_OK)
      cm_schedule_free(schedule);
  }
  cm_workload_free(workload);
  must(atomic_load(&memory.used_bytes) == 0);
  return 0;
}
