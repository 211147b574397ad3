#include "core/schedule/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/schedule/read_text.h"

/* ---- formats ---- */

/* Standard Task Graphs: tasks without the two dummies; then one row a task: number, time, predecessors. */
static cm_status read_stg(cm_text *text, cm_error *error)
{
  uint64_t tasks, number, count, before;
  if (text->asked == 0 || text->asked > CM_PROCESSORS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "a standard task graph needs a number of processors: 1 to %d", CM_PROCESSORS_MAX);
  CM_TRY(cm_text_number(text, "the number of tasks", CM_TASKS_MAX - 2, &tasks, error));
  CM_TRY(cm_text_room(text, tasks + 2, 0, 1, error));
  text->capacity[0] = text->asked;
  for (uint32_t v = 0; v < text->tasks; v++) {
    CM_TRY(cm_text_number(text, "the number of a task", UINT32_MAX, &number, error));
    if (number != v) {
      (void)cm_fail(error, CM_BAD_NETWORK, "line %u: task %llu where task %u is expected: a row a task, from 0 to %u", text->line,
                    (unsigned long long)number, v, text->tasks - 1);
      return cm_fail_at(error, "line %u", text->line);
    }
    CM_TRY(cm_text_number(text, "a time", CM_TASK_TIME_MAX, &text->time[v], error));
    CM_TRY(cm_text_number(text, "the number of predecessors", text->tasks, &count, error));
    for (uint64_t i = 0; i < count; i++) {
      CM_TRY(cm_text_number(text, "a predecessor", UINT32_MAX, &before, error));
      CM_TRY(cm_text_arc(text, before, v, 0, error));
    }
    text->demand[v] = 1;
  }
  return cm_text_end(text, error);
}

/* Heterogeneous graphs: tasks, processors, arcs; then a row of times a task, then from, to, transfer an arc. */
static cm_status read_heterogeneous(cm_text *text, cm_error *error)
{
  uint64_t tasks, processors, arcs, from, to, weight;
  CM_TRY(cm_text_number(text, "the number of tasks", CM_TASKS_MAX, &tasks, error));
  CM_TRY(cm_text_number(text, "the number of processors", CM_PROCESSORS_MAX, &processors, error));
  CM_TRY(cm_text_number(text, "the number of arcs", UINT32_MAX, &arcs, error));
  if (processors == 0)
    return cm_text_fail(text, "at least one processor", error);
  CM_TRY(cm_text_room(text, tasks, processors, 0, error));
  for (size_t i = 0; i < tasks * processors; i++)
    CM_TRY(cm_text_number(text, "a time", CM_TASK_TIME_MAX, &text->time[i], error));
  for (uint64_t i = 0; i < arcs; i++) {
    CM_TRY(cm_text_number(text, "the beginning of an arc", UINT32_MAX, &from, error));
    CM_TRY(cm_text_number(text, "the end of an arc", UINT32_MAX, &to, error));
    CM_TRY(cm_text_number(text, "the time of a transfer", CM_TASK_TIME_MAX, &weight, error));
    CM_TRY(cm_text_arc(text, from, to, weight, error));
  }
  return cm_text_end(text, error);
}

/* By the numbers on the first line. */
static const struct {
  const char *format;
  cm_status (*read)(cm_text *text, cm_error *error);
} formats[] = {{NULL, NULL}, {"stg", read_stg}, {"patterson", cm_read_patterson}, {"heterogeneous", read_heterogeneous}, {"psplib", cm_read_progen}};

enum { PROGEN = 4 };

/* Numbers on the first line that has any. */
static unsigned first_numbers(const char *text)
{
  cm_text first = {.at = text, .line = 1};
  unsigned count = 0;
  cm_text_skip_blanks(&first);
  while (*first.at >= '0' && *first.at <= '9') {
    count++;
    first.at += strspn(first.at, "0123456789");
    first.at += strspn(first.at, " \t");
  }
  return *first.at == '\0' || strchr("\r\n#", *first.at) != NULL ? count : 0;
}

static cm_status make(const cm_text *text, cm_workload **made, cm_error *error)
{
  const size_t tasks = text->tasks;
  cm_dag *dag;
  cm_workload *w = NULL;
  CM_TRY(cm_dag_new(text->memory, text->tasks, text->arcs, text->arc_count, &dag, error));
  if (text->processors > 0)
    CM_TRY(cm_workload_processors(text->memory, dag, text->processors, &w, error));
  else
    CM_TRY(cm_workload_project(text->memory, dag, text->resources, &w, error));
  memcpy(w->time, text->time, tasks * (text->processors > 0 ? text->processors : 1) * sizeof *w->time);
  memcpy(w->demand, text->demand, tasks * text->resources * sizeof *w->demand);
  memcpy(w->capacity, text->capacity, text->resources * sizeof *w->capacity);
  CM_END(cm_workload_check(w, error), *made = w, cm_workload_free(w));
}

cm_status cm_workload_parse(const char *bytes, uint32_t processors, cm_memory *memory, cm_workload **made, const char **format, cm_error *error)
{
  cm_text text = {.at = bytes, .line = 1, .memory = memory, .asked = processors};
  const unsigned numbers = first_numbers(bytes), kind = strstr(bytes, "PRECEDENCE RELATIONS") != NULL ? PROGEN : numbers < PROGEN ? numbers : 0;
  if (kind == 0)
    return cm_fail(error, CM_BAD_NETWORK,
                   "this is no workload that is known: a standard task graph begins with one number, a Patterson "
                   "project with two, a heterogeneous graph with three, a ProGen project has PRECEDENCE RELATIONS");
  cm_status status = formats[kind].read(&text, error);
  CM_THEN(status, make(&text, made, error));
  CM_FREE(text.arcs, text.time, text.demand, text.capacity);
  if (status == CM_OK)
    *format = formats[kind].format;
  return status;
}

cm_status cm_workload_read(const char *path, uint32_t processors, cm_memory *memory, cm_workload **made,
                           const char **format, cm_error *error)
{
  char *text;
  size_t size;
  CM_TRY(cm_file_read(path, CM_WORKLOAD_BYTES_MAX, &text, &size, error));
  cm_status status = cm_workload_parse(text, processors, memory, made, format, error);
  free(text);
  return status;
}
