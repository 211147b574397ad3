#include "core/schedule/workload.h"

#define CM_SUM_MAX (UINT64_C(1) << 62)

static cm_status make(cm_memory *memory, cm_dag *dag, size_t times, uint32_t resources, cm_workload **made, cm_error *error)
{
  cm_workload *w = NULL;
  uint32_t n = dag->node_count;
  CM_TRY_OR(CM_NEW(memory, w, 1, error), cm_dag_free(dag));
  w->dag = dag;
  w->resource_count = resources;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(w->time, times), CM_ARRAY(w->capacity, resources),
                       CM_ARRAY(w->demand, (size_t)n * resources)), cm_workload_free(w));
  *made = w;
  return CM_OK;
}

cm_status cm_workload_project(cm_memory *memory, cm_dag *dag, uint32_t resources, cm_workload **made, cm_error *error)
{
  if (resources == 0 || resources > CM_RESOURCES_MAX) {
    cm_dag_free(dag);
    return cm_fail(error, CM_BAD_NETWORK, "a project has 1 to %d resources, not %u", CM_RESOURCES_MAX, resources);
  }
  return make(memory, dag, dag->node_count, resources, made, error);
}

cm_status cm_workload_processors(cm_memory *memory, cm_dag *dag, uint32_t processors, cm_workload **made, cm_error *error)
{
  if (processors == 0 || processors > CM_PROCESSORS_MAX) {
    cm_dag_free(dag);
    return cm_fail(error, CM_BAD_NETWORK, "there are 1 to %d processors, not %u", CM_PROCESSORS_MAX, processors);
  }
  CM_TRY(make(memory, dag, (size_t)dag->node_count * processors, 0, made, error));
  (*made)->processor_count = processors;
  return CM_OK;
}

void cm_workload_free(cm_workload *w)
{
  if (w == NULL)
    return;
  cm_dag_free(w->dag);
  CM_FREE(w->time, w->capacity, w->demand, w);
}

bool cm_workload_has_units(const cm_workload *w)
{
  if (w->resource_count != 1 || w->capacity[0] > CM_PROCESSORS_MAX)
    return false;
  for (uint32_t v = 0; v < w->dag->node_count; v++)
    if (w->demand[v] != 1)
      return false;
  return true;
}

static cm_status check_times(const cm_workload *w, uint32_t task, cm_error *error)
{
  uint32_t columns = w->processor_count > 0 ? w->processor_count : 1;
  for (uint32_t p = 0; p < columns; p++) {
    uint64_t time = w->time[(size_t)task * columns + p];
    if (time > CM_TASK_TIME_MAX) {
      (void)cm_fail(error, CM_BAD_NETWORK, "task %u takes %llu, more than the %llu that a task may take", task,
                    (unsigned long long)time, (unsigned long long)CM_TASK_TIME_MAX);
      return cm_fail_at(error, "task %u", task);
    }
  }
  return CM_OK;
}

static cm_status check_demands(const cm_workload *w, uint32_t task, cm_error *error)
{
  for (uint32_t r = 0; r < w->resource_count; r++) {
    uint32_t demand = w->demand[(size_t)task * w->resource_count + r];
    if (demand > w->capacity[r]) {
      (void)cm_fail(error, CM_BAD_NETWORK, "task %u needs %u of resource %u, of which there are %u", task, demand, r,
                    w->capacity[r]);
      return cm_fail_at(error, "task %u", task);
    }
  }
  return CM_OK;
}

/* Sums that schedules and bounds make: all times and transfers in a row on the slowest processors, and what all tasks
 * hold of one resource for all of their time. Ranks multiply the first by the number of processors. */
static bool sums_fit(const cm_workload *w)
{
  uint32_t columns = w->processor_count > 0 ? w->processor_count : 1;
  uint64_t total = 0, most_demand = 1;
  for (uint64_t i = 0; i < w->dag->arc_count; i++)
    if (__builtin_add_overflow(total, w->dag->out_weight[i], &total))
      return false;
  for (uint32_t v = 0; v < w->dag->node_count; v++) {
    uint64_t slowest = 0;
    for (uint32_t p = 0; p < columns; p++)
      slowest = w->time[(size_t)v * columns + p] > slowest ? w->time[(size_t)v * columns + p] : slowest;
    if (__builtin_add_overflow(total, slowest, &total))
      return false;
    for (uint32_t r = 0; r < w->resource_count; r++) {
      uint64_t demand = w->demand[(size_t)v * w->resource_count + r];
      most_demand = demand > most_demand ? demand : most_demand;
    }
  }
  return !__builtin_mul_overflow(total, most_demand > columns ? most_demand : columns, &total) && total < CM_SUM_MAX;
}

cm_status cm_workload_check(const cm_workload *w, cm_error *error)
{
  for (uint32_t v = 0; v < w->dag->node_count; v++)
    if (check_times(w, v, error) != CM_OK || check_demands(w, v, error) != CM_OK)
      return error->status;
  return sums_fit(w) ? CM_OK
                     : cm_fail(error, CM_TOO_LARGE,
                               "all times together, times the number of processors or the largest demand, come to "
                               "2^62 or more: count in larger units");
}
