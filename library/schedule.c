/* Workloads to schedules. */
#include "base/json.h"
#include "core/schedule/request.h"
#include "library/internal.h"

struct coremap_timetable {
  cm_memory memory; /* that all stands in */
  char name[CM_PATH_MAX];
  const char *format;
  cm_workload *workload;
  cm_schedule *schedule;
};

int coremap_timetable_make(const char *path, const char *options, coremap_progress progress, void *user, coremap_timetable **timetable,
                           coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_schedule_request request;
  json_t *object = NULL;
  coremap_timetable *t;
  cm_status status = CM_HEAP(t, 1, "a schedule", &e);
  CM_THEN(status, cm_path(t->name, &e, "%s", path));
  CM_THEN(status, library_options(options, &object, &e));
  CM_THEN(status, cm_schedule_request_read(object, &request, &e));
  json_decref(object);
  if (status == CM_OK) {
    cm_memory_init(&t->memory, 0);
    library_begin(&r, progress, user);
    library_outlive(&r, &t->memory);
    status = cm_schedule_file(path, &request, r.run, &t->workload, &t->format, &t->schedule, &e);
    cm_run_finish(r.run);
  }
  LIBRARY_END(status, *timetable = t, coremap_timetable_free(t));
}

static cm_status write_summary(const coremap_timetable *t, FILE *stream, cm_error *error)
{
  const cm_schedule *s = t->schedule;
  json_t *made = json_pack("{s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:b, s:I}", "format", t->format, "tasks", (json_int_t)s->task_count, "arcs",
                           (json_int_t)t->workload->dag->arc_count, "resources", (json_int_t)t->workload->resource_count, "units",
                           s->unit_count > 0 ? json_integer(s->unit_count) : json_null(), "makespan", (json_int_t)s->makespan,
                           "lower_bound", (json_int_t)s->lower_bound, "optimal", s->makespan == s->lower_bound, "schedules",
                           (json_int_t)s->generated);
  cm_status status = cm_whole(made != NULL, "a summary", error);
  CM_THEN_IF(status, cm_json_dumpf(made, stream, JSON_COMPACT) != 0, cm_fail(error, CM_IO, "cannot write the summary"));
  json_decref(made);
  return status;
}

static cm_status write_made(const coremap_timetable *t, const char *what, FILE *stream, cm_error *error)
{
  if (strcmp(what, "schedule") == 0)
    return cm_schedule_write_json(t->schedule, stream, error);
  if (strcmp(what, "summary") == 0)
    return write_summary(t, stream, error);
  if (strcmp(what, "timeline") == 0)
    return cm_schedule_write_trace(t->schedule, t->name, NULL, stream, error);
  return cm_fail(error, CM_BAD_OPTION, "a schedule has no \"%.40s\": it has schedule, summary and timeline", what);
}

int coremap_timetable_write(const coremap_timetable *timetable, const char *what, const char *path, coremap_error **error)
{
  cm_error e;
  cm_file file;
  if (cm_file_create(&file, path, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  cm_status status = write_made(timetable, what, file.stream, &e);
  return library_tell(cm_file_end(&file, status, &e), &e, error);
}

int coremap_timetable_text(const coremap_timetable *timetable, const char *what, char **text, coremap_error **error)
{
  cm_error e;
  char *bytes = NULL;
  size_t size;
  FILE *stream = open_memstream(&bytes, &size);
  cm_status status = cm_whole(stream != NULL, "the schedule", &e);
  CM_THEN(status, write_made(timetable, what, stream, &e));
  if (stream != NULL && fclose(stream) != 0 && status == CM_OK)
    status = cm_whole(false, "the schedule", &e);
  LIBRARY_END(status, *text = bytes, free(bytes));
}

void coremap_timetable_free(coremap_timetable *timetable)
{
  if (timetable == NULL)
    return;
  cm_schedule_free(timetable->schedule);
  cm_workload_free(timetable->workload);
  free(timetable);
}

int coremap_schedule(const char *path, const char *options, coremap_progress progress, void *user, char **text,
                     coremap_error **error)
{
  coremap_timetable *made;
  if (coremap_timetable_make(path, options, progress, user, &made, error) != 0)
    return -1;
  const int result = coremap_timetable_text(made, "schedule", text, error);
  coremap_timetable_free(made);
  return result;
}
