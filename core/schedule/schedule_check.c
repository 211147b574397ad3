/* The independent judge of schedules: it shares nothing with what makes them. */
#include <stdlib.h>

#include "base/order.h"
#include "core/schedule/schedule.h"

/* A task takes or gives back what it holds. */
typedef struct change {
  uint64_t time;
  uint32_t task;
  bool begins;
} change;

CM_ORDER(by_time, change, CM_RISING(time) CM_RISING(begins)) /* what ends gives back before others take */

static uint64_t duration(const cm_workload *w, const cm_schedule *s, uint32_t task)
{
  return w->processor_count == 0 ? w->time[task] : w->time[(size_t)task * w->processor_count + s->unit[task]];
}

static cm_status broken(cm_error *error, uint32_t task)
{
  return cm_fail_at(error, "task %u", task);
}

static cm_status check_tasks(const cm_workload *w, const cm_schedule *s, cm_error *error)
{
  uint64_t last = 0;
  for (uint32_t v = 0; v < s->task_count; v++) {
    if (s->unit_count > 0 && s->unit[v] >= s->unit_count) {
      (void)cm_fail(error, CM_LIMIT_BROKEN, "task %u runs on processor %u, but there are %u", v, s->unit[v], s->unit_count);
      return broken(error, v);
    }
    if (s->finish[v] - s->start[v] != duration(w, s, v) || s->finish[v] < s->start[v]) {
      (void)cm_fail(error, CM_LIMIT_BROKEN, "task %u runs from %llu to %llu, but takes %llu", v,
                    (unsigned long long)s->start[v], (unsigned long long)s->finish[v],
                    (unsigned long long)duration(w, s, v));
      return broken(error, v);
    }
    last = s->finish[v] > last ? s->finish[v] : last;
  }
  if (last != s->makespan)
    return cm_fail(error, CM_LIMIT_BROKEN, "the makespan is said to be %llu, but the last task ends at %llu",
                   (unsigned long long)s->makespan, (unsigned long long)last);
  if (s->makespan < s->lower_bound)
    return cm_fail(error, CM_LIMIT_BROKEN, "the makespan %llu is below the lower bound %llu",
                   (unsigned long long)s->makespan, (unsigned long long)s->lower_bound);
  return CM_OK;
}

static cm_status check_arcs(const cm_workload *w, const cm_schedule *s, cm_error *error)
{
  const cm_dag *dag = w->dag;
  for (uint32_t v = 0; v < s->task_count; v++)
    for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++) {
      uint32_t to = dag->out[i];
      bool moves = w->processor_count > 0 && s->unit[v] != s->unit[to];
      uint64_t ready = s->finish[v] + (moves ? dag->out_weight[i] : 0);
      if (s->start[to] < ready) {
        (void)cm_fail(error, CM_LIMIT_BROKEN, "task %u starts at %llu, before its input from task %u arrives at %llu", to,
                      (unsigned long long)s->start[to], v, (unsigned long long)ready);
        return broken(error, to);
      }
    }
  return CM_OK;
}

/* Goes over all changes and counts what is held: of each resource, or tasks on each processor. */
static cm_status sweep(const cm_workload *w, const cm_schedule *s, const change *changes, size_t count, uint64_t *held,
                       cm_error *error)
{
  for (size_t i = 0; i < count; i++) {
    uint32_t v = changes[i].task;
    for (uint32_t r = 0; r < w->resource_count; r++) {
      uint64_t amount = w->demand[(size_t)v * w->resource_count + r];
      held[r] = changes[i].begins ? held[r] + amount : held[r] - amount;
      if (held[r] > w->capacity[r]) {
        (void)cm_fail(error, CM_LIMIT_BROKEN, "at %llu tasks hold %llu of resource %u, of which there are %u",
                      (unsigned long long)changes[i].time, (unsigned long long)held[r], r, w->capacity[r]);
        return broken(error, v);
      }
    }
    if (s->unit_count == 0)
      continue;
    uint64_t *on = &held[w->resource_count + s->unit[v]];
    *on = changes[i].begins ? *on + 1 : *on - 1;
    if (*on > 1) {
      (void)cm_fail(error, CM_LIMIT_BROKEN, "at %llu two tasks run on processor %u",
                    (unsigned long long)changes[i].time, s->unit[v]);
      return broken(error, v);
    }
  }
  return CM_OK;
}

static cm_status check_capacity(const cm_workload *w, const cm_schedule *s, cm_memory *memory, cm_error *error)
{
  change *changes = NULL;
  uint64_t *held = NULL;
  size_t count = 0;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(changes, 2 * (size_t)s->task_count),
                                CM_ARRAY(held, (size_t)w->resource_count + s->unit_count));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < s->task_count; v++)
      if (s->finish[v] > s->start[v]) {
        changes[count++] = (change){s->start[v], v, true};
        changes[count++] = (change){s->finish[v], v, false};
      }
    qsort(changes, count, sizeof *changes, by_time);
    status = sweep(w, s, changes, count, held, error);
  }
  CM_FREE(changes, held);
  return status;
}

cm_status cm_schedule_check(const cm_workload *workload, const cm_schedule *schedule, cm_memory *memory, cm_error *error)
{
  if (schedule->task_count != workload->dag->node_count)
    return cm_fail(error, CM_LIMIT_BROKEN, "the schedule has %u tasks, the workload %u", schedule->task_count,
                   workload->dag->node_count);
  CM_TRY(check_tasks(workload, schedule, error));
  CM_TRY(check_arcs(workload, schedule, error));
  return check_capacity(workload, schedule, memory, error);
}
