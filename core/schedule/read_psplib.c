/* Resource-constrained projects as PSPLIB (Kolisch, Sprecher 1997) keeps them. */
#include <string.h>

#include "core/schedule/read_text.h"

/* What both formats come to before the graph can be built. */
typedef struct project {
  uint32_t tasks, resources;
  uint64_t *time;
  uint32_t *demand, *capacity;
} project;

static void drop(project *p)
{
  CM_FREE(p->time, p->demand, p->capacity);
}

static cm_status make_room(project *p, cm_text *text, cm_error *error)
{
  size_t numbers = (size_t)p->tasks * p->resources;
  /* Each number takes two bytes of text at least: what cannot be there is not allocated. */
  if (numbers > strlen(text->at))
    return cm_fail(error, CM_BAD_NETWORK, "the file is too short for %u tasks and %u resources", p->tasks,
                   p->resources);
  CM_TRY(CM_NEW_ALL(text->memory, error, CM_ARRAY(p->time, p->tasks), CM_ARRAY(p->demand, numbers)));
  return CM_NEW(text->memory, p->capacity, p->resources, error);
}

static cm_status read_amounts(cm_text *text, const char *what, uint32_t *amount, uint32_t count, cm_error *error)
{
  for (uint32_t r = 0; r < count; r++) {
    uint64_t number;
    CM_TRY(cm_text_number(text, what, UINT32_MAX, &number, error));
    amount[r] = (uint32_t)number;
  }
  return CM_OK;
}

static cm_status read_successors(cm_text *text, const project *p, uint32_t task, cm_error *error)
{
  uint64_t count, after;
  CM_TRY(cm_text_number(text, "the number of successors", p->tasks, &count, error));
  for (uint64_t i = 0; i < count; i++) {
    CM_TRY(cm_text_number(text, "a successor", UINT32_MAX, &after, error));
    if (after == 0)
      return cm_text_fail(text, "a successor (jobs count from 1)", error);
    CM_TRY(cm_text_arc(text, p->tasks, task, after - 1, 0, error));
  }
  return CM_OK;
}

static cm_status finish(project *p, cm_text *text, cm_workload **made, cm_error *error)
{
  cm_dag *dag;
  CM_TRY(cm_dag_new(text->memory, p->tasks, text->arcs, text->arc_count, &dag, error));
  CM_TRY(cm_workload_project(text->memory, dag, p->resources, made, error));
  memcpy((*made)->time, p->time, p->tasks * sizeof *p->time);
  memcpy((*made)->demand, p->demand, (size_t)p->tasks * p->resources * sizeof *p->demand);
  memcpy((*made)->capacity, p->capacity, p->resources * sizeof *p->capacity);
  return CM_OK;
}

static cm_status read_sizes(cm_text *text, project *p, cm_error *error)
{
  uint64_t tasks, resources;
  CM_TRY(cm_text_number(text, "the number of jobs", CM_TASKS_MAX, &tasks, error));
  CM_TRY(cm_text_number(text, "the number of resources", CM_RESOURCES_MAX, &resources, error));
  p->tasks = (uint32_t)tasks;
  p->resources = (uint32_t)resources;
  return CM_OK;
}

/* Jobs, resources, capacities; then a row a job: duration, demands, successors. */
cm_status cm_read_patterson(cm_text *text, cm_workload **made, cm_error *error)
{
  project p = {0};
  cm_status status = read_sizes(text, &p, error);
  CM_THEN(status, make_room(&p, text, error));
  CM_THEN(status, read_amounts(text, "a capacity", p.capacity, p.resources, error));
  for (uint32_t v = 0; v < p.tasks && status == CM_OK; v++)
    if ((status = cm_text_number(text, "a duration", CM_TASK_TIME_MAX, &p.time[v], error)) == CM_OK &&
        (status = read_amounts(text, "a demand", p.demand + (size_t)v * p.resources, p.resources, error)) == CM_OK)
      status = read_successors(text, &p, v, error);
  CM_THEN(status, cm_text_end(text, error));
  CM_THEN(status, finish(&p, text, made, error));
  drop(&p);
  return status;
}

/* Goes behind `label`, to the end of the line it stands on when `whole_line`. */
static cm_status seek(cm_text *text, const char *label, bool whole_line, cm_error *error)
{
  const char *found = strstr(text->at, label);
  if (found == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "a ProGen project without \"%s\" behind line %u", label, text->line);
  found += strlen(label);
  if (whole_line)
    found += strcspn(found, "\n");
  for (; text->at < found; text->at++)
    text->line += *text->at == '\n';
  return CM_OK;
}

static cm_status read_labelled(cm_text *text, const char *label, uint64_t maximum, uint32_t *number, cm_error *error)
{
  uint64_t value;
  CM_TRY(seek(text, label, false, error));
  text->at += strcspn(text->at, ":\n");
  text->at += *text->at == ':';
  CM_TRY(cm_text_number(text, label, maximum, &value, error));
  *number = (uint32_t)value;
  return CM_OK;
}

/* The number that begins a job's row. */
static cm_status read_job(cm_text *text, uint32_t task, cm_error *error)
{
  uint64_t number;
  CM_TRY(cm_text_number(text, "the number of a job", UINT32_MAX, &number, error));
  return number == task + 1 ? CM_OK : cm_text_fail(text, "the row of the next job in order (jobs count from 1)", error);
}

/* Modes must be one: choice among several is another problem. */
static cm_status read_one(cm_text *text, const char *what, cm_error *error)
{
  uint64_t number;
  CM_TRY(cm_text_number(text, what, UINT32_MAX, &number, error));
  return number == 1 ? CM_OK
                     : cm_fail(error, CM_BAD_NETWORK, "line %u: %s is %llu; only projects with one mode a job are read",
                               text->line, what, (unsigned long long)number);
}

cm_status cm_read_progen(cm_text *text, cm_workload **made, cm_error *error)
{
  project p = {0};
  cm_status status = read_labelled(text, "jobs (incl. supersource/sink )", CM_TASKS_MAX, &p.tasks, error);
  CM_THEN(status, read_labelled(text, "- renewable", CM_RESOURCES_MAX, &p.resources, error));
  CM_THEN(status, make_room(&p, text, error));
  CM_THEN(status, seek(text, "PRECEDENCE RELATIONS", true, error));
  CM_THEN(status, seek(text, "#successors", true, error));
  for (uint32_t v = 0; v < p.tasks && status == CM_OK; v++)
    if ((status = read_job(text, v, error)) == CM_OK &&
        (status = read_one(text, "the number of modes", error)) == CM_OK)
      status = read_successors(text, &p, v, error);
  CM_THEN(status, seek(text, "REQUESTS/DURATIONS", true, error));
  CM_THEN(status, seek(text, "----", true, error));
  for (uint32_t v = 0; v < p.tasks && status == CM_OK; v++)
    if ((status = read_job(text, v, error)) == CM_OK && (status = read_one(text, "the mode", error)) == CM_OK &&
        (status = cm_text_number(text, "a duration", CM_TASK_TIME_MAX, &p.time[v], error)) == CM_OK)
      status = read_amounts(text, "a demand", p.demand + (size_t)v * p.resources, p.resources, error);
  if (status == CM_OK && (status = seek(text, "RESOURCEAVAILABILITIES", true, error)) == CM_OK)
    status = seek(text, "\n", true, error); /* the line that names the resources */
  CM_THEN(status, read_amounts(text, "a capacity", p.capacity, p.resources, error));
  CM_THEN(status, finish(&p, text, made, error));
  drop(&p);
  return status;
}
