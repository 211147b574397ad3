#include "daemon/executor.h"

#include <string.h>

static const cm_executor executors[] = {
  {"threads", false, cm_execute_in_thread},
  {"process", true, cm_execute_in_child},
};

const cm_executor *cm_executor_find(const char *name)
{
  for (size_t i = 0; i < sizeof executors / sizeof *executors; i++)
    if (strcmp(executors[i].name, name) == 0)
      return &executors[i];
  return NULL;
}

cm_status cm_execute_in_thread(const cm_execution *execution, cm_error *error)
{
  return cm_work_run(execution->folder, execution->watch, error);
}
