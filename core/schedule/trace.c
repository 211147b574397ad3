#include "core/schedule/trace.h"
#include "core/schedule/request.h"

#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "base/heap.h"

/* Microseconds with what is left in thousandths. */
static void put_time(uint64_t time, uint64_t units_per_us, FILE *stream)
{
  uint64_t thousandths = (uint64_t)((unsigned __int128)(time % units_per_us) * 1000 / units_per_us);
  fprintf(stream, "%" PRIu64, time / units_per_us);
  if (thousandths > 0)
    fprintf(stream, ".%03" PRIu64, thousandths);
}

static cm_status written(FILE *stream, const char *what, cm_error *error)
{
  return fflush(stream) == 0 && !ferror(stream) ? CM_OK : cm_fail_errno(error, errno, "cannot write", what);
}

static void put_unit(const cm_timeline *t, uint32_t unit, FILE *stream)
{
  char name[32];
  (void)snprintf(name, sizeof name, "unit %" PRIu32, unit);
  fprintf(stream, "%s\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":\"thread_name\",\"args\":{\"name\":",
          unit == 0 ? "" : ",", unit);
  cm_json_put_string(t->unit_name != NULL ? t->unit_name[unit] : name, stream);
  fputs("}}", stream);
}

static void put_span(const cm_timeline *t, size_t number, FILE *stream)
{
  const cm_span *span = &t->span[number];
  char name[32];
  (void)snprintf(name, sizeof name, "task %zu", number);
  fputs(t->unit_count + number == 0 ? "\n{\"ph\":\"X\",\"name\":" : ",\n{\"ph\":\"X\",\"name\":", stream);
  cm_json_put_string(span->name != NULL ? span->name : name, stream);
  fputs(",\"cat\":", stream);
  cm_json_put_string(span->kind != NULL ? span->kind : "task", stream);
  fprintf(stream, ",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":", span->unit);
  put_time(span->start, t->units_per_us, stream);
  fputs(",\"dur\":", stream);
  put_time(span->finish - span->start, t->units_per_us, stream);
  if (span->critical != NULL) {
    fputs(",\"args\":{\"critical\":", stream);
    cm_json_put_string(span->critical, stream);
    putc('}', stream);
  }
  putc('}', stream);
}

static void put_counter(const cm_timeline *t, const cm_counter *counter, FILE *stream)
{
  for (size_t i = 0; i < counter->point_count; i++) {
    fputs(t->unit_count + t->span_count + i == 0 ? "\n{\"ph\":\"C\",\"name\":" : ",\n{\"ph\":\"C\",\"name\":", stream);
    cm_json_put_string(counter->name, stream);
    fputs(",\"pid\":1,\"ts\":", stream);
    put_time(counter->point[i].time, t->units_per_us, stream);
    fputs(",\"args\":{", stream);
    cm_json_put_string(counter->unit, stream);
    fprintf(stream, ":%" PRIu64 "}}", counter->point[i].value);
  }
}

cm_status cm_trace_write(const cm_timeline *timeline, FILE *stream, cm_error *error)
{
  fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"name\":", stream);
  cm_json_put_string(timeline->name, stream);
  if (timeline->counter != NULL) {
    fputs(",\"limits\":{", stream);
    cm_json_put_string(timeline->counter->name, stream);
    fprintf(stream, ":%" PRIu64 "}", timeline->counter->limit);
  }
  fputs("},\"traceEvents\":[", stream);
  for (uint32_t u = 0; u < timeline->unit_count; u++)
    put_unit(timeline, u, stream);
  for (size_t i = 0; i < timeline->span_count; i++)
    put_span(timeline, i, stream);
  if (timeline->counter != NULL)
    put_counter(timeline, timeline->counter, stream);
  fputs("\n]}\n", stream);
  return written(stream, "the trace", error);
}

cm_status cm_spans_spread(cm_span *span, size_t count, uint32_t *lanes, cm_memory *memory, cm_error *error)
{
  cm_heap starts = {0}, running = {0}, idle = {0};
  uint32_t used = 0;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(starts.item, count), CM_ARRAY(running.item, count), CM_ARRAY(idle.item, count));
  if (status == CM_OK) {
    for (size_t i = 0; i < count; i++)
      cm_heap_push(&starts, (cm_heap_item){span[i].start, (uint32_t)i});
    while (starts.count > 0) {
      cm_heap_item next = cm_heap_pop(&starts);
      while (running.count > 0 && running.item[0].key <= next.key)
        cm_heap_push(&idle, (cm_heap_item){0, cm_heap_pop(&running).number});
      uint32_t lane = idle.count > 0 ? cm_heap_pop(&idle).number : used++;
      span[next.number].unit = lane;
      cm_heap_push(&running, (cm_heap_item){span[next.number].finish, lane});
    }
    *lanes = used;
  }
  CM_FREE(starts.item, running.item, idle.item);
  return status;
}

cm_status cm_schedule_write_trace(const cm_schedule *schedule, const char *name, cm_memory *memory, FILE *stream, cm_error *error)
{
  enum { NAME_MAX = 20 };
  cm_timeline t = {.name = name, .unit_count = schedule->unit_count, .units_per_us = 1};
  cm_span *span = NULL;
  char(*names)[NAME_MAX] = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(span, schedule->task_count), CM_ARRAY(names, schedule->task_count));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < schedule->task_count; v++)
      if (schedule->finish[v] > schedule->start[v]) {
        (void)snprintf(names[t.span_count], NAME_MAX, "task %" PRIu32, v);
        span[t.span_count] = (cm_span){schedule->unit[v], schedule->start[v], schedule->finish[v],
                                       names[t.span_count], NULL, NULL};
        t.span_count++;
      }
    if (schedule->unit_count == 0)
      status = cm_spans_spread(span, t.span_count, &t.unit_count, memory, error);
    t.span = span;
    CM_THEN(status, cm_trace_write(&t, stream, error));
  }
  CM_FREE(span, names);
  return status;
}

cm_status cm_schedule_write_json(const cm_schedule *s, FILE *stream, cm_error *error)
{
  fprintf(stream,
          "{\"tasks\": %" PRIu32 ", \"makespan\": %" PRIu64 ", \"lower_bound\": %" PRIu64
          ", \"optimal\": %s, \"schedules\": %" PRIu64 ", \"units\": ",
          s->task_count, s->makespan, s->lower_bound, s->makespan == s->lower_bound ? "true" : "null", s->generated);
  if (s->unit_count > 0)
    fprintf(stream, "%" PRIu32 ", \"schedule\": [", s->unit_count);
  else
    fputs("null, \"schedule\": [", stream);
  for (uint32_t v = 0; v < s->task_count; v++) {
    fprintf(stream, "%s\n[%" PRIu32 ", %" PRIu64 ", %" PRIu64, v == 0 ? "" : ",", v, s->start[v], s->finish[v]);
    if (s->unit_count > 0)
      fprintf(stream, ", %" PRIu32, s->unit[v]);
    putc(']', stream);
  }
  fputs("\n]}\n", stream);
  return written(stream, "the schedule", error);
}
