#include "core/schedule/schedule.h"

#include "core/schedule/schedule_bound.h"
#include "core/schedule/solve.h"
#include "core/schedule/trace.h"

enum { PLACEMENTS = 4000000, SCHEDULES_MIN = 100, SCHEDULES_MAX = 400000 };

void cm_schedule_free(cm_schedule *schedule)
{
  if (schedule == NULL)
    return;
  CM_FREE(schedule->start, schedule->finish, schedule->unit, schedule);
}

static cm_status make_room(uint32_t tasks, cm_memory *memory, cm_schedule **made, cm_error *error)
{
  cm_schedule *s;
  CM_TRY(CM_NEW(memory, s, 1, error));
  s->task_count = tasks;
  s->makespan = UINT64_MAX;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(s->start, tasks), CM_ARRAY(s->finish, tasks), CM_ARRAY(s->unit, tasks)),
            cm_schedule_free(s));
  *made = s;
  return CM_OK;
}

/* Gives the tasks of identical processors one each: by start, always the free processor with the lowest number. */
static cm_status seat_on_units(const cm_workload *w, cm_memory *memory, cm_schedule *s, cm_error *error)
{
  cm_span *span;
  uint32_t count = 0, used;
  CM_TRY(CM_NEW(memory, span, s->task_count, error));
  for (uint32_t v = 0; v < s->task_count; v++)
    if (w->time[v] > 0)
      span[count++] = (cm_span){.start = s->start[v], .finish = s->finish[v]};
  cm_status status = cm_spans_spread(span, count, &used, memory, error);
  for (uint32_t v = s->task_count; status == CM_OK && v-- > 0;)
    s->unit[v] = w->time[v] > 0 ? span[--count].unit : 0;
  s->unit_count = w->capacity[0];
  cm_free(span);
  return status;
}

static cm_status finish_project(const cm_workload *w, cm_memory *memory, cm_schedule *s, cm_error *error)
{
  for (uint32_t v = 0; v < s->task_count; v++)
    s->finish[v] = s->start[v] + w->time[v];
  if (cm_workload_has_units(w))
    return seat_on_units(w, memory, s, error);
  for (uint32_t v = 0; v < s->task_count; v++)
    s->unit[v] = CM_NO_UNIT;
  return CM_OK;
}

static void finish_processors(const cm_workload *w, cm_schedule *s)
{
  for (uint32_t v = 0; v < s->task_count; v++)
    s->finish[v] = s->start[v] + w->time[(size_t)v * w->processor_count + s->unit[v]];
  s->unit_count = w->processor_count;
}

/* So that small workloads are searched long and large ones not for ever. */
static uint64_t schedules_for(uint32_t tasks)
{
  uint64_t fair = PLACEMENTS / (tasks > 0 ? tasks : 1);
  return fair < SCHEDULES_MIN ? SCHEDULES_MIN : fair > SCHEDULES_MAX ? SCHEDULES_MAX : fair;
}

cm_status cm_schedule_make(const cm_workload *workload, const cm_schedule_options *options, cm_run *run,
                           cm_schedule **made, cm_error *error)
{
  cm_schedule_options resolved = *options;
  cm_solving s = {.workload = workload, .options = &resolved, .run = run};
  bool project = workload->processor_count == 0;
  if (options->schedules == 0)
    resolved.schedules = schedules_for(workload->dag->node_count);
  CM_TRY(make_room(workload->dag->node_count, run->memory, &s.best, error));
  cm_status status = cm_schedule_bound(workload, run->memory, &s.best->lower_bound, error);
  if (status == CM_OK)
    status = project ? cm_solve_project(&s, error) : cm_solve_processors(&s, error);
  if (status == CM_OK && project)
    status = finish_project(workload, run->memory, s.best, error);
  else if (status == CM_OK)
    finish_processors(workload, s.best);
  CM_END(status, *made = s.best, cm_schedule_free(s.best));
}
