#include "core/schedule/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/schedule/read_text.h"

/* ---- formats ---- */

/* Standard Task Graphs: tasks without the two dummies; then one row a task: number, time, predecessors. */
static cm_status read_stg(cm_text *text, uint32_t processors, cm_workload **made, cm_error *error)
{
  uint64_t tasks, number, count, before, *time = NULL;
  if (processors == 0 || processors > CM_PROCESSORS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "a standard task graph needs a number of processors: 1 to %d",
                   CM_PROCESSORS_MAX);
  CM_TRY(cm_text_number(text, "the number of tasks", CM_TASKS_MAX - 2, &tasks, error));
  uint32_t n = (uint32_t)tasks + 2;
  cm_dag *dag;
  cm_status status = CM_NEW(text->memory, time, n, error);
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    status = cm_text_number(text, "the number of a task", UINT32_MAX, &number, error);
    if (status == CM_OK && number != v) {
      (void)cm_fail(error, CM_BAD_NETWORK, "line %u: task %llu where task %u is expected: a row a task, from 0 to %u",
                    text->line, (unsigned long long)number, v, n - 1);
      status = cm_fail_at(error, "line %u", text->line);
    }
    if (status == CM_OK &&
        (status = cm_text_number(text, "a time", CM_TASK_TIME_MAX, &time[v], error)) == CM_OK)
      status = cm_text_number(text, "the number of predecessors", n, &count, error);
    for (uint64_t i = 0; status == CM_OK && i < count; i++)
      if ((status = cm_text_number(text, "a predecessor", UINT32_MAX, &before, error)) == CM_OK)
        status = cm_text_arc(text, n, before, v, 0, error);
  }
  if (status == CM_OK && (status = cm_text_end(text, error)) == CM_OK &&
      (status = cm_dag_new(text->memory, n, text->arcs, text->arc_count, &dag, error)) == CM_OK &&
      (status = cm_workload_project(text->memory, dag, 1, made, error)) == CM_OK) {
    memcpy((*made)->time, time, n * sizeof *time);
    cm_workload_set_processors(*made, processors);
  }
  cm_free(time);
  return status;
}

/* Heterogeneous graphs: tasks, processors, arcs; then a row of times a task, then from, to, transfer an arc. */
static cm_status read_heterogeneous(cm_text *text, cm_workload **made, cm_error *error)
{
  uint64_t tasks, processors, arcs, from, to, weight, *time;
  cm_dag *dag;
  CM_TRY(cm_text_number(text, "the number of tasks", CM_TASKS_MAX, &tasks, error));
  CM_TRY(cm_text_number(text, "the number of processors", CM_PROCESSORS_MAX, &processors, error));
  CM_TRY(cm_text_number(text, "the number of arcs", UINT32_MAX, &arcs, error));
  if (processors == 0)
    return cm_text_fail(text, "at least one processor", error);
  /* Each number takes two bytes of text at least: what cannot be there is not allocated. */
  size_t times = tasks * processors;
  if (times > strlen(text->at))
    return cm_fail(error, CM_BAD_NETWORK, "the file is too short for %llu tasks with %llu times each",
                   (unsigned long long)tasks, (unsigned long long)processors);
  cm_status status = CM_NEW(text->memory, time, times, error);
  for (size_t i = 0; i < times && status == CM_OK; i++)
    status = cm_text_number(text, "a time", CM_TASK_TIME_MAX, &time[i], error);
  for (uint64_t i = 0; i < arcs && status == CM_OK; i++)
    if ((status = cm_text_number(text, "the beginning of an arc", UINT32_MAX, &from, error)) == CM_OK &&
        (status = cm_text_number(text, "the end of an arc", UINT32_MAX, &to, error)) == CM_OK &&
        (status = cm_text_number(text, "the time of a transfer", CM_TASK_TIME_MAX, &weight, error)) == CM_OK)
      status = cm_text_arc(text, (uint32_t)tasks, from, to, weight, error);
  if (status == CM_OK && (status = cm_text_end(text, error)) == CM_OK &&
      (status = cm_dag_new(text->memory, (uint32_t)tasks, text->arcs, text->arc_count, &dag, error)) == CM_OK &&
      (status = cm_workload_processors(text->memory, dag, (uint32_t)processors, made, error)) == CM_OK)
    memcpy((*made)->time, time, times * sizeof *time);
  cm_free(time);
  return status;
}

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

cm_status cm_workload_parse(const char *bytes, uint32_t processors, cm_memory *memory, cm_workload **made,
                            const char **format, cm_error *error)
{
  cm_text text = {.at = bytes, .line = 1, .memory = memory};
  cm_workload *workload = NULL;
  const char *name;
  cm_status status;
  unsigned numbers = first_numbers(bytes);
  if (strstr(bytes, "PRECEDENCE RELATIONS") != NULL) {
    name = "psplib";
    status = cm_read_progen(&text, &workload, error);
  } else if (numbers == 1) {
    name = "stg";
    status = read_stg(&text, processors, &workload, error);
  } else if (numbers == 2) {
    name = "patterson";
    status = cm_read_patterson(&text, &workload, error);
  } else if (numbers == 3) {
    name = "heterogeneous";
    status = read_heterogeneous(&text, &workload, error);
  } else
    return cm_fail(error, CM_BAD_NETWORK,
                   "this is no workload that is known: a standard task graph begins with one number, a Patterson "
                   "project with two, a heterogeneous graph with three, a ProGen project has PRECEDENCE RELATIONS");
  cm_free(text.arcs);
  if (status == CM_OK && (status = cm_workload_check(workload, error)) != CM_OK)
    cm_workload_free(workload);
  if (status != CM_OK)
    return status;
  *made = workload;
  *format = name;
  return CM_OK;
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
